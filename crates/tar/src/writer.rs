use crate::encode::encode;
use crate::error::{Error, Result};
use crate::header::{padding, BLOCK};
use crate::sparse::SparseMap;
use crate::Member;
use std::io::{self, Read, Write};

/// How an archive is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Leaves out holes of sparse files, in encoding 1.0 of GNU tar. Otherwise they are written as
    /// zeros.
    pub sparse: bool,
    /// Pads the archive with zeros to a multiple of this, in bytes; 0 and 1 mean no padding.
    pub record_bytes: u64,
    /// Writes the names of members with a leading `./`.
    pub dot_names: bool,
}

impl Default for WriteOptions {
    /// Holes are left out; archives are padded to 10,240 bytes as by GNU tar.
    fn default() -> Self {
        WriteOptions {
            sparse: true,
            record_bytes: 20 * BLOCK as u64,
            dot_names: false,
        }
    }
}

/// Writes an archive member by member: ustar, with extended headers of pax where ustar is not
/// sufficient. The same members give the same bytes at any place and time: the archive has no user
/// names, and no times except those of the members.
pub struct Builder<W> {
    writer: W,
    options: WriteOptions,
    position: u64,
    open: Option<Open>,
}

/// A member whose content is being written.
struct Open {
    path: Vec<u8>,
    /// The segments to write data to. If the file has no holes, or they are left out, it is a
    /// single one.
    map: SparseMap,
    segment: usize,
    /// Offset in the file up to which it is written.
    position: u64,
    /// Number of content bytes announced; `given` is the number received.
    expected: u64,
    given: u64,
}

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

impl<W: Write> Builder<W> {
    /// Starts an archive. Contents are written in large pieces and headers in small ones, so the
    /// writer should be buffered.
    pub fn new(writer: W, options: WriteOptions) -> Builder<W> {
        Builder {
            writer,
            options,
            position: 0,
            open: None,
        }
    }

    /// Writes a member with its content: `metadata.size_bytes` bytes, or with a sparse map, the
    /// data of its segments, one after the other. Nothing is read for members without content.
    ///
    /// Fails like [`begin`](Builder::begin), and if the content is too short or cannot be read.
    pub fn append(&mut self, member: &Member, content: &mut dyn Read) -> Result<()> {
        self.begin(member)?;
        let mut left = self.open.as_ref().map_or(0, |open| open.expected);
        let mut buffer = vec![0; left.min(ZEROS.len() as u64) as usize];
        while left > 0 {
            let wanted = left.min(buffer.len() as u64) as usize;
            match content.read(&mut buffer[..wanted]) {
                Ok(0) => break,
                Ok(len) => {
                    self.write(&buffer[..len])?;
                    left -= len as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    let path = member.path.clone().into();
                    return Err(Error::Content { path, source });
                }
            }
        }
        self.end()
    }

    /// Writes the header of a member. Its content must then be passed to [`write`](Builder::write).
    ///
    /// Fails if an archive cannot store the member; then nothing was written and the archive can be
    /// continued. Also fails if the member before it is incomplete, or if writing fails.
    pub fn begin(&mut self, member: &Member) -> Result<()> {
        self.end()?;
        let size = if member.is_file() {
            member.metadata.size_bytes
        } else {
            0
        };
        let whole = SparseMap::solid(size);
        let map = match &member.sparse {
            Some(map) if member.is_file() => map,
            _ => &whole,
        };
        let expected = map.stored_bytes();
        let has_holes = expected < map.size_bytes();
        let without_holes = (has_holes && self.options.sparse).then_some(map);
        let written = match without_holes {
            Some(_) => SparseMap::solid(expected),
            None => map.clone(),
        };
        let dots = self.options.dot_names;
        let header = encode(member, without_holes, written.size_bytes(), dots);
        let header = header.map_err(|reason| Error::Unusable {
            path: member.path.clone().into(),
            reason,
        })?;
        self.put(&header)?;
        self.open = Some(Open {
            path: member.path.clone(),
            map: written,
            segment: 0,
            position: 0,
            expected,
            given: 0,
        });
        Ok(())
    }

    /// Writes some of the content of the current member, without the bytes in holes.
    ///
    /// Fails if the content is longer than announced, or if writing fails.
    pub fn write(&mut self, content: &[u8]) -> Result<()> {
        let mut rest = content;
        while !rest.is_empty() {
            let Some(open) = &mut self.open else {
                return Err(Error::ContentLength {
                    path: Default::default(),
                    expected: 0,
                    actual: content.len() as u64,
                });
            };
            let Some(segment) = open.map.segments().get(open.segment) else {
                return Err(Error::ContentLength {
                    path: open.path.clone().into(),
                    expected: open.expected,
                    actual: open.given.saturating_add(rest.len() as u64),
                });
            };
            let hole = segment.offset.saturating_sub(open.position);
            let offset = open.position + hole;
            let left = usize::try_from(segment.end() - offset).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(left.min(rest.len()));
            open.position = offset + now.len() as u64;
            open.given += now.len() as u64;
            open.segment += usize::from(open.position == segment.end());
            rest = later;
            self.zeros(hole)?;
            self.put(now)?;
        }
        Ok(())
    }

    /// Ends the archive and returns the writer, which is not flushed.
    pub fn finish(mut self) -> Result<W> {
        self.end()?;
        self.zeros(2 * BLOCK as u64)?;
        let over = self.position % self.options.record_bytes.max(1);
        if over > 0 {
            self.zeros(self.options.record_bytes - over)?;
        }
        Ok(self.writer)
    }

    /// Completes the current member.
    fn end(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        if open.given < open.expected {
            return Err(Error::ContentLength {
                path: open.path.into(),
                expected: open.expected,
                actual: open.given,
            });
        }
        self.zeros(open.map.size_bytes() - open.position)?;
        self.zeros(padding(open.map.size_bytes()))
    }

    fn zeros(&mut self, len: u64) -> Result<()> {
        let mut left = len;
        while left > 0 {
            let len = left.min(ZEROS.len() as u64);
            self.put(&ZEROS[..len as usize])?;
            left -= len;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.position += bytes.len() as u64;
        self.writer.write_all(bytes).map_err(Error::Write)
    }
}
