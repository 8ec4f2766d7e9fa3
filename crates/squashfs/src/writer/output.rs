//! The image file while it is written.

use super::WriteError;
use hedgerow_fs::OutputFile;

/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Appends to the image, and can discard what was appended last.
pub(super) struct Output {
    file: OutputFile,
    /// Position of `buffer` in the file.
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

    /// The position of the next byte.
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

    /// Moves back to `position`, discarding everything after it.
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

    /// Writes `first` to the start of the file, truncates the file after the last byte and pads it
    /// to a multiple of `padding` bytes. Then gives it its name, in place of an existing file if
    /// `replace`. Returns the size with padding.
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
            // Without this, a power failure could leave neither the old image nor the new one.
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
