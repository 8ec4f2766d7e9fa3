//! Reads the bytes of an archive in order and tracks their position.

use crate::error::{foreign, Error, Result};
use crate::header::{padding, Block, BLOCK};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Size of the read buffer in bytes; a Linux pipe holds as much.
const BUFFER_BYTES: usize = 64 * 1024;

pub(crate) struct Input<R> {
    reader: BufReader<R>,
    position: u64,
    seeking: Option<Seeking<R>>,
}

/// Skips bytes by seeking.
struct Seeking<R> {
    skip: fn(&mut BufReader<R>, i64) -> io::Result<()>,
    /// Size of the input; seeking past the end would not fail.
    end: u64,
}

impl<R: Read + Seek> Input<R> {
    /// An input that seeks instead of reading skipped bytes. Positions count from the current
    /// position of the reader.
    pub(crate) fn seekable(mut reader: R) -> io::Result<Input<R>> {
        let start = reader.stream_position()?;
        let end = reader.seek(SeekFrom::End(0))?;
        reader.seek(SeekFrom::Start(start))?;
        let mut input = Input::new(reader);
        input.seeking = Some(Seeking {
            skip: BufReader::seek_relative,
            end: end.saturating_sub(start),
        });
        Ok(input)
    }
}

impl<R: Read> Input<R> {
    pub(crate) fn new(reader: R) -> Input<R> {
        Input {
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
            position: 0,
            seeking: None,
        }
    }

    /// Number of bytes taken so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Reads some bytes. Returns 0 only at the end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Ok(len) => {
                    self.position += len as u64;
                    return Ok(len);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.failure(source)),
            }
        }
    }

    /// Reads the next block; `None` at the end.
    pub(crate) fn block(&mut self) -> Result<Option<Block>> {
        let mut block = [0; BLOCK];
        match self.fill(&mut block)? {
            0 => Ok(None),
            BLOCK => Ok(Some(block)),
            len => {
                let start = block.get(..len).filter(|_| self.position == len as u64);
                Err(match start.and_then(foreign) {
                    Some(known) => Error::NotTar(Some(known)),
                    None => self.truncated("a header"),
                })
            }
        }
    }

    /// Reads a block that must exist; `part` names what it belongs to.
    pub(crate) fn block_of(&mut self, part: &str) -> Result<Block> {
        let mut block = [0; BLOCK];
        let len = self.fill(&mut block)?;
        let is_whole = len == BLOCK;
        is_whole
            .then_some(block)
            .ok_or_else(|| self.truncated(part))
    }

    /// Reads `len` bytes and the padding after them. The caller has checked `len` against a limit.
    pub(crate) fn payload(&mut self, len: usize, part: &str) -> Result<Vec<u8>> {
        let mut payload = vec![0; len];
        if self.fill(&mut payload)? < len {
            return Err(self.truncated(part));
        }
        self.skip(padding(len as u64), part)?;
        Ok(payload)
    }

    /// Skips bytes that must exist.
    pub(crate) fn skip(&mut self, len: u64, part: &str) -> Result<()> {
        if let Some(seeking) = &self.seeking {
            let left = seeking.end.saturating_sub(self.position);
            let relative = i64::try_from(len).ok().filter(|_| len <= left);
            let Some(relative) = relative else {
                self.position += left;
                return Err(self.truncated(part));
            };
            (seeking.skip)(&mut self.reader, relative).map_err(|error| self.failure(error))?;
            self.position += len;
            return Ok(());
        }
        let mut left = len;
        while left > 0 {
            let buffered = self.buffered()?;
            if buffered == 0 {
                return Err(self.truncated(part));
            }
            let len = left.min(buffered as u64);
            self.consume(len as usize);
            left -= len;
        }
        Ok(())
    }

    /// Skips zeros. Returns the position of the first other byte, if there is one, and that byte with
    /// the three behind it.
    pub(crate) fn first_that_is_not_zero(&mut self) -> Result<Option<(u64, [u8; 4])>> {
        loop {
            let bytes = self.reader.buffer();
            let other = bytes.iter().position(|byte| *byte != 0);
            let zeros = other.unwrap_or(bytes.len());
            self.consume(zeros);
            if other.is_some() {
                let (position, mut start) = (self.position, [0; 4]);
                self.fill(&mut start)?;
                return Ok(Some((position, start)));
            }
            if self.buffered()? == 0 {
                return Ok(None);
            }
        }
    }

    /// Reads to the end of the input.
    pub(crate) fn drain(&mut self) -> Result<()> {
        loop {
            match self.buffered()? {
                0 => return Ok(()),
                len => self.consume(len),
            }
        }
    }

    pub(crate) fn into_inner(self) -> R {
        self.reader.into_inner()
    }

    pub(crate) fn truncated(&self, part: &str) -> Error {
        Error::Truncated {
            position: self.position,
            part: part.to_owned(),
        }
    }

    /// Reads until the buffer is full or the input ends. Returns the number of bytes read.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..])? {
                0 => break,
                len => filled += len,
            }
        }
        Ok(filled)
    }

    /// Number of bytes that can be consumed; 0 only at the end.
    fn buffered(&mut self) -> Result<usize> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.failure(source)),
            }
        }
    }

    fn consume(&mut self, len: usize) {
        self.reader.consume(len);
        self.position += len as u64;
    }

    /// Converts a read error. The decoder of a truncated compressed input fails with
    /// `UnexpectedEof`.
    fn failure(&self, source: io::Error) -> Error {
        if source.kind() == io::ErrorKind::UnexpectedEof {
            return self.truncated("its compressed form");
        }
        Error::Read {
            position: self.position,
            source,
        }
    }
}
