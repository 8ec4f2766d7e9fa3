//! Headers of entries of packs: gitformat-pack(5), "pack entries".

use crate::{offset_encoding, ObjectKind};
use gix_hash::ObjectId;

/// Bytes in front of the first entry of a pack.
pub const PACK_HEADER_BYTES: u64 = 12;

/// What stands before the compressed bytes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// What is compressed.
    pub kind: EntryType,
    /// Its length in bytes.
    pub size: u64,
}

/// What is compressed in an entry, as its header says it: the base of a delta by its distance,
/// which only the place of the entry makes a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// An object.
    Whole(ObjectKind),
    /// A delta against the entry that starts so many bytes before this one.
    OffsetDelta {
        /// Not 0.
        distance: u64,
    },
    /// A delta against that object.
    ReferenceDelta(ObjectId),
}

/// Why the header of an entry cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryHeaderFault {
    /// The data ends within it.
    Truncated,
    /// A type that does not exist.
    Type(u8),
    /// A size of more than 64 bits.
    SizeOverflow,
    /// A base that is before the first entry of the pack, or the entry itself.
    Distance,
}

/// An [`EntryHeader`] in the bytes of a pack.
#[derive(Clone, Copy, Debug)]
pub struct EncodedEntryHeader {
    /// At most 10 for the type and the size, and an id or 10 for the base.
    bytes: [u8; 10 + 32],
    length: usize,
}

impl EntryHeader {
    /// Reads the header at the start of `data`, of the entry at `offset` of a pack with ids of
    /// `hash_len` bytes, 20 or 32. Returns it and its length in bytes.
    ///
    /// # Errors
    /// [`EntryHeaderFault`]. A distance leads to an entry of the pack, or where one may be.
    #[inline]
    pub fn parse(
        data: &[u8],
        offset: u64,
        hash_len: usize,
    ) -> Result<(Self, usize), EntryHeaderFault> {
        let byte_at = |at: usize| data.get(at).copied().ok_or(EntryHeaderFault::Truncated);
        let first = byte_at(0)?;
        let mut length = 1;
        let mut size = u64::from(first & 15);
        let mut byte = first;
        let mut shift = 4;
        while byte & 0x80 != 0 {
            byte = byte_at(length)?;
            length += 1;
            size |= widen(byte, shift).ok_or(EntryHeaderFault::SizeOverflow)?;
            shift += 7;
        }
        let rest = data.get(length..).unwrap_or_default();
        let kind = match first >> 4 & 7 {
            1 => EntryType::Whole(ObjectKind::Commit),
            2 => EntryType::Whole(ObjectKind::Tree),
            3 => EntryType::Whole(ObjectKind::Blob),
            4 => EntryType::Whole(ObjectKind::Tag),
            6 => {
                let (distance, bytes) = offset_encoding::decode(rest, offset)?;
                let base = offset.checked_sub(distance);
                if distance == 0 || base.is_none_or(|base| base < PACK_HEADER_BYTES) {
                    return Err(EntryHeaderFault::Distance);
                }
                length += bytes;
                EntryType::OffsetDelta { distance }
            }
            7 => {
                let id = rest.get(..hash_len).ok_or(EntryHeaderFault::Truncated)?;
                length += hash_len;
                EntryType::ReferenceDelta(ObjectId::from_bytes_or_panic(id))
            }
            other => return Err(EntryHeaderFault::Type(other)),
        };
        Ok((EntryHeader { kind, size }, length))
    }

    /// The bytes that [`EntryHeader::parse`] reads.
    pub fn encode(&self) -> EncodedEntryHeader {
        let mut header = EncodedEntryHeader {
            bytes: [0; 42],
            length: 0,
        };
        let mut size = self.size;
        let mut byte = self.kind.number() << 4 | (size & 15) as u8;
        size >>= 4;
        while size > 0 {
            header.push(&[byte | 0x80]);
            byte = (size & 0x7f) as u8;
            size >>= 7;
        }
        header.push(&[byte]);
        match &self.kind {
            EntryType::Whole(_) => {}
            EntryType::OffsetDelta { distance } => {
                header.push(offset_encoding::encode(*distance, &mut [0; 10]));
            }
            EntryType::ReferenceDelta(id) => header.push(id.as_bytes()),
        }
        header
    }
}

impl EntryType {
    fn number(&self) -> u8 {
        match self {
            EntryType::Whole(ObjectKind::Commit) => 1,
            EntryType::Whole(ObjectKind::Tree) => 2,
            EntryType::Whole(ObjectKind::Blob) => 3,
            EntryType::Whole(ObjectKind::Tag) => 4,
            EntryType::OffsetDelta { .. } => 6,
            EntryType::ReferenceDelta(_) => 7,
        }
    }
}

impl EncodedEntryHeader {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        self.bytes[self.length..end].copy_from_slice(bytes);
        self.length = end;
    }
}

