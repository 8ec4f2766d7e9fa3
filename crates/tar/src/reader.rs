use crate::assemble::stored_name;
use crate::content::Content;
use crate::error::{behind_zeros, foreign, Error, Malformed, Result, Unusable, Warning};
use crate::header::{types, Block, Header, BLOCK, SIZE};
use crate::input::Input;
use crate::numbers;
use crate::pax::Extended;
use crate::{Member, ReadOptions};
use bstr::BString;
use std::io::{self, Read, Seek};

/// Maximum number of warnings kept; further ones are only counted.
const WARNINGS: usize = 1000;

/// An archive that is read from start to end, member by member. Memory use is bounded by
/// [`Limits`](crate::Limits). The input is never sought, except with [`Archive::seekable`].
///
/// Supported are v7, ustar, pax and the extensions of GNU tar: long names, base-256 numbers, sparse
/// files in all four encodings. For compressed input, use [`decompress`](crate::decompress).
pub struct Archive<R> {
    pub(crate) input: Input<R>,
    pub(crate) options: ReadOptions,
    global: Extended,
    pub(crate) content: Content,
    warnings: Vec<Warning>,
    more_warnings: u64,
    is_over: bool,
}

/// The headers before that of a member.
pub(crate) struct Prelude {
    pub(crate) extended: Extended,
    pub(crate) long_name: Option<Vec<u8>>,
    pub(crate) long_link: Option<Vec<u8>>,
    is_empty: bool,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads an archive from the current position of the reader, and seeks over contents that are
    /// not read. Fails if the reader cannot seek.
    pub fn seekable(reader: R, options: ReadOptions) -> Result<Archive<R>> {
        let input = Input::seekable(reader);
        let input = input.map_err(|source| Error::Read {
            position: 0,
            source,
        })?;
        Ok(Archive::with_input(input, options))
    }
}

impl<R: Read> Archive<R> {
    /// Reads an archive. The input need not be buffered.
    pub fn new(reader: R, options: ReadOptions) -> Archive<R> {
        Archive::with_input(Input::new(reader), options)
    }

    fn with_input(input: Input<R>, options: ReadOptions) -> Archive<R> {
        Archive {
            input,
            options,
            global: Extended::default(),
            content: Content::empty(),
            warnings: Vec::new(),
            more_warnings: 0,
            is_over: false,
        }
    }

    /// Moves to the next member, skipping the unread content of the current one. Returns `None` at
    /// the end of the archive, and after an error.
    ///
    /// Fails if the input fails or ends too early, if a header cannot be interpreted, and if a
    /// member is [unusable](Unusable), unless such members are skipped.
    pub fn next_member(&mut self) -> Result<Option<Member>> {
        if self.is_over {
            return Ok(None);
        }
        let found = self.find_member();
        self.is_over = !matches!(found, Ok(Some(_)));
        found
    }

    /// Reads some of the content of the current member, holes as zeros. Returns 0 at its end.
    pub fn read_content(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.content.read(&mut self.input, buffer);
        self.note_failure(read)
    }

    /// Reads some of the content of the current member that is not in a hole. Returns the offset in
    /// the file and the number of bytes; `None` at its end.
    pub fn read_data(&mut self, buffer: &mut [u8]) -> Result<Option<(u64, usize)>> {
        let read = self.content.read_data(&mut self.input, buffer);
        self.note_failure(read)
    }

    /// The byte offset in the archive of the next data of the current member's content. Data
    /// outside of holes is stored contiguously.
    pub fn content_position(&self) -> u64 {
        self.input.position()
    }

    /// Returns and removes the warnings kept so far, and the number of further ones.
    pub fn take_warnings(&mut self) -> (Vec<Warning>, u64) {
        let more = std::mem::take(&mut self.more_warnings);
        (std::mem::take(&mut self.warnings), more)
    }

    /// Reads the input to its end, so that a program that writes to a pipe does not fail and that
    /// checksums at the end of compressed data are verified. Returns the reader.
    pub fn finish(mut self) -> Result<R> {
        self.input.drain()?;
        Ok(self.input.into_inner())
    }

