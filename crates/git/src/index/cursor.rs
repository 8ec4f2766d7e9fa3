use std::borrow::Cow;

/// Why the bytes of an index cannot be used; the reader adds the file's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The bytes violate the format.
    Corrupt(Cow<'static, str>),
    /// The bytes may be valid, but use an unknown feature.
    Unsupported(String),
}

pub(super) type Parsed<T> = std::result::Result<T, Problem>;

impl From<&'static str> for Problem {
    fn from(reason: &'static str) -> Self {
        Problem::Corrupt(reason.into())
    }
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Problem::Corrupt(reason.into())
    }
}

/// Reads bytes from front to back; nothing is taken beyond the end.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn take_array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn be16(&mut self) -> Option<u16> {
        self.take_array().map(|bytes| u16::from_be_bytes(*bytes))
    }

    pub(super) fn be32(&mut self) -> Option<u32> {
        self.take_array().map(|bytes| u32::from_be_bytes(*bytes))
    }

    pub(super) fn be64(&mut self) -> Option<u64> {
        self.take_array().map(|bytes| u64::from_be_bytes(*bytes))
    }

    /// The bytes before the next `end`, which is skipped.
    pub(super) fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let len = bstr::ByteSlice::find_byte(self.rest, end)?;
        let taken = self.take(len)?;
        self.take(1)?;
        Some(taken)
    }

    /// A number in the variable-width encoding of pack offsets: seven bits per byte, highest first,
    /// with one added to each continued group.
    pub(super) fn varint(&mut self) -> Option<usize> {
        let mut value = 0usize;
        loop {
            let [byte] = *self.take_array::<1>()?;
            value = value
                .checked_mul(128)?
                .checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }
}

/// Appends `value` in the encoding that [`Cursor::varint`] reads.
pub(super) fn push_varint(out: &mut Vec<u8>, mut value: usize) {
    let mut bytes = [0u8; 10];
    let mut used = 0;
    for slot in bytes.iter_mut() {
        *slot = (value & 0x7f) as u8 | if used == 0 { 0 } else { 0x80 };
        used += 1;
        value >>= 7;
        if value == 0 {
            break;
        }
        value -= 1;
    }
    out.extend(bytes.iter().take(used).rev());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_width_numbers_survive() {
        for value in [0, 1, 127, 128, 255, 16511, 16512, 1 << 31, usize::MAX] {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, value);
            assert_eq!(Cursor::new(&bytes).varint(), Some(value));
            bytes.pop();
            assert_eq!(Cursor::new(&bytes).varint(), None);
        }
        let mut bytes = Vec::new();
        push_varint(&mut bytes, 16511);
        assert_eq!(bytes, [0xff, 0x7f], "the last number of two bytes");
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert_eq!(Cursor::new(&[0xff; 12]).varint(), None);
        let mut long = [0xff; 11];
        long[10] = 0;
        assert_eq!(Cursor::new(&long).varint(), None);
    }

    #[test]
    fn nothing_is_taken_past_the_end() {
        let mut cursor = Cursor::new(b"ab\0c");
        assert_eq!(cursor.be64(), None);
        assert_eq!(cursor.until(0), Some(&b"ab"[..]));
        assert_eq!(cursor.until(0), None);
        assert_eq!(cursor.take(2), None);
        assert_eq!(cursor.take(1), Some(&b"c"[..]));
        assert!(cursor.is_empty());
    }
}
