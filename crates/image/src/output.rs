//! The image file while it is written.

use crate::WriteError;
use hedgerow_fs::OutputFile;
use std::ops::Range;

/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Appends to the image, and can discard what was appended last.
pub struct Output {
    file: OutputFile,
    /// Position of the image in the file.
    offset: u64,
    /// Position of `buffer` in the image.
    start: u64,
    buffer: Vec<u8>,
}

impl Output {
    /// An image that starts at byte `offset` of `file`.
    pub fn new(file: OutputFile, offset: u64) -> Self {
        Output {
            file,
            offset,
            start: 0,
            buffer: Vec::with_capacity(BUFFER_BYTES),
        }
    }

    /// The position of the next byte.
    pub fn position(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() > BUFFER_BYTES {
            self.write(bytes, self.start)?;
            self.start += bytes.len() as u64;
            return Ok(());
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends zeros up to a multiple of `unit`.
    pub fn pad(&mut self, unit: u64) -> Result<(), WriteError> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut left = self.position().next_multiple_of(unit) - self.position();
        while left > 0 {
            let part = left.min(ZEROS.len() as u64);
            self.append(&ZEROS[..part as usize])?;
            left -= part;
        }
        Ok(())
    }

    /// Changes bytes that were appended.
    pub fn change(&mut self, position: u64, bytes: &[u8]) -> Result<(), WriteError> {
        self.flush()?;
        self.write(bytes, position)
    }

    /// Moves back to `position`, discarding everything after it.
    pub fn go_back_to(&mut self, position: u64) -> Result<(), WriteError> {
        match position.checked_sub(self.start) {
            Some(kept) => self.buffer.truncate(kept as usize),
            None => {
                self.buffer.clear();
                self.start = position;
            }
        }
        Ok(())
    }

    /// Writes `first` to the start of the image, truncates the file after the last byte and pads the
    /// image to a multiple of `padding` bytes. Then gives it its name, in place of an existing file if
    /// `replace`. Returns the size of the file.
    pub fn finish(self, first: &[u8], padding: u64, replace: bool) -> Result<u64, WriteError> {
        let nothing = |_: &OutputFile, image: Range<u64>| Ok((image.end, ()));
        let (bytes, ()) = self.finish_with(first, padding, replace, nothing)?;
        Ok(bytes)
    }

    /// The same; `after` is given the file and the place of the image in it. It writes what stands
    /// after the image, and returns where that ends, with anything else.
    pub fn finish_with<R>(
        mut self,
        first: &[u8],
        padding: u64,
        replace: bool,
        after: impl FnOnce(&OutputFile, Range<u64>) -> Result<(u64, R), WriteError>,
    ) -> Result<(u64, R), WriteError> {
        self.flush()?;
        self.write(first, 0)?;
        let end = |bytes: u64| self.offset.checked_add(bytes).ok_or_else(too_large);
        let padded = self.start.checked_next_multiple_of(padding);
        let bytes = end(padded.ok_or_else(too_large)?)?;
        self.file.set_len(end(self.start)?)?;
        self.file.set_len(bytes)?;
        let (bytes, made) = after(&self.file, self.offset..bytes)?;
        if replace {
            self.file.take_attributes_of_target()?;
            // Without this, a power failure could leave neither the old image nor the new one.
            self.file.sync()?;
        }
        self.file.commit(replace)?;
        Ok((bytes, made))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.write(&self.buffer, self.start)?;
        self.start += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes at a position of the image.
    fn write(&self, bytes: &[u8], position: u64) -> Result<(), WriteError> {
        let position = self.offset.checked_add(position).ok_or_else(too_large)?;
        Ok(self.file.write_at(bytes, position)?)
    }
}

fn too_large() -> WriteError {
    WriteError::Limit {
        reason: "the file would be larger than 2^64 bytes".into(),
    }
}
