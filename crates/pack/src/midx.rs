use crate::big_endian::{u32_at, u64_at};
use crate::id_table::{IdTable, FANOUT_BYTES};
use crate::map::Map;
use std::ops::Range;
use std::path::Path;

const HEADER_BYTES: usize = 12;
const CHUNK_ROW_BYTES: usize = 12;
const LARGE: u32 = 1 << 31;

/// A multi-pack-index: one table of ids for many packs.
#[derive(Debug)]
pub(crate) struct MultiPackIndex {
    map: Map,
    ids: IdTable,
    /// Where the rows of pack number and offset start.
    rows: usize,
    /// The table of 64-bit offsets; without one, a 32-bit offset has no marker bit.
    large: Option<Range<usize>>,
    /// The file names of the packs' indexes.
    names: Vec<String>,
}

/// Where the chunks are, by their names.
struct Chunks {
    names: Range<usize>,
    fanout: Range<usize>,
    ids: Range<usize>,
    rows: Range<usize>,
    large: Option<Range<usize>>,
}

impl MultiPackIndex {
    /// Maps the file at `path`. Its sizes, names and fanout are checked, its hash is not. An error
    /// is a reason.
    pub fn open(path: &Path, hash: gix_hash::Kind) -> Result<Self, String> {
        let map = Map::open(path).map_err(|error| error.to_string())?;
        let hash_len = hash.len_in_bytes();
        let (chunks, packs) = parse_header(&map, hash)?;
        let names = parse_names(map.get(chunks.names).unwrap_or_default(), packs)?;
        if chunks.fanout.len() != FANOUT_BYTES {
            return Err("bad size of the fanout".into());
        }
        let ids = IdTable::new(
            &map,
            chunks.fanout.start,
            chunks.ids.start,
            hash_len,
            hash_len,
        )
        .ok_or("truncated or decreasing fanout")?;
        let count = ids.count() as usize;
        if chunks.ids.len() != count * hash_len || chunks.rows.len() != count * 8 {
            return Err("bad size of a table".into());
        }
        Ok(MultiPackIndex {
            ids,
            rows: chunks.rows.start,
            large: chunks.large,
            names,
            map,
        })
    }

    /// The names of the packs' indexes (`pack-X.idx`), by the numbers that [`Self::lookup`] gives.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of the pack that has `id`, and where its entry starts.
    pub fn lookup(&self, id: &[u8]) -> Option<(u32, u64)> {
        let row = self.rows + self.ids.lookup(&self.map, id)? as usize * 8;
        let pack = u32_at(&self.map, row)?;
        let offset = u32_at(&self.map, row + 4)?;
        let offset = match &self.large {
            Some(large) if offset & LARGE != 0 => {
                let start = large.start + (offset & !LARGE) as usize * 8;
                u64_at(self.map.get(..large.end)?, start)?
            }
            _ => u64::from(offset),
        };
        Some((pack, offset))
    }
}

/// Reads the header and the table of chunks; returns the chunks and the count of packs.
fn parse_header(data: &[u8], hash: gix_hash::Kind) -> Result<(Chunks, u32), String> {
    let hash_id = match hash {
        gix_hash::Kind::Sha256 => 2,
        _ => 1,
    };
    let Some(&[b'M', b'I', b'D', b'X', version, found_hash, chunk_count, bases]) = data.get(..8)
    else {
        return Err("no signature".into());
    };
    if !matches!(version, 1 | 2) {
        return Err(format!("unknown version {version}"));
    }
    if found_hash != hash_id {
        return Err("other hash function".into());
    }
    if bases != 0 {
        return Err("has base files".into());
    }
    let packs = u32_at(data, 8).ok_or("truncated header")?;
    let end = data.len().saturating_sub(hash.len_in_bytes());
    let chunk = |name: &[u8; 4]| find_chunk(data, usize::from(chunk_count), end, name);
    let required = |name: &'static [u8; 4]| {
        chunk(name)?.ok_or_else(|| format!("no chunk {}", String::from_utf8_lossy(name)))
    };
    let chunks = Chunks {
        names: required(b"PNAM")?,
        fanout: required(b"OIDF")?,
        ids: required(b"OIDL")?,
        rows: required(b"OOFF")?,
        large: chunk(b"LOFF")?,
    };
    Ok((chunks, packs))
}

/// Looks through the table of chunks for `name`. The chunk ends where the next one starts.
fn find_chunk(
    data: &[u8],
    count: usize,
    end: usize,
    name: &[u8; 4],
) -> Result<Option<Range<usize>>, String> {
    let position = |row: usize| {
        let offset = u64_at(data, HEADER_BYTES + row * CHUNK_ROW_BYTES + 4)?;
        usize::try_from(offset).ok()
    };
    for row in 0..count {
        let start = HEADER_BYTES + row * CHUNK_ROW_BYTES;
        if data.get(start..start + 4) == Some(name) {
            return match (position(row), position(row + 1)) {
                (Some(from), Some(to)) if from <= to && to <= end => Ok(Some(from..to)),
                _ => Err("a chunk is outside the file".into()),
            };
        }
    }
    Ok(None)
}

/// Splits the chunk of NUL-terminated names. Names are of files beside the multi-pack-index.
fn parse_names(chunk: &[u8], count: u32) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut rest = chunk;
    for _ in 0..count {
        let end = rest.iter().position(|byte| *byte == 0);
        let (name, after) = rest.split_at(end.ok_or("truncated pack names")?);
        let name = std::str::from_utf8(name).map_err(|_| "a pack name is not text")?;
        if name.is_empty() || name.contains('/') || !name.ends_with(".idx") {
            return Err(format!("bad pack name '{}'", name.escape_debug()));
        }
        names.push(name.to_owned());
        rest = after.get(1..).unwrap_or_default();
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_of_indexes_in_the_same_directory() {
        let parse = |chunk: &[u8], count| parse_names(chunk, count);
        assert_eq!(parse(b"a.idx\0b.idx\0\0\0", 2).unwrap(), ["a.idx", "b.idx"]);
        for bad in [
            b"a.idx".as_slice(),
            b"../a.idx\0",
            b"a.pack\0",
            b"\0",
            b"\xff.idx\0",
        ] {
            assert!(parse(bad, 1).is_err(), "{bad:?}");
        }
        assert!(parse(b"a.idx\0", u32::MAX).is_err());
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            mut data in prop::collection::vec(any::<u8>(), 12..300), chunks in 0_u8..8,
            names in prop::collection::vec(any::<u8>(), 0..50), count in any::<u32>(),
        ) {
            data[..8].copy_from_slice(&[b'M', b'I', b'D', b'X', 1, 1, chunks, 0]);
            for (row, name) in [b"PNAM", b"OIDF", b"OIDL", b"OOFF", b"LOFF"].iter().enumerate() {
                let start = HEADER_BYTES + row * CHUNK_ROW_BYTES;
                if let Some(target) = data.get_mut(start..start + 4) {
                    target.copy_from_slice(*name);
                }
            }
            if let Ok((chunks, _)) = parse_header(&data, gix_hash::Kind::Sha1) {
                prop_assert!(data.get(chunks.names).is_some());
            }
            let _ = parse_names(&names, count);
        }
    }
}
