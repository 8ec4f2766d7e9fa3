//! Reads archives from files and pipes, and spools their contents.

use crate::Archive;
use hedgerow_engine::CancelToken;
use hedgerow_fs::{ReadFile, SpoolFile};
use std::io::{self, Read, Seek, SeekFrom};
use std::num::NonZeroU64;

/// Size of the spool buffer in bytes.
const PIECE_BYTES: usize = 1 << 20;
/// How often a wait for a pipe is interrupted to check for cancellation, in milliseconds.
const PATIENCE_MS: u32 = 100;

/// Reads a regular file from a position of its own. After a skip it reads little, because mostly only a
/// header is wanted before the next skip. The system is told to read ahead all the same, so that a cold
/// file is not waited for at each header. Only the contents of large members are left out.
pub(super) struct Positioned<'f> {
    file: &'f ReadFile,
    position: u64,
    /// Where the last read ended, and how much it was to read.
    last_end: u64,
    last_bytes: usize,
    /// Up to here the system was told to read ahead.
    ahead: u64,
}

/// Size of the first read after a skip, in bytes.
const FIRST_BYTES: usize = 4 << 10;
/// Bytes of one request to read ahead; many systems read no more at once. A skip of more is a large member.
const AHEAD_BYTES: NonZeroU64 = NonZeroU64::new(128 << 10).expect("it is not zero");

impl<'f> Positioned<'f> {
    pub(super) fn new(file: &'f ReadFile, position: u64) -> Self {
        Positioned {
            file,
            position,
            last_end: position,
            last_bytes: 0,
            ahead: position,
        }
    }

    fn read_ahead(&mut self) {
        if self.position.abs_diff(self.last_end) > AHEAD_BYTES.get() {
            self.ahead = self.position;
            return;
        }
        let wanted = self.position.saturating_add(AHEAD_BYTES.get());
        while self.ahead < wanted {
            self.file.will_read(self.ahead, AHEAD_BYTES);
            self.ahead = self.ahead.saturating_add(AHEAD_BYTES.get());
        }
    }
}

impl Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_ahead();
        let wanted = if self.position == self.last_end {
            self.last_bytes.saturating_mul(2)
        } else {
            0
        };
        let wanted = buffer.len().min(wanted.max(FIRST_BYTES));
        let read = self.file.read_at(&mut buffer[..wanted], self.position);
        let count = read.map_err(|error| error.source)?;
        self.position += count as u64;
        self.last_end = self.position;
        self.last_bytes = wanted;
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

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::Positioned;
    use hedgerow_fs::ReadFile;
    use std::io::{Read, Seek, SeekFrom};

    #[test]
    fn little_is_read_after_a_skip_and_then_more() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let content: Vec<u8> = (0..3 << 20).map(|number: u32| (number / 7) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let file = ReadFile::open_stream(&path).unwrap();
        let mut reader = Positioned::new(&file, 3);
        let mut buffer = vec![0; 64 << 10];
        let mut position = 3;
        // Near skips and far ones.
        for (skip, bytes) in [
            (0, 4 << 10),
            (0, 8 << 10),
            (0, 16 << 10),
            (10, 4 << 10),
            (100 << 10, 4 << 10),
            (1 << 20, 4 << 10),
            (0, 8 << 10),
            (0, 16 << 10),
            (0, 32 << 10),
            (0, 64 << 10),
            (0, 64 << 10),
        ] {
            reader.seek(SeekFrom::Current(skip)).unwrap();
            position += skip as usize;
            assert_eq!(reader.read(&mut buffer).unwrap(), bytes);
            assert_eq!(buffer[..bytes], content[position..][..bytes]);
            position += bytes;
        }
        reader.seek(SeekFrom::End(0)).unwrap();
        assert_eq!(reader.read(&mut buffer).unwrap(), 0);
    }
}
