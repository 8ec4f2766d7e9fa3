//! The receiver of the pack.

use super::StoredResponse;
use crate::cache::Available;
use hedgerow_fs::{ReadFile, StandardOutput};
use std::io::{self, Write};

/// Length of the pieces in which a response is compared, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// The output of a response.
pub trait ResponseOutput: Write + Send {
    /// Sends up to `length` bytes of `file` from `offset` on; returns how many were sent.
    ///
    /// # Errors
    /// If the file cannot be read, or the output cannot be written.
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

/// The receiver of a response. If the maker of a response fails, the receiver may have got its
/// beginning. The same response is then passed to it again from the beginning, and only the rest is
/// sent. The same request gives the same bytes as long as the repository is stored in the same way;
/// to detect when it is not, the beginning is compared with what was sent.
pub(super) struct Receiver<'o> {
    output: &'o mut dyn ResponseOutput,
    sent: u64,
    /// How much of the response was passed to it in the current attempt.
    position: u64,
    /// A response from which the bytes sent can be read back.
    begun: Option<Box<dyn StoredResponse>>,
    /// Whether the receiver no longer reads.
    is_gone: bool,
}

impl<'o> Receiver<'o> {
    /// A receiver at `output` that has got nothing yet.
    pub fn new(output: &'o mut dyn ResponseOutput) -> Self {
        Receiver {
            output,
            sent: 0,
            position: 0,
            begun: None,
            is_gone: false,
        }
    }

    /// Number of bytes sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether the receiver no longer reads.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Number of bytes of the response passed to it in the current attempt.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Passes on a response, which may still be growing. Returns false if it was abandoned.
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

    /// The response will be passed to it from the beginning again; the previous attempt was from
    /// `stored`.
    pub fn restart(&mut self, stored: Box<dyn StoredResponse>) {
        if self.position == self.sent {
            self.begun = Some(stored);
        }
        self.position = 0;
    }

    /// The response is complete.
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

    /// Compares `bytes` with what was sent at that position.
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
