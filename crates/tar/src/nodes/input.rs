//! Where an archive comes from, and where its contents wait until they are read.

use crate::Archive;
use hedgerow_engine::CancelToken;
use hedgerow_fs::{ReadFile, SpoolFile};
use std::io::{self, Read, Seek, SeekFrom};

/// So much is put aside at a time, in bytes.
const PIECE_BYTES: usize = 1 << 20;
/// How often somebody who waits for a pipe looks whether the end was asked for.
const PATIENCE_MS: u32 = 100;

/// A regular file that is read from a place of its own.
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

/// A pipe, or whatever else is read from its beginning to its end, until the end is asked for.
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

/// Contents on their way into a file.
pub(super) struct Spool {
    file: SpoolFile,
    buffer: Vec<u8>,
    filled: usize,
}

/// Why contents could not be put aside.
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

    /// Puts the content of the current member aside, without holes; returns where it begins.
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

    /// The file for reading.
    pub(super) fn finish(mut self) -> Result<ReadFile, hedgerow_fs::Error> {
        self.write()?;
        Ok(self.file.into_read_file())
    }

    fn write(&mut self) -> Result<(), hedgerow_fs::Error> {
        let filled = std::mem::take(&mut self.filled);
        self.file.append(&self.buffer[..filled])
    }
}