impl From<offset_encoding::OffsetFault> for EntryHeaderFault {
    fn from(fault: offset_encoding::OffsetFault) -> Self {
        match fault {
            offset_encoding::OffsetFault::Truncated => EntryHeaderFault::Truncated,
            offset_encoding::OffsetFault::TooLarge => EntryHeaderFault::Distance,
        }
    }
}

/// The seven bits of a `byte` of a number that is written least significant byte first, in their
/// place; `None` if any falls off the end. Sizes are written so, in headers of entries and in
/// deltas.
#[inline]
pub fn widen(byte: u8, shift: u32) -> Option<u64> {
    let bits = u64::from(byte & 0x7f);
    (shift < 64 && bits << shift >> shift == bits).then(|| bits << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(kind: EntryType, size: u64) -> Vec<u8> {
        EntryHeader { kind, size }.encode().as_bytes().to_vec()
    }

    #[test]
    fn sizes_and_distances_have_one_spelling() {
        let blob = |size| encoded(EntryType::Whole(ObjectKind::Blob), size);
        assert_eq!(blob(0), [0x30]);
        assert_eq!(blob(15), [0x3f]);
        assert_eq!(blob(16), [0xb0, 1]);
        assert_eq!(blob(u64::MAX).len(), 10);
        let delta = |distance| encoded(EntryType::OffsetDelta { distance }, 1)[1..].to_vec();
        assert_eq!(delta(1), [1]);
        assert_eq!(delta(127), [127]);
        assert_eq!(delta(128), [0x80, 0]);
        assert_eq!(delta(0x407f), [0xff, 0x7f]);
        assert_eq!(delta(0x4080), [0x80, 0x80, 0]);
    }

    #[test]
    fn the_distances_of_the_format_are_understood() {
        let distance = |bytes: &[u8]| {
            let data = [&[0x65], bytes].concat();
            EntryHeader::parse(&data, 20_000, 20).map(|(header, length)| {
                assert_eq!((header.size, length), (5, data.len()));
                match header.kind {
                    EntryType::OffsetDelta { distance } => distance,
                    other => panic!("{other:?}"),
                }
            })
        };
        assert_eq!(distance(&[0x7f]), Ok(127));
        assert_eq!(distance(&[0x80, 0x00]), Ok(128));
        assert_eq!(distance(&[0xff, 0x7f]), Ok(16_511));
        assert_eq!(distance(&[0x80, 0x80, 0x00]), Ok(16_512));
        assert_eq!(distance(&[0x00]), Err(EntryHeaderFault::Distance));
        assert_eq!(distance(&[0x80]), Err(EntryHeaderFault::Truncated));
        let before_the_first = distance(&[0x80, 0x9b, 0x15]);
        assert_eq!(before_the_first, Err(EntryHeaderFault::Distance));
    }

    #[test]
    fn sizes_fill_64_bits_and_no_more() {
        let mut data = [0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
        let (header, length) = EntryHeader::parse(&data, 12, 20).unwrap();
        assert_eq!((header.size, length), (u64::MAX, 10));
        data[9] = 0x1f;
        let fault = EntryHeader::parse(&data, 12, 20).unwrap_err();
        assert_eq!(fault, EntryHeaderFault::SizeOverflow);
    }

    proptest! {
        #[test]
        fn headers_come_back(number in 0_usize..6, size in any::<u64>(), offset in 13..u64::MAX) {
            let id = ObjectId::from_bytes_or_panic(&[number as u8; 32]);
            let kind = [
                EntryType::Whole(ObjectKind::Commit),
                EntryType::Whole(ObjectKind::Tree),
                EntryType::Whole(ObjectKind::Blob),
                EntryType::Whole(ObjectKind::Tag),
                EntryType::OffsetDelta { distance: size % (offset - 12) + 1 },
                EntryType::ReferenceDelta(id),
            ][number];
            for size in [size, size % 1000, u64::MAX] {
                let header = EntryHeader { kind, size };
                let bytes = encoded(kind, size);
                prop_assert_eq!(EntryHeader::parse(&bytes, offset, 32), Ok((header, bytes.len())));
                for end in 0..bytes.len() {
                    let fault = EntryHeader::parse(&bytes[..end], offset, 32);
                    prop_assert_eq!(fault, Err(EntryHeaderFault::Truncated));
                }
            }
        }

        #[test]
        fn random_bytes_never_panic(
            data in prop::collection::vec(any::<u8>(), 0..80), offset in any::<u64>(),
        ) {
            for offset in [offset, offset % 80] {
                if let Ok((header, length)) = EntryHeader::parse(&data, offset, 20) {
                    prop_assert!(length <= data.len());
                    if let EntryType::OffsetDelta { distance } = header.kind {
                        prop_assert!(distance > 0 && distance <= offset - PACK_HEADER_BYTES);
                    }
                }
            }
        }
    }
}
