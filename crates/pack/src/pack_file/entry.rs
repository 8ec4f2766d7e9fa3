use crate::fault::Fault;
use gix_hash::ObjectId;
pub(crate) use hedgerow_object::pack_entry::PACK_HEADER_BYTES;
use hedgerow_object::pack_entry::{EntryHeader, EntryType};
use hedgerow_object::ObjectKind;

/// The header of one entry of a pack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub kind: EntryForm,
    /// The length of what the compressed bytes hold: the object or the delta.
    pub size: u64,
    /// Where the compressed bytes start in the data that was parsed.
    pub data: usize,
}

/// What an entry of a pack holds. Other than in its header (`EntryType` of `hedgerow-object`), the
/// base of an offset delta is a place in the pack and not a distance.
#[derive(Clone, Copy, Debug)]
pub enum EntryForm {
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
    let rest = data.get(start..).unwrap_or_default();
    let (header, length) = EntryHeader::parse(rest, offset, hash_len)?;
    let kind = match header.kind {
        EntryType::Whole(kind) => EntryForm::Whole(kind),
        EntryType::OffsetDelta { distance } => EntryForm::OffsetDelta(offset - distance),
        EntryType::ReferenceDelta(id) => EntryForm::ReferenceDelta(id),
    };
    Ok(Entry {
        kind,
        size: header.size,
        data: start + length,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_base_is_found_by_its_distance() {
        let mut data = vec![0; 200];
        data.extend_from_slice(&[0x65, 0x80, 0x00]);
        let entry = parse(&data, 200, 20).unwrap();
        assert!(matches!(entry.kind, EntryForm::OffsetDelta(72)));
        assert_eq!((entry.size, entry.data), (5, data.len()));
        for (offset, fault) in [(11, Fault::Outside), (203, Fault::Outside)] {
            assert_eq!(parse(&data, offset, 20).unwrap_err(), fault);
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            data in prop::collection::vec(any::<u8>(), 0..80), offset in any::<u64>(),
        ) {
            for offset in [offset, offset % 80] {
                if let Ok(entry) = parse(&data, offset, 20) {
                    prop_assert!(entry.data <= data.len());
                    if let EntryForm::OffsetDelta(base) = entry.kind {
                        prop_assert!((PACK_HEADER_BYTES..offset).contains(&base));
                    }
                }
            }
        }
    }
}
