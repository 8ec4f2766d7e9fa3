//! Who gets the pack.

use super::StoredResponse;
use crate::cache::Available;
use hedgerow_fs::{ReadFile, StandardOutput};
use std::io::{self, Write};

/// Of what a response is compared at a time, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// Takes a response.
pub trait ResponseOutput: Write + Send {
    /// Takes up to `length` bytes of `file` from `offset` on; returns how many those were.
    ///
    /// # Errors
    /// If the file cannot be read, or nobody takes them.
    fn copy_from(&mut self, file: &ReadFile, offset: u64, length: u64) -> io::Result<u64> {
        let mut piece = vec![0; length.min(PIECE_BYTES) as usize];
        let count = file.read_at(&mut piece, offset).map_err(io::Error::other)?;
        self.write_all(
            piece
                .get(..count)
                .expect("a read fills no more than its buffer"),
        )?;
        Ok(count as u64)
    }
}

impl ResponseOutput for StandardOutput {
    fn copy_from(&mut self, file: &ReadFile, offset: u64, length: u64) -> io::Result<u64> {
        self.send(file, offset, length)
    }
}

/// The receiver. It may have got the beginning of a response whose maker came to no end: the
/// same response is given to it again then, from the beginning, and only the rest is sent. The
/// same request makes the same bytes as long as the repository is stored in the same way; what is
/// not so is found out, because what was sent is compared.
pub(super) struct Receiver<'o> {
    output: &'o mut dyn ResponseOutput,
    sent: u64,
    /// How much of the response it was given, this time.
    position: u64,
    /// Where that can be read which was sent.
    begun: Option<Box<dyn StoredResponse>>,
    /// Nobody reads it any more.
    is_gone: bool,
}

impl<'o> Receiver<'o> {
    /// One who has got nothing yet, through `output`.
    pub fn new(output: &'o mut dyn ResponseOutput) -> Self {
        Receiver {
            output,
            sent: 0,
            position: 0,
            begun: None,
            is_gone: false,
        }
    }

    /// How many bytes were sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether nobody reads it any more.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// How many bytes of the response it was given.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Passes on a response, also one that is just being made. False if that came to no end.
    pub fn follow(&mut self, stored: &dyn StoredResponse) -> io::Result<bool> {
        loop {
            let available = stored.wait(self.position).map_err(io::Error::other)?;
            let (Available::Whole(bytes) | Available::Growing(bytes) | Available::Abandoned(bytes)) =
                available;
            self.copy(stored, bytes)?;
            match available {
                Available::Whole(_) => return self.end().map(|()| true),
                Available::Growing(_) => {}
                Available::Abandoned(_) => return Ok(false),
            }
        }
    }

    /// From now on it is given the response from the beginning again; of the last time it got it
    /// from `stored`.
    pub fn restart(&mut self, stored: Box<dyn StoredResponse>) {
        if self.position == self.sent {
            self.begun = Some(stored);
        }
        self.position = 0;
    }

    /// The response has come to its end.
    pub fn end(&self) -> io::Result<()> {
        if self.position < self.sent {
            Err(differs())
        } else {
            Ok(())
        }
    }

    fn copy(&mut self, stored: &dyn StoredResponse, until: u64) -> io::Result<()> {
        while self.position < until {
            let rest = until - self.position;
            if self.position < self.sent {
                let rest = rest.min(self.sent - self.position);
                let mut piece = vec![0; rest.min(PIECE_BYTES) as usize];
                let length = stored.read_at(&mut piece, self.position);
                piece.truncate(length.map_err(io::Error::other)?);
                self.compare(&piece)?;
                continue;
            }
            let sent = stored.send(self.output, self.position, rest);
            match self.noted(sent)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.position += count,
            }
            self.sent = self.position;
        }
        Ok(())
    }

    fn noted<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.is_gone |= outcome.as_ref().is_err_and(is_gone);
        outcome
    }

    /// Compares `bytes` with what was sent there.
    fn compare(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut before = vec![0; bytes.len()];
        let begun = self.begun.as_ref().ok_or_else(differs)?;
        let length = begun.read_at(&mut before, self.position);
        let length = length.map_err(io::Error::other)?;
        if length < before.len() || before != bytes {
            return Err(differs());
        }
        self.position += bytes.len() as u64;
        Ok(())
    }
}

fn differs() -> io::Error {
    io::Error::other("the repository was stored anew while the pack was sent")
}

impl Write for Receiver<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.position < self.sent && !bytes.is_empty() {
            let again = (self.sent - self.position).min(PIECE_BYTES);
            let length = bytes.len().min(again as usize);
            self.compare(&bytes[..length])?;
            return Ok(length);
        }
        let written = self.output.write(bytes);
        let written = self.noted(written)?;
        self.position += written as u64;
        self.sent = self.position;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
