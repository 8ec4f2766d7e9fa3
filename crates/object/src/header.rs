use crate::ObjectKind;
use gix_hash::{Hasher, Kind, ObjectId};

/// The kind and the size of an object: what is known of it without building it, what a loose object
/// starts with, and what is hashed before its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectHeader {
    /// Its kind.
    pub kind: ObjectKind,
    /// The length of its content in bytes.
    pub size: u64,
}

/// An [`ObjectHeader`] in the bytes of a loose object.
#[derive(Clone, Copy, Debug)]
pub struct EncodedHeader {
    bytes: [u8; ObjectHeader::MAX_BYTES],
    /// It is at the end of `bytes`.
    start: usize,
}

impl ObjectHeader {
    /// Enough for the longest kind, a space, 20 digits and the NUL.
    pub const MAX_BYTES: usize = 32;

    /// Parses `kind SP size NUL` at the start of `data`. Returns it and its length in bytes; `None`
    /// if it is not as git writes it, or not whole.
    pub fn parse(data: &[u8]) -> Option<(Self, usize)> {
        let (name, size, length) = split(data)?;
        let kind = ObjectKind::from_name(name)?;
        Some((ObjectHeader { kind, size }, length))
    }

    /// Whether all of a header at the start of `data` is right but the kind.
    pub fn is_of_unknown_kind(data: &[u8]) -> bool {
        split(data).is_some_and(|(name, ..)| ObjectKind::from_name(name).is_none())
    }

    /// The bytes that [`ObjectHeader::parse`] reads.
    pub fn encode(self) -> EncodedHeader {
        let mut bytes = [0; ObjectHeader::MAX_BYTES];
        let mut at = bytes.len() - 1;
        let mut rest = self.size;
        loop {
            at -= 1;
            bytes[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let name = self.kind.name().as_bytes();
        at -= 1;
        bytes[at] = b' ';
        let start = at - name.len();
        bytes[start..at].copy_from_slice(name);
        EncodedHeader { bytes, start }
    }

    /// A hasher for the content of an object with this header.
    pub fn start_hash(self, hash: Kind) -> Hasher {
        let mut hasher = gix_hash::hasher(hash);
        hasher.update(self.encode().as_bytes());
        hasher
    }
}

impl EncodedHeader {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Hashes `content` as an object of `kind`. `None` is a detected SHA-1 collision attack.
pub fn hash_object(hash: Kind, kind: ObjectKind, content: &[u8]) -> Option<ObjectId> {
    let size = content.len() as u64;
    let mut hasher = ObjectHeader { kind, size }.start_hash(hash);
    hasher.update(content);
    hasher.try_finalize().ok()
}

/// The kind and the size that `data` starts with, and their length in bytes with the NUL.
fn split(data: &[u8]) -> Option<(&[u8], u64, usize)> {
    let end = data.iter().position(|byte| *byte == 0)?;
    let header = data.get(..end)?;
    let space = header.iter().position(|byte| *byte == b' ')?;
    let (name, digits) = header.split_at(space);
    Some((name, parse_size(digits.get(1..)?)?, end + 1))
}

/// A decimal number without leading zeros, as git demands.
fn parse_size(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_headers_as_git_writes_them_are_accepted() {
        let size = |text: &str| Some(ObjectHeader::parse(text.as_bytes())?.0.size);
        assert_eq!(size("blob 0\0"), Some(0));
        assert_eq!(size("commit 18446744073709551615\0x"), Some(u64::MAX));
        let (header, length) = ObjectHeader::parse(b"tag 12\0content").unwrap();
        assert_eq!((header.kind, length), (ObjectKind::Tag, 7));
        for bad in [
            "",
            "\0",
            "blob\0",
            "blob \0",
            "blob 01\0",
            "blob 1 \0",
            "blob -1\0",
            "blob +1\0",
            "blob  1\0",
            "Blob 1\0",
            "delta 1\0",
            "blob 1",
            "blob 18446744073709551616\0",
        ] {
            assert_eq!(size(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_empty_blob_has_the_id_that_git_gives_it() {
        let id = hash_object(Kind::Sha1, ObjectKind::Blob, b"").unwrap();
        assert_eq!(id, ObjectId::empty_blob(Kind::Sha1));
    }

    proptest! {
        #[test]
        fn headers_come_back(kind in 0_usize..4, size in any::<u64>()) {
            use ObjectKind::{Blob, Commit, Tag, Tree};
            for size in [size, size % 1000, u64::MAX] {
                let header = ObjectHeader { kind: [Commit, Tree, Blob, Tag][kind], size };
                let encoded = header.encode();
                let text = format!("{} {size}\0", header.kind);
                prop_assert_eq!(encoded.as_bytes(), text.as_bytes());
                prop_assert_eq!(ObjectHeader::parse(text.as_bytes()), Some((header, text.len())));
            }
        }

        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = ObjectHeader::parse(&data);
            let _ = ObjectHeader::parse(&[b"blob ", data.as_slice()].concat());
        }
    }
}
