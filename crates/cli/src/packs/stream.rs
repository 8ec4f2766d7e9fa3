use hedgerow_fs::StandardOutput;
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

/// Standard output, for what is made of many small pieces. When the pipe is closed, nobody wants
/// the rest; any other error is remembered there, and told at the end.
pub struct Stream {
    buffer: Vec<u8>,
    is_closed: bool,
}

impl Stream {
    pub fn new() -> Self {
        Stream {
            buffer: Vec::with_capacity(BUFFER_BYTES),
            is_closed: false,
        }
    }

    /// Where to append; [`Stream::step`] is to follow.
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
        if !self.is_closed {
            self.is_closed = StandardOutput.write_all(&self.buffer).is_err();
        }
        self.buffer.clear();
        if self.is_closed {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Appends the digits of an id.
pub fn push_hex(buffer: &mut Vec<u8>, id: &[u8]) {
    let mut digits = [[0; 2]; LONGEST_ID];
    for (digits, byte) in digits.iter_mut().zip(id) {
        *digits = DIGITS[usize::from(*byte)];
    }
    let digits = digits.as_flattened();
    buffer.extend_from_slice(digits.get(..2 * id.len()).unwrap_or(digits));
}

/// Appends a number.
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
