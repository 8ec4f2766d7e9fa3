//! Where lines and contents go: a buffer, and the digits of ids and numbers.

use crate::Error;
use std::io::Write;
use std::ops::ControlFlow;

/// What is gathered before it is written, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// Bytes of the longest id.
const LONGEST_ID: usize = 32;
/// The two digits of each byte.
const DIGITS: [[u8; 2]; 256] = {
    let mut all = [[0; 2]; 256];
    let mut byte = 0;
    while byte < all.len() {
        let digits = b"0123456789abcdef";
        all[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    all
};

/// Output that is made of many small pieces: they are gathered and written together. After the first
/// error nothing more is written.
pub struct OutputStream<'w> {
    buffer: Vec<u8>,
    sink: Box<dyn Write + 'w>,
    tell: Box<dyn FnMut(&Error) + 'w>,
    error: Option<std::io::Error>,
}

impl<'w> OutputStream<'w> {
    /// A stream to `sink`.
    pub fn new(sink: impl Write + 'w) -> Self {
        OutputStream {
            buffer: Vec::with_capacity(BUFFER_BYTES),
            sink: Box::new(sink),
            tell: Box::new(|_| ()),
            error: None,
        }
    }

    /// `tell` is told why objects are written as missing although they are there.
    pub fn telling(self, tell: impl FnMut(&Error) + 'w) -> Self {
        OutputStream {
            tell: Box::new(tell),
            ..self
        }
    }

    pub(super) fn tell(&mut self, error: &Error) {
        (self.tell)(error);
    }

    /// Where to append; [`OutputStream::step`] is to follow.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes what has gathered, if it is enough. `Break`: there is no use in more.
    pub fn step(&mut self) -> ControlFlow<()> {
        if self.buffer.len() < BUFFER_BYTES {
            ControlFlow::Continue(())
        } else {
            self.flush()
        }
    }

    /// Writes what has gathered. `Break`: there is no use in more.
    pub fn flush(&mut self) -> ControlFlow<()> {
        if self.error.is_none() {
            self.error = self.sink.write_all(&self.buffer).err();
        }
        self.buffer.clear();
        if self.error.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn finish(mut self) -> std::io::Result<()> {
        let _ = self.flush();
        self.error.map_or(Ok(()), Err)
    }
}

/// Appends the hexadecimal digits of an id.
pub fn push_hex(buffer: &mut Vec<u8>, id: &[u8]) {
    let mut digits = [[0; 2]; LONGEST_ID];
    for (digits, byte) in digits.iter_mut().zip(id) {
        *digits = DIGITS[usize::from(*byte)];
    }
    let digits = digits.as_flattened();
    buffer.extend_from_slice(digits.get(..2 * id.len()).unwrap_or(digits));
}

/// Appends a number in decimal digits.
pub fn push_number(buffer: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    buffer.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_are_written_as_usual() {
        let mut buffer = Vec::new();
        for number in [0, 7, 10, 1_234_567, u64::MAX] {
            push_number(&mut buffer, number);
            buffer.push(b' ');
        }
        push_hex(&mut buffer, &[0, 0x1f, 0xa9]);
        assert_eq!(buffer, b"0 7 10 1234567 18446744073709551615 001fa9");
    }
}
