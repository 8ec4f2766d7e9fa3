/// The most bytes that one instruction inserts.
const MAX_INSERT: usize = 0x7f;
/// The most bytes that one instruction copies: three bytes of length would allow more, but version
/// 2 of the format does not.
const MAX_COPY: usize = 0x10000;

/// A delta that is being written.
pub(super) struct Instructions<'d> {
    delta: &'d mut Vec<u8>,
}

impl<'d> Instructions<'d> {
    pub fn start(delta: &'d mut Vec<u8>, base_bytes: usize, target_bytes: usize) -> Self {
        delta.clear();
        for mut length in [base_bytes, target_bytes] {
            while length >= 0x80 {
                delta.push(length as u8 | 0x80);
                length >>= 7;
            }
            delta.push(length as u8);
        }
        Instructions { delta }
    }

    pub fn len(&self) -> usize {
        self.delta.len()
    }

    pub fn insert(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(MAX_INSERT) {
            self.delta.push(piece.len() as u8);
            self.delta.extend_from_slice(piece);
        }
    }

    /// Copies `length` bytes at `at`, which is below 4 GiB.
    pub fn copy(&mut self, mut at: usize, mut length: usize) {
        while length > 0 {
            let size = length.min(MAX_COPY);
            let code_at = self.delta.len();
            self.delta.push(0);
            let mut code = 0x80;
            // The number 0x10000 is written as none.
            for (number, bytes, first_bit) in [(at, 4, 0), (size & 0xffff, 2, 4)] {
                for byte in 0..bytes {
                    let value = (number >> (byte * 8)) as u8;
                    if value != 0 {
                        self.delta.push(value);
                        code |= 1 << (first_bit + byte);
                    }
                }
            }
            self.delta[code_at] = code;
            at += size;
            length -= size;
        }
    }
}
