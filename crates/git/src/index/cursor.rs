use hedgerow_object::ewah::{Ewah, EwahFault};
use hedgerow_object::offset_encoding;
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

    /// The positions of the bits that are set in a bitmap in the EWAH encoding, ascending. Fails
    /// if one is not below `limit`, which also bounds what is allocated.
    pub(super) fn bitmap(&mut self, limit: usize) -> Parsed<Vec<u32>> {
        const CUT_OFF: &str = "a bitmap is cut off";
        const TOO_FAR: &str = "a bitmap has bits for entries that are not there";
        let (bitmap, len) = Ewah::parse(self.rest).ok_or(CUT_OFF)?;
        self.take(len).ok_or(CUT_OFF)?;
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        bitmap.positions(limit).map_err(|fault| match fault {
            EwahFault::CutOff => CUT_OFF.into(),
            EwahFault::TooFar => TOO_FAR.into(),
        })
    }

    /// A number in the encoding of the distances in packs.
    pub(super) fn varint(&mut self) -> Option<usize> {
        let (value, len) = offset_encoding::decode(self.rest, u64::MAX).ok()?;
        self.take(len)?;
        usize::try_from(value).ok()
    }
}

/// Appends `value` in the encoding that [`Cursor::varint`] reads.
pub(super) fn push_varint(out: &mut Vec<u8>, value: usize) {
    let mut buffer = [0; offset_encoding::MAX_BYTES];
    out.extend_from_slice(offset_encoding::encode(value as u64, &mut buffer));
}

#[cfg(test)]
mod tests {
    use super::*;

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
