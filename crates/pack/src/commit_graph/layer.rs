use super::commit::{GraphCommit, Parents, MARK, NO_PARENT};
use crate::format::big_endian::{u32_at, u64_at};
use crate::format::id_table::{IdTable, FANOUT_BYTES};
use gix_hash::{oid, Kind, ObjectId};
use hedgerow_fs::MappedFile;
use std::ops::Range;
use std::path::Path;

const HEADER_BYTES: usize = 8;
/// Bytes of a row of the table of chunks: a name and where the chunk starts.
const CHUNK_ROW_BYTES: usize = 12;
/// What follows the tree in a row: two parents, level and date.
const ROW_REST_BYTES: usize = 16;

/// One file of a commit-graph.
#[derive(Debug)]
pub(super) struct Layer {
    map: MappedFile,
    /// Commits in the layers before it.
    before: u32,
    parts: Parts,
}

/// Where things are in the file.
#[derive(Debug)]
struct Parts {
    ids: IdTable,
    rows: Range<usize>,
    edges: Option<Range<usize>>,
    date_offsets: Option<Range<usize>>,
    large_date_offsets: Option<Range<usize>>,
    hash_len: usize,
}

impl Layer {
    /// Maps the file at `path`, which stands upon the layers `bases` with `before` commits. Its
    /// sizes and its fanout are checked, its hash is not. `Ok(None)` if there is no such file.
    pub fn open(
        path: &Path,
        hash: Kind,
        before: u32,
        bases: &[ObjectId],
    ) -> Result<Option<Self>, String> {
        if !hedgerow_fs::exists(path) {
            return Ok(None);
        }
        let map = MappedFile::open(path).map_err(|error| error.to_string())?;
        let parts = parse(&map, hash, bases).map_err(|reason| format!("bad file: {reason}"))?;
        let limit = NO_PARENT - before;
        if parts.ids.count() >= limit {
            return Err("too many commits".into());
        }
        Ok(Some(Layer { map, before, parts }))
    }

    /// The first position after its own.
    pub fn end(&self) -> u32 {
        self.before + self.parts.ids.count()
    }

    pub fn has_corrected_dates(&self) -> bool {
        self.parts.date_offsets.is_some()
    }

    pub fn position(&self, id: &oid) -> Option<u32> {
        let row = self.parts.ids.lookup(&self.map, id.as_bytes())?;
        Some(self.before + row)
    }

    pub fn id(&self, position: u32) -> Option<&oid> {
        let row = self.row(position)?;
        let id = self.parts.ids.id(&self.map, row)?;
        oid::try_from_bytes(id).ok()
    }

    pub fn commit(&self, position: u32) -> Option<GraphCommit<'_>> {
        let start = self.row_start(position)?;
        let rest = start + self.parts.hash_len;
        let high = u32_at(&self.map, rest + 8)?;
        let low = u32_at(&self.map, rest + 12)?;
        Some(GraphCommit {
            tree: oid::try_from_bytes(self.map.get(start..rest)?).ok()?,
            seconds: u64::from(high & 3) << 32 | u64::from(low),
            level: high >> 2,
        })
    }

    /// The parents of the commit at `position`, in a chain of `count` commits.
    pub fn parents(&self, position: u32, count: u32) -> Parents<'_> {
        let mut parents = Parents {
            first: None,
            second: None,
            further: None,
            count,
        };
        let Some(start) = self.row_start(position) else {
            return parents;
        };
        let rest = start + self.parts.hash_len;
        let read = |at| u32_at(&self.map, at).unwrap_or(u32::MAX);
        parents.first = Some(read(rest)).filter(|first| *first != NO_PARENT);
        let second = read(rest + 4);
        if parents.first.is_none() || second == NO_PARENT {
            return parents;
        }
        match second & MARK {
            0 => parents.second = Some(second),
            _ => parents.further = Some(self.edges_from(second & !MARK)),
        }
        parents
    }

    pub fn corrected_date(&self, position: u32) -> Option<u64> {
        let offsets = self.parts.date_offsets.as_ref()?;
        let row = self.row(position)? as usize;
        let offset = u32_at(self.map.get(offsets.clone())?, row * 4)?;
        let offset = match offset & MARK {
            0 => u64::from(offset),
            _ => {
                let large = self.map.get(self.parts.large_date_offsets.clone()?)?;
                u64_at(large, (offset & !MARK) as usize * 8)?
            }
        };
        self.commit(position)?.seconds.checked_add(offset)
    }

    fn edges_from(&self, index: u32) -> &[u8] {
        let edges = self.parts.edges.clone().unwrap_or_default();
        let edges = self.map.get(edges).unwrap_or_default();
        edges.get(index as usize * 4..).unwrap_or_default()
    }

    fn row(&self, position: u32) -> Option<u32> {
        let row = position.checked_sub(self.before)?;
        (row < self.parts.ids.count()).then_some(row)
    }

    fn row_start(&self, position: u32) -> Option<usize> {
        let row = self.row(position)? as usize;
        Some(self.parts.rows.start + row * (self.parts.hash_len + ROW_REST_BYTES))
    }
}

