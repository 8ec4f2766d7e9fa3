use super::bitmapped::{preferred_pack, PseudoPackOrder, BITMAPPED_ROW_BYTES};
use super::chunks::Chunks;
use super::refusal::Refusal;
use crate::format::big_endian::{u32_at, u64_at};
use crate::format::hashed_file::is_whole;
use crate::format::id_table::{IdTable, FANOUT_BYTES};
use hedgerow_fs::MappedFile;
use std::ops::Range;
use std::path::Path;

pub(crate) const HEADER_BYTES: usize = 12;
pub(crate) const SIGNATURE: &[u8; 4] = b"MIDX";
/// Marker bit of a 32-bit offset, if there is a table of 64-bit ones: the other bits are a row of
/// that table.
pub(crate) const LARGE: u32 = 1 << 31;
/// Length of a row of pack number and offset.
pub(crate) const OFFSET_ROW_BYTES: usize = 8;

/// One file of a multi-pack-index: a table of ids for many packs. Positions are in order of ids;
/// packs are numbered in the order of their names in the file.
#[derive(Debug)]
pub(crate) struct MultiPackIndex {
    map: MappedFile,
    hash_len: usize,
    version: u8,
    ids: IdTable,
    /// The start of the rows of pack number and offset.
    rows: usize,
    /// The table of 64-bit offsets; without it, 32-bit offsets have no marker bit.
    large: Option<Range<usize>>,
    /// The chunk RIDX.
    order: Option<Range<usize>>,
    /// The chunk BTMP.
    bitmapped: Option<Range<usize>>,
    /// The file names of the packs' indexes.
    names: Vec<String>,
}

impl MultiPackIndex {
    /// Maps the file at `path`. Its sizes, names and fanout are checked, but not its hash.
    pub fn open(path: &Path, hash: gix_hash::Kind) -> Result<Self, Refusal> {
        let map = MappedFile::open(path).map_err(|error| Refusal::error(error.to_string()))?;
        Self::parse(map, path, hash)
    }

    /// The multi-pack-index that `map` holds, of the file `path`.
    pub(super) fn parse(
        map: MappedFile,
        path: &Path,
        hash: gix_hash::Kind,
    ) -> Result<Self, Refusal> {
        let hash_len = hash.len_in_bytes();
        let Some(end) = map
            .len()
            .checked_sub(hash_len)
            .filter(|end| *end >= HEADER_BYTES)
        else {
            let path = path.display();
            return Err(Refusal::error(format!(
                "multi-pack-index file {path} is too small"
            )));
        };
        let (version, chunks, packs) = parse_header(&map, hash, end)?;
        let ids = parse_ids(&map, &chunks, hash_len)?;
        let rows = chunks.get(b"OOFF");
        let expected = ids.count() as usize * OFFSET_ROW_BYTES;
        let wrong = "multi-pack-index object offset chunk is the wrong size";
        let rows = sized(rows, expected, "object offsets", wrong)?;
        let named = chunks
            .get(b"PNAM")
            .ok_or_else(|| Refusal::chunk("pack-name", None))?;
        let names = parse_names(map.get(named).unwrap_or_default(), packs, version)?;
        // A chunk that is too short for its table is treated as missing.
        let at_least = |name, bytes: usize| chunks.get(name).filter(|c| c.len() >= bytes);
        Ok(MultiPackIndex {
            hash_len,
            version,
            rows: rows.start,
            large: chunks.get(b"LOFF"),
            order: at_least(b"RIDX", ids.count() as usize * 4),
            bitmapped: at_least(b"BTMP", names.len() * BITMAPPED_ROW_BYTES),
            ids,
            names,
            map,
        })
    }

    /// Number of objects.
    pub fn count(&self) -> u32 {
        self.ids.count()
    }

    /// The version of the file: 1, or 2, in which names need not be sorted.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The names of the packs' indexes (`pack-X.idx`), in order of pack numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The trailing hash, which names its bitmap.
    pub fn checksum(&self) -> &[u8] {
        let end = self.map.len() - self.hash_len;
        self.map.split_at(end).1
    }

    /// The id at `position`.
    pub fn id(&self, position: u32) -> Option<&[u8]> {
        self.ids
            .id(&self.map, position)
            .filter(|_| position < self.count())
    }

    /// The positions of ids that start with `byte`.
    pub fn of_first_byte(&self, byte: u8) -> Range<u32> {
        self.ids.of_first_byte(byte)
    }

    /// The position of `id`.
    pub fn position_of(&self, id: &[u8]) -> Option<u32> {
        self.ids.lookup(&self.map, id)
    }

    /// The pack number of the object at `position`, and the offset of its entry. `None` if the file
    /// is damaged; the number may be out of range.
    pub fn row(&self, position: u32) -> Option<(u32, u64)> {
        if position >= self.count() {
            return None;
        }
        let row = self.rows + position as usize * OFFSET_ROW_BYTES;
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

    /// The pack number of `id`, and the offset of its entry.
    pub fn lookup(&self, id: &[u8]) -> Option<(u32, u64)> {
        self.row(self.position_of(id)?)
    }

    /// The pseudo-pack order, if the file was written with a bitmap: the chunk RIDX.
    pub fn pseudo_pack_order(&self) -> Option<PseudoPackOrder<'_>> {
        let chunk = self.map.get(self.order.clone()?)?;
        Some(PseudoPackOrder::new(chunk, self.count()))
    }

    /// The number of the pack whose objects come first in the pseudo-pack order, according to the
    /// chunk BTMP.
    pub fn first_pack_of_order(&self) -> Option<u32> {
        let chunk = self.map.get(self.bitmapped.clone()?)?;
        preferred_pack(chunk)
    }

