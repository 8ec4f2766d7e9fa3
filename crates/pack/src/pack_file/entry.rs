use crate::fault::Fault;
use crate::object::ObjectKind;
use gix_hash::ObjectId;

/// Bytes in front of the first entry of a pack.
pub(crate) const PACK_HEADER_BYTES: u64 = 12;

/// The header of one entry of a pack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub kind: EntryKind,
    /// The length of what the compressed bytes hold: the object or the delta.
    pub size: u64,
    /// Where the compressed bytes start in the data that was parsed.
    pub data: usize,
}

/// What an entry of a pack holds.
#[derive(Clone, Copy, Debug)]
pub enum EntryKind {
    /// An object.
    Whole(ObjectKind),
    /// A delta against the entry at that offset of the same pack.
    OffsetDelta(u64),
    /// A delta against that object.
    ReferenceDelta(ObjectId),
}

/// Reads the header of the entry at `offset` of a pack whose entries are within `data`, which
/// starts at the start of the pack.
pub(crate) fn parse(data: &[u8], offset: u64, hash_len: usize) -> Result<Entry, Fault> {
    let start = usize::try_from(offset).map_err(|_| Fault::Outside)?;
    parse_at(data, start, offset, hash_len)
}

/// Reads the header at `start` of `data`, a part of a pack, of the entry at `offset` of the pack.
pub(crate) fn parse_at(
    data: &[u8],
    start: usize,
    offset: u64,
    hash_len: usize,
) -> Result<Entry, Fault> {
    if offset < PACK_HEADER_BYTES || start >= data.len() {
        return Err(Fault::Outside);
    }
    let mut cursor = Cursor { data, at: start };
    let first = cursor.byte()?;
    let mut size = u64::from(first & 15);
    let mut byte = first;
    let mut shift = 4;
    while byte & 0x80 != 0 {
        byte = cursor.byte()?;
        size |= widen(byte, shift)?;
        shift += 7;
    }
    let kind = match first >> 4 & 7 {
        1 => EntryKind::Whole(ObjectKind::Commit),
        2 => EntryKind::Whole(ObjectKind::Tree),
        3 => EntryKind::Whole(ObjectKind::Blob),
        4 => EntryKind::Whole(ObjectKind::Tag),
        6 => EntryKind::OffsetDelta(base_offset(&mut cursor, offset)?),
        7 => {
            let end = cursor.at.saturating_add(hash_len);
            let id = data.get(cursor.at..end).ok_or(Fault::TruncatedHeader)?;
            cursor.at = end;
            EntryKind::ReferenceDelta(ObjectId::from_bytes_or_panic(id))
        }
        other => return Err(Fault::EntryType(other)),
    };
    Ok(Entry {
        kind,
        size,
        data: cursor.at,
    })
}

/// Bits of a variable-length integer in their place; an error if any falls off the end.
pub(crate) fn widen(byte: u8, shift: u32) -> Result<u64, Fault> {
    let bits = u64::from(byte & 0x7f);
    if shift >= 64 || bits << shift >> shift != bits {
        return Err(Fault::LengthOverflow);
    }
    Ok(bits << shift)
}

/// The offset of the base: a distance back from `offset`, seven bits a byte, most significant
/// first, with one added for each continuation so that no distance has two spellings.
fn base_offset(cursor: &mut Cursor<'_>, offset: u64) -> Result<u64, Fault> {
    let mut byte = cursor.byte()?;
    let mut distance = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = cursor.byte()?;
        if distance >= offset {
            return Err(Fault::BaseOffset);
        }
        distance =
            (distance + 1).checked_mul(128).ok_or(Fault::BaseOffset)? | u64::from(byte & 0x7f);
    }
    match offset.checked_sub(distance) {
        Some(base) if distance > 0 && base >= PACK_HEADER_BYTES => Ok(base),
        _ => Err(Fault::BaseOffset),
    }
}

struct Cursor<'d> {
    data: &'d [u8],
    at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.data.get(self.at).ok_or(Fault::TruncatedHeader)?;
        self.at += 1;
        Ok(*byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_distances_of_the_format_are_understood() {
        let parse_distance = |distance: &[u8]| {
            let mut data = vec![0; 20_000];
            data.extend_from_slice(&[0x65]);
            data.extend_from_slice(distance);
            match parse(&data, 20_000, 20) {
                Ok(Entry {
                    kind: EntryKind::OffsetDelta(base),
                    size: 5,
                    ..
                }) => Ok(20_000 - base),
                Ok(entry) => panic!("{entry:?}"),
                Err(fault) => Err(fault),
            }
        };
        assert_eq!(parse_distance(&[0x7f]), Ok(127));
        assert_eq!(parse_distance(&[0x80, 0x00]), Ok(128));
        assert_eq!(parse_distance(&[0xff, 0x7f]), Ok(16_511));
        assert_eq!(parse_distance(&[0x80, 0x80, 0x00]), Ok(16_512));
        assert_eq!(parse_distance(&[0x00]), Err(Fault::BaseOffset));
        assert_eq!(parse_distance(&[0x80]), Err(Fault::TruncatedHeader));
        assert_eq!(parse_distance(&[0x80, 0x9b, 0x15]), Err(Fault::BaseOffset));
    }

    #[test]
    fn sizes_fill_64_bits_and_no_more() {
        let mut data = vec![0; 12];
        data.extend_from_slice(&[0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(parse(&data, 12, 20).unwrap().size, u64::MAX);
        data[21] = 0x1f;
        assert_eq!(parse(&data, 12, 20).unwrap_err(), Fault::LengthOverflow);
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            data in prop::collection::vec(any::<u8>(), 0..80), offset in any::<u64>(),
        ) {
            for offset in [offset, offset % 80] {
                if let Ok(entry) = parse(&data, offset, 20) {
                    prop_assert!(entry.data <= data.len());
                    if let EntryKind::OffsetDelta(base) = entry.kind {
                        prop_assert!((PACK_HEADER_BYTES..offset).contains(&base));
                    }
                }
            }
        }
    }
}