/// Reads the header and the table of chunks, and checks what they say about sizes.
fn parse(data: &[u8], hash: Kind, bases: &[ObjectId]) -> Result<Parts, String> {
    let hash_id = match hash {
        Kind::Sha256 => 2,
        _ => 1,
    };
    let hash_len = hash.len_in_bytes();
    let Some(&[b'C', b'G', b'P', b'H', version, found_hash, chunks, base_count]) =
        data.get(..HEADER_BYTES)
    else {
        return Err("no signature".into());
    };
    if version != 1 {
        return Err(format!("unknown version {version}"));
    }
    if found_hash != hash_id {
        return Err("other hash function".into());
    }
    if usize::from(base_count) != bases.len() {
        return Err("made for another chain".into());
    }
    let end = data.len().saturating_sub(hash_len);
    let chunk = |name: &[u8; 4]| find_chunk(data, HEADER_BYTES, chunks.into(), end, name);
    let required = |name: &'static [u8; 4]| {
        chunk(name)?.ok_or_else(|| format!("no chunk {}", String::from_utf8_lossy(name)))
    };
    if !bases.is_empty() {
        let listed = data.get(required(b"BASE")?).unwrap_or_default();
        let expected: Vec<u8> = bases.iter().flat_map(|id| id.as_slice()).copied().collect();
        if listed != expected {
            return Err("made for another chain".into());
        }
    }
    let fanout = required(b"OIDF")?;
    if fanout.len() != FANOUT_BYTES {
        return Err("bad size of the fanout".into());
    }
    let table = required(b"OIDL")?;
    let ids = IdTable::new(data, fanout.start, table.start, hash_len, hash_len)
        .ok_or("truncated or decreasing fanout")?;
    let count = ids.count() as usize;
    let rows = required(b"CDAT")?;
    let row_bytes = hash_len + ROW_REST_BYTES;
    if Some(table.len()) != count.checked_mul(hash_len)
        || Some(rows.len()) != count.checked_mul(row_bytes)
    {
        return Err("bad size of a table".into());
    }
    let date_offsets = chunk(b"GDA2")?;
    if date_offsets
        .as_ref()
        .is_some_and(|dates| dates.len() != count * 4)
    {
        return Err("bad size of a table".into());
    }
    Ok(Parts {
        ids,
        rows,
        edges: chunk(b"EDGE")?,
        date_offsets,
        large_date_offsets: chunk(b"GDO2")?,
        hash_len,
    })
}

/// Looks through the table of `count` chunks at `table` for `name`. The chunk ends where the next
/// one starts, and no later than `end`.
fn find_chunk(
    data: &[u8],
    table: usize,
    count: usize,
    end: usize,
    name: &[u8; 4],
) -> Result<Option<Range<usize>>, String> {
    let position = |row: usize| {
        let offset = u64_at(data, table + row * CHUNK_ROW_BYTES + 4)?;
        usize::try_from(offset).ok()
    };
    for row in 0..count {
        let start = table + row * CHUNK_ROW_BYTES;
        if data.get(start..start + 4) == Some(name) {
            return match (position(row), position(row + 1)) {
                (Some(from), Some(to)) if from <= to && to <= end => Ok(Some(from..to)),
                _ => Err("a chunk is outside the file".into()),
            };
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            mut data in prop::collection::vec(any::<u8>(), 12..1400), chunks in 0_u8..6,
        ) {
            data[..8].copy_from_slice(&[b'C', b'G', b'P', b'H', 1, 1, chunks, 0]);
            for (row, name) in [b"OIDF", b"OIDL", b"CDAT", b"EDGE", b"GDA2"].iter().enumerate() {
                let start = HEADER_BYTES + row * 12;
                if let Some(target) = data.get_mut(start..start + 4) {
                    target.copy_from_slice(*name);
                }
            }
            if let Ok(parts) = parse(&data, Kind::Sha1, &[]) {
                prop_assert!(data.get(parts.rows).is_some());
            }
        }
    }
}
