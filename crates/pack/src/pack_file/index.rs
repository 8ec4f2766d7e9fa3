use super::entry::PACK_HEADER_BYTES;
use crate::format::big_endian::{u32_at, u64_at};
use crate::format::id_table::{IdTable, FANOUT_BYTES};
use hedgerow_fs::MappedFile;
use std::path::Path;

const MAGIC: &[u8] = b"\xfftOc";
/// In a 32-bit offset: the other bits are a row of the table of 64-bit offsets.
const LARGE: u32 = 1 << 31;

/// The index of one pack (`.idx`), version 1 or 2: where each object's entry starts.
#[derive(Debug)]
pub(crate) struct PackIndex {
    map: MappedFile,
    ids: IdTable,
    offsets: Offsets,
    hash_len: usize,
}

#[derive(Debug)]
enum Offsets {
    /// Version 1: 32 bits in front of each id.
    BesideIds { start: usize, stride: usize },
    /// Version 2: a table of 32-bit offsets, then one of the 64-bit ones.
    Tables {
        small: usize,
        large: usize,
        large_count: usize,
    },
}

impl PackIndex {
    /// Maps the index at `path`. Its sizes and its fanout are checked, its hash is not. An error
    /// is a reason.
    pub fn open(path: &Path, hash_len: usize) -> Result<Self, String> {
        let map = MappedFile::open(path).map_err(|error| error.to_string())?;
        let parsed = match map.get(..4) {
            Some(MAGIC) => parse_v2(&map, hash_len),
            _ => parse_v1(&map, hash_len),
        };
        let (ids, offsets) = parsed.map_err(|reason| format!("bad pack index: {reason}"))?;
        Ok(PackIndex {
            map,
            ids,
            offsets,
            hash_len,
        })
    }

    /// The file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// How many objects it lists.
    pub fn count(&self) -> u32 {
        self.ids.count()
    }

    /// The id at `position`, in order of ids.
    pub fn id(&self, position: u32) -> Option<&[u8]> {
        self.ids.id(&self.map, position)
    }

    /// The table of ids and the data it is in.
    pub fn ids(&self) -> (&IdTable, &[u8]) {
        (&self.ids, &self.map)
    }

    /// Where the entry of `id` starts in the pack.
    pub fn lookup(&self, id: &[u8]) -> Option<u64> {
        self.offset(self.ids.lookup(&self.map, id)?)
    }

    /// Where the entry of the object at `position` starts; `None` if the index does not say.
    pub fn offset(&self, position: u32) -> Option<u64> {
        let position = position as usize;
        match self.offsets {
            Offsets::BesideIds { start, stride } => {
                u32_at(&self.map, start + position * stride).map(u64::from)
            }
            Offsets::Tables {
                small,
                large,
                large_count,
            } => {
                let offset = u32_at(&self.map, small + position * 4)?;
                if offset & LARGE == 0 {
                    return Some(u64::from(offset));
                }
                let row = (offset & !LARGE) as usize;
                if row >= large_count {
                    return None;
                }
                u64_at(&self.map, large + row * 8)
            }
        }
    }

    /// The CRC-32 of the entry of the object at `position`, which version 1 does not have.
    pub fn crc32(&self, position: u32) -> Option<u32> {
        match self.offsets {
            Offsets::BesideIds { .. } => None,
            Offsets::Tables { small, .. } => {
                let start = small - self.count() as usize * 4;
                u32_at(&self.map, start + position as usize * 4)
            }
        }
    }

    /// The checksum of the pack it was made for.
    pub fn pack_checksum(&self) -> &[u8] {
        let end = self.map.len() - self.hash_len;
        let checksum = self.map.get(end - self.hash_len..end);
        checksum.expect("an index is as long as its tables and two hashes")
    }
}

fn parse_v1(data: &[u8], hash_len: usize) -> Result<(IdTable, Offsets), &'static str> {
    let stride = 4 + hash_len;
    let ids = IdTable::new(data, 0, FANOUT_BYTES + 4, stride, hash_len)
        .ok_or("truncated or decreasing fanout")?;
    let expected =
        FANOUT_BYTES as u64 + u64::from(ids.count()) * stride as u64 + 2 * hash_len as u64;
    if data.len() as u64 != expected {
        return Err("wrong size");
    }
    let start = FANOUT_BYTES;
    Ok((ids, Offsets::BesideIds { start, stride }))
}

fn parse_v2(data: &[u8], hash_len: usize) -> Result<(IdTable, Offsets), &'static str> {
    if u32_at(data, 4) != Some(2) {
        return Err("unknown version");
    }
    let start = 8 + FANOUT_BYTES;
    let ids =
        IdTable::new(data, 8, start, hash_len, hash_len).ok_or("truncated or decreasing fanout")?;
    let count = u64::from(ids.count());
    let least = start as u64 + count * (hash_len as u64 + 8) + 2 * hash_len as u64;
    let surplus = (data.len() as u64).checked_sub(least).ok_or("too short")?;
    if surplus % 8 != 0 || surplus / 8 > count {
        return Err("wrong size");
    }
    let count = count as usize;
    let small = start + count * (hash_len + 4);
    let offsets = Offsets::Tables {
        small,
        large: small + count * 4,
        large_count: (surplus / 8) as usize,
    };
    Ok((ids, offsets))
}

/// Whether `offsets` start with that of the first entry of a pack and rise up to below `end`. As
/// many different offsets as there are objects are those of all of them.
pub(crate) fn rises(mut offsets: impl Iterator<Item = Option<u64>>, end: u64) -> bool {
    let Some(first) = offsets.next() else {
        return end == PACK_HEADER_BYTES;
    };
    if first != Some(PACK_HEADER_BYTES) {
        return false;
    }
    let mut last = PACK_HEADER_BYTES;
    offsets.all(|offset| offset.is_some_and(|next| std::mem::replace(&mut last, next) < next))
        && last < end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            data in prop::collection::vec(any::<u8>(), 0..200),
            flat in any::<bool>(), v2 in any::<bool>(),
        ) {
            // Random fanouts decrease; flat ones let the checks of sizes be reached.
            let fanout = if flat { vec![0; FANOUT_BYTES] } else { Vec::new() };
            let magic = if v2 { b"\xfftOc\0\0\0\x02".as_slice() } else { b"" };
            let data = [magic, &fanout, &data].concat();
            let parsed = if v2 { parse_v2(&data, 20) } else { parse_v1(&data, 20) };
            if let Ok((ids, _)) = parsed {
                prop_assert!(u64::from(ids.count()) * 24 <= data.len() as u64);
            }
        }
    }

    #[test]
    fn offsets_rise_from_the_first_entry_to_the_end() {
        let rises = |offsets: &[u64], end| rises(offsets.iter().copied().map(Some), end);
        assert!(rises(&[], 12) && rises(&[12, 20, 30], 31));
        for (offsets, end) in [
            (&[][..], 13),
            (&[13, 20], 30),
            (&[12, 20, 20], 30),
            (&[12, 30, 20], 40),
            (&[12, 30], 30),
        ] {
            assert!(!rises(offsets, end), "{offsets:?} {end}");
        }
    }
}
