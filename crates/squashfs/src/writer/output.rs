//! The image as it grows.

use super::WriteError;
use hedgerow_fs::OutputFile;

/// Bytes that are written at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Appends to the image, and can give up what was appended last.
pub(super) struct Output {
    file: OutputFile,
    /// Where `buffer` goes.
    start: u64,
    buffer: Vec<u8>,
}

impl Output {
    pub(super) fn new(file: OutputFile) -> Self {
        Output {
            file,
            start: 0,
            buffer: Vec::with_capacity(BUFFER_BYTES),
        }
    }

    /// Where the next byte goes.
    pub(super) fn position(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() > BUFFER_BYTES {
            self.file.write_at(bytes, self.start)?;
            self.start += bytes.len() as u64;
            return Ok(());
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Has the next byte go to `position`, where something was written already.
    pub(super) fn go_back_to(&mut self, position: u64) -> Result<(), WriteError> {
        match position.checked_sub(self.start) {
            Some(kept) => self.buffer.truncate(kept as usize),
            None => {
                self.buffer.clear();
                self.start = position;
            }
        }
        Ok(())
    }

    /// Puts `first` at the beginning, ends the image at its last byte and pads it to a multiple of
    /// `padding` bytes. It gets its name, in place of another file if `replace`.
    pub(super) fn finish(
        mut self,
        first: &[u8],
        padding: u64,
        replace: bool,
    ) -> Result<u64, WriteError> {
        self.flush()?;
        self.file.write_at(first, 0)?;
        let bytes = self.start.next_multiple_of(padding);
        self.file.set_len(self.start)?;
        self.file.set_len(bytes)?;
        if replace {
            self.file.take_attributes_of_target()?;
            // Else a power cut could leave neither the image that was there nor this one.
            self.file.sync()?;
        }
        self.file.commit(replace)?;
        Ok(bytes)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.file.write_at(&self.buffer, self.start)?;
        self.start += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