    fn note_failure<T>(&mut self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.is_over = true;
            self.content = Content::empty();
        }
        result
    }

    fn find_member(&mut self) -> Result<Option<Member>> {
        loop {
            self.content.finish(&mut self.input)?;
            let mut prelude = self.prelude();
            let Some(header) = self.find_header(&mut prelude)? else {
                return Ok(None);
            };
            match self.member(&header, prelude)? {
                Ok(member) => return Ok(Some(member)),
                Err((path, reason)) if self.options.skip_unusable => {
                    self.warn(Warning::Skipped { path, reason });
                }
                Err((path, reason)) => return Err(Error::Unusable { path, reason }),
            }
        }
    }

    fn prelude(&self) -> Prelude {
        Prelude {
            extended: self.global.clone(),
            long_name: None,
            long_link: None,
            is_empty: true,
        }
    }

    /// Finds the header of the next member. Collects the headers before it in `prelude`.
    fn find_header(&mut self, prelude: &mut Prelude) -> Result<Option<Header>> {
        loop {
            let position = self.input.position();
            let Some(block) = self.next_block()? else {
                return if prelude.is_empty {
                    Ok(None)
                } else {
                    Err(malformed(position, Malformed::Dangling))
                };
            };
            let header = match Header::new(block, position) {
                Some(header) => header,
                None if position == 0 => return Err(Error::NotTar(foreign(&block))),
                None => return Err(Error::Checksum { position }),
            };
            if !self.precedes(&header, prelude)? {
                return Ok(Some(header));
            }
        }
    }

    /// The next block that is not all zeros; `None` at the end of the archive.
    fn next_block(&mut self) -> Result<Option<Block>> {
        let is_zero = |block: &Block| block.iter().all(|byte| *byte == 0);
        loop {
            let position = self.input.position();
            let Some(block) = self.input.block()? else {
                if !self.options.ignore_zeros {
                    self.warn(Warning::NoEndMark(position));
                }
                return Ok(None);
            };
            if !is_zero(&block) {
                return Ok(Some(block));
            }
            if self.options.ignore_zeros {
                continue;
            }
            match self.input.block()? {
                Some(block) if is_zero(&block) => {}
                _ => self.warn(Warning::LoneZeroBlock(position)),
            }
            if position == 0 {
                self.refuse_what_follows()?;
            }
            return Ok(None);
        }
    }

    /// Refuses an input that begins with the end of an archive and goes on: it is something else, such as
    /// an image of a file system, or an archive whose members would be lost.
    fn refuse_what_follows(&mut self) -> Result<()> {
        match self.input.first_that_is_not_zero()? {
            Some((position, start)) => Err(Error::NotTar(Some(behind_zeros(position, &start)))),
            None => Ok(()),
        }
    }

    /// Processes a header that precedes a member. Returns false if this is the header of a member.
    fn precedes(&mut self, header: &Header, prelude: &mut Prelude) -> Result<bool> {
        let limits = self.options.limits;
        let fail = |reason| malformed(header.position, reason);
        match header.kind() {
            types::EXTENDED | types::SOLARIS_EXTENDED => {
                let payload = self.payload(header, "an extended header", limits.pax_bytes)?;
                let extended = &mut prelude.extended;
                let applied = extended.apply(&payload, limits.sparse_segments);
                applied.map_err(fail)?;
                self.check_weight(&prelude.extended).map_err(fail)?;
                prelude.is_empty = false;
            }
            types::GLOBAL => {
                let payload = self.payload(header, "a global header", limits.pax_bytes)?;
                let applied = self.global.apply(&payload, limits.sparse_segments);
                applied.map_err(fail)?;
                // A sparse map belongs to a single file.
                self.global.sparse = Default::default();
                self.check_weight(&self.global).map_err(fail)?;
                prelude.extended = self.global.clone();
            }
            types::GNU_LONG_NAME => {
                let name = self.payload(header, "a long name", limits.name_bytes)?;
                prelude.long_name = Some(crate::header::text(&name).to_vec());
                prelude.is_empty = false;
            }
            types::GNU_LONG_LINK => {
                let name = self.payload(header, "a long link target", limits.name_bytes)?;
                prelude.long_link = Some(crate::header::text(&name).to_vec());
                prelude.is_empty = false;
            }
            types::GNU_VOLUME_LABEL => {
                let size = numbers::parse_unsigned(header.field(SIZE));
                let size = prelude.extended.size.or(size);
                let size = size.ok_or(fail(Malformed::Number("size")))?;
                let padded = size.checked_next_multiple_of(BLOCK as u64);
                let padded = padded.ok_or(fail(Malformed::Number("size")))?;
                self.input.skip(padded, "a volume label")?;
                self.warn(Warning::VolumeLabel(stored_name(header, prelude).into()));
                // It is a member of its own: the headers before it are about it.
                *prelude = self.prelude();
            }
            types::GNU_CONTINUATION => return Err(fail(Malformed::MultiVolume)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn check_weight(&self, extended: &Extended) -> std::result::Result<(), Malformed> {
        let limits = self.options.limits;
        let names = [&extended.path, &extended.link_path, &extended.sparse.name];
        let longest = names.into_iter().flatten().map(Vec::len).max();
        let too_large = |part, bytes: usize, limit: usize| Malformed::TooLarge {
            part,
            bytes: bytes as u64,
            limit: limit as u64,
        };
        match (extended.weight(), longest.unwrap_or(0)) {
            (weight, _) if weight > limits.pax_bytes => {
                Err(too_large("extended headers", weight, limits.pax_bytes))
            }
            (_, longest) if longest > limits.name_bytes => {
                Err(too_large("a long name", longest, limits.name_bytes))
            }
            _ => Ok(()),
        }
    }

    /// Reads the data after a header that describes the next member.
    fn payload(&mut self, header: &Header, part: &'static str, limit: usize) -> Result<Vec<u8>> {
        let fail = |reason| malformed(header.position, reason);
        let size = numbers::parse_unsigned(header.field(SIZE));
        let bytes = size.ok_or(fail(Malformed::Number("size")))?;
        match usize::try_from(bytes) {
            Ok(len) if len <= limit => self.input.payload(len, part),
            _ => Err(fail(Malformed::TooLarge {
                part,
                bytes,
                limit: limit as u64,
            })),
        }
    }

    fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < WARNINGS {
            self.warnings.push(warning);
        } else {
            self.more_warnings += 1;
        }
    }
}

/// Reads the content of the current member, holes as zeros.
impl<R: Read> Read for Archive<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_content(buffer).map_err(|error| match error {
            Error::Read { source, .. } => source,
            Error::Truncated { .. } => io::Error::new(io::ErrorKind::UnexpectedEof, error),
            _ => io::Error::other(error),
        })
    }
}

pub(crate) fn malformed(position: u64, reason: Malformed) -> Error {
    Error::Malformed { position, reason }
}

/// A refused member: its name in the archive, and the reason.
pub(crate) type Refusal = (BString, Unusable);
