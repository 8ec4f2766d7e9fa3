//! Reads archives from files and pipes, and spools their contents.

use crate::Archive;
use hedgerow_engine::CancelToken;
use hedgerow_fs::{ReadFile, SpoolFile};
use std::io::{self, Read, Seek, SeekFrom};

/// Size of the spool buffer in bytes.
const PIECE_BYTES: usize = 1 << 20;
/// How often a wait for a pipe is interrupted to check for cancellation, in milliseconds.
const PATIENCE_MS: u32 = 100;

/// Reads a regular file from a position of its own.
pub(super) struct Positioned<'f> {
    pub(super) file: &'f ReadFile,
    pub(super) position: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.position);
        let count = read.map_err(|error| error.source)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Positioned<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = || self.file.stat().map_err(|error| error.source);
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => end()?.size.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// Reads a pipe or another sequential input, until cancelled.
pub(super) struct Stream<'f> {
    pub(super) file: &'f ReadFile,
    pub(super) cancel: CancelToken,
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.cancel.is_cancelled() {
                return Err(io::Error::other("interrupted"));
            }
            if self.file.wait(PATIENCE_MS).map_err(|error| error.source)? {
                return self.file.read(buffer).map_err(|error| error.source);
            }
        }
    }
}

/// Spools contents to a file.
pub(super) struct Spool {
    file: SpoolFile,
    buffer: Vec<u8>,
    filled: usize,
}

/// Why a content could not be spooled.
pub(super) enum SpoolError {
    Read(crate::Error),
    Write(hedgerow_fs::Error),
}

impl Spool {
    pub(super) fn new(file: SpoolFile) -> Spool {
        Spool {
            file,
            buffer: vec![0; PIECE_BYTES],
            filled: 0,
        }
    }

    /// Spools the content of the current member without holes. Returns its start in the file.
    pub(super) fn take<R: Read>(&mut self, archive: &mut Archive<R>) -> Result<u64, SpoolError> {
        let start = self.file.length() + self.filled as u64;
        loop {
            let free = &mut self.buffer[self.filled..];
            match archive.read_data(free).map_err(SpoolError::Read)? {
                Some((_, len)) => self.filled += len,
                None => return Ok(start),
            }
            if self.filled == self.buffer.len() {
                self.write().map_err(SpoolError::Write)?;
            }
        }
    }

    /// Returns the file for reading.
    pub(super) fn finish(mut self) -> Result<ReadFile, hedgerow_fs::Error> {
        self.write()?;
        Ok(self.file.into_read_file())
    }

    fn write(&mut self) -> Result<(), hedgerow_fs::Error> {
        let filled = std::mem::take(&mut self.filled);
        self.file.append(&self.buffer[..filled])
    }
}