    /// The mapped file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// Whether the file ends with the hash of its content.
    pub fn is_whole(&self, hash: gix_hash::Kind) -> bool {
        is_whole(&self.map, hash)
    }
}

/// Reads the header and the table of chunks, which end before `end`. Returns the version, the
/// chunks and the number of packs.
fn parse_header(
    data: &[u8],
    hash: gix_hash::Kind,
    end: usize,
) -> Result<(u8, Chunks, u32), Refusal> {
    let ours = hash_version(hash);
    let short = || Refusal::error("truncated header");
    let signature = u32_at(data, 0).ok_or_else(short)?;
    let expected = u32::from_be_bytes(*SIGNATURE);
    if signature != expected {
        return Err(Refusal::fatal(format!(
            "multi-pack-index signature 0x{signature:08x} does not match signature \
             0x{expected:08x}"
        )));
    }
    let Some(&[version, found_hash, chunk_count, _]) = data.get(4..8) else {
        return Err(short());
    };
    if !matches!(version, 1 | 2) {
        return Err(Refusal::fatal(format!(
            "multi-pack-index version {version} not recognized"
        )));
    }
    if found_hash != ours {
        return Err(Refusal::error(format!(
            "multi-pack-index hash version {found_hash} does not match version {ours}"
        )));
    }
    let packs = u32_at(data, 8).ok_or_else(short)?;
    let chunks = Chunks::read(data, HEADER_BYTES, chunk_count, end)?;
    Ok((version, chunks, packs))
}

/// The number for `hash` in the header.
pub(crate) fn hash_version(hash: gix_hash::Kind) -> u8 {
    match hash {
        gix_hash::Kind::Sha256 => 2,
        _ => 1,
    }
}

/// Reads the fanout and checks the length of the table of ids.
fn parse_ids(data: &[u8], chunks: &Chunks, hash_len: usize) -> Result<IdTable, Refusal> {
    const FANOUT: &str = "OID fanout";
    let wrong = "multi-pack-index OID fanout is of the wrong size";
    let fanout = sized(chunks.get(b"OIDF"), FANOUT_BYTES, FANOUT, wrong)?;
    let name = "OID lookup";
    let lookup = chunks
        .get(b"OIDL")
        .ok_or_else(|| Refusal::chunk(name, None))?;
    let Some(ids) = IdTable::new(data, fanout.start, lookup.start, hash_len, hash_len) else {
        return Err(Refusal::chunk(FANOUT, fall_of_fanout(data, fanout.start)));
    };
    let wrong = "multi-pack-index OID lookup chunk is the wrong size";
    sized(Some(lookup), ids.count() as usize * hash_len, name, wrong)?;
    Ok(ids)
}

/// The first decrease in the fanout at `start`.
fn fall_of_fanout(data: &[u8], start: usize) -> Option<String> {
    let bound = |byte: usize| u32_at(data, start + byte * 4);
    (0..255).find_map(|byte| {
        let (low, high) = (bound(byte)?, bound(byte + 1)?);
        (low > high).then(|| {
            let next = byte + 1;
            format!("oid fanout out of order: fanout[{byte}] = {low:x} > {high:x} = fanout[{next}]")
        })
    })
}

/// The chunk called `name` in messages, if it exists and has `expected` bytes.
fn sized(
    chunk: Option<Range<usize>>,
    expected: usize,
    name: &str,
    wrong: &str,
) -> Result<Range<usize>, Refusal> {
    match chunk {
        None => Err(Refusal::chunk(name, None)),
        Some(chunk) if chunk.len() != expected => Err(Refusal::chunk(name, Some(wrong.to_owned()))),
        Some(chunk) => Ok(chunk),
    }
}

/// Splits the chunk of NUL-terminated names. The names must be file names without directories; in
/// version 1 they must be sorted.
fn parse_names(chunk: &[u8], count: u32, version: u8) -> Result<Vec<String>, Refusal> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = chunk;
    for _ in 0..count {
        let end = rest.iter().position(|byte| *byte == 0);
        let short = || Refusal::fatal("multi-pack-index pack-name chunk is too short");
        let (name, after) = rest.split_at(end.ok_or_else(short)?);
        let name = std::str::from_utf8(name)
            .map_err(|_| Refusal::error("a pack name of the multi-pack-index is not text"))?;
        if let Some(last) = names
            .last()
            .filter(|last| version == 1 && last.as_str() >= name)
        {
            return Err(Refusal::fatal(format!(
                "multi-pack-index pack names out of order: '{}' before '{}'",
                last.escape_debug(),
                name.escape_debug()
            )));
        }
        if name.is_empty() || name.contains('/') || !name.ends_with(".idx") {
            let name = name.escape_debug();
            return Err(Refusal::error(format!(
                "bad pack name '{name}' in the multi-pack-index"
            )));
        }
        names.push(name.to_owned());
        rest = after.split_at(1).1;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::super::chunks::CHUNK_ROW_BYTES;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_of_indexes_in_the_same_directory() {
        let parse = |chunk: &[u8], count| parse_names(chunk, count, 1);
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

    #[test]
    fn only_version_two_has_names_in_any_order() {
        let names = b"b.idx\0a.idx\0";
        assert!(parse_names(names, 2, 1).is_err());
        assert_eq!(parse_names(names, 2, 2).unwrap(), ["b.idx", "a.idx"]);
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
            let end = data.len();
            if let Ok((_, chunks, _)) = parse_header(&data, gix_hash::Kind::Sha1, end) {
                let _ = parse_ids(&data, &chunks, 20);
            }
            let _ = parse_names(&names, count, 1);
        }
    }
}
