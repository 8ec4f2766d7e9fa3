//! Writes the index of a pack (`.idx`), byte for byte as git does (gitformat-pack, "pack-*.idx
//! files have the following format").

use super::sort;
use crate::error::Result;
use crate::format::hashed_file::HashedFile;
use gix_hash::{oid, ObjectId};
use hedgerow_fs::OutputFile;
use std::path::Path;

/// Offsets up to this one fit the table of 32-bit offsets.
const LARGEST_SMALL_OFFSET: u32 = 0x7fff_ffff;
const LARGE: u32 = 1 << 31;
/// What starts an index of version 2.
const HEADER_V2: &[u8] = b"\xfftOc\0\0\0\x02";

/// One object of a pack, as its index lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// The object.
    pub id: ObjectId,
    /// The CRC-32 (as of zlib) of its entry in the pack: header, base and compressed bytes.
    pub crc32: u32,
    /// Where its entry starts, in bytes from the start of the pack.
    pub offset: u64,
}

/// Which of the possible forms an index has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexLayout {
    /// 1 or 2. Version 1 cannot have large offsets: where there is one, version 2 is written.
    pub version: u32,
    /// Offsets over this go to the table of 64-bit offsets; those of 2^31 and more always do.
    pub last_small_offset: u32,
    /// Further offsets that go to the table of 64-bit offsets, in rising order.
    pub exceptions: Vec<u64>,
}

impl Default for IndexLayout {
    fn default() -> Self {
        IndexLayout {
            version: 2,
            last_small_offset: LARGEST_SMALL_OFFSET,
            exceptions: Vec::new(),
        }
    }
}

impl IndexLayout {
    fn is_large(&self, offset: u64) -> bool {
        offset > u64::from(self.last_small_offset.min(LARGEST_SMALL_OFFSET))
            || self.exceptions.binary_search(&offset).is_ok()
    }
}

/// Brings `entries` into the order an index needs, by id. Those of one id stay in the order they
/// have, by offset in a list as a pack has them. Uses up to `threads` threads.
pub fn sort_index_entries(entries: &mut Vec<IndexEntry>, threads: usize) {
    let key = |number: usize| prefix(&entries[number].id);
    let sorted = sort::sorted(entries.len(), key, threads);
    assert_eq!(
        sorted.len(),
        entries.len(),
        "an index has 2^32 entries at most"
    );
    let in_order = sorted.iter().map(|at| entries[*at as usize]);
    let mut in_order: Vec<IndexEntry> = in_order.collect();
    for run in in_order.chunk_by_mut(|a, b| prefix(&a.id) == prefix(&b.id)) {
        if run.len() > 1 {
            run.sort_by_key(|entry| entry.id);
        }
    }
    *entries = in_order;
}

/// The first eight bytes of an id as a number of the same order.
fn prefix(id: &oid) -> u64 {
    let start = id.as_bytes().first_chunk::<8>();
    start.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// Writes the index of the pack whose trailer is `pack_checksum` to `target`, replacing what is
/// there. `entries` must be in order of ids ([`sort_index_entries`]). The file gets its name when
/// it is whole, is read-only, and on the disk if `sync`. Returns its checksum.
///
/// # Errors
/// [`crate::Error::Fs`] if it cannot be written; then there is no new file.
pub fn write_index(
    target: &Path,
    entries: &[IndexEntry],
    pack_checksum: &oid,
    layout: &IndexLayout,
    sync: bool,
) -> Result<ObjectId> {
    let (checksum, file) = sealed(target, entries, pack_checksum, layout, sync)?;
    file.commit(true)?;
    Ok(checksum)
}

/// As [`write_index`], but leaves giving the file its name to the caller.
pub fn stage_index(
    target: &Path,
    entries: &[IndexEntry],
    pack_checksum: &oid,
    layout: &IndexLayout,
    sync: bool,
) -> Result<OutputFile> {
    Ok(sealed(target, entries, pack_checksum, layout, sync)?.1)
}

fn sealed(
    target: &Path,
    entries: &[IndexEntry],
    pack_checksum: &oid,
    layout: &IndexLayout,
    sync: bool,
) -> Result<(ObjectId, OutputFile)> {
    let mut file = HashedFile::create(target, pack_checksum.kind())?;
    encode(entries, pack_checksum, layout, &mut |bytes| {
        Ok(file.write(bytes)?)
    })?;
    Ok(file.seal(sync)?)
}

/// Passes the index, without the hash at its end, to `sink`.
pub(crate) fn encode(
    entries: &[IndexEntry],
    pack_checksum: &oid,
    layout: &IndexLayout,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    debug_assert!(entries.is_sorted_by_key(|entry| entry.id));
    let last = entries.iter().map(|entry| entry.offset).max();
    let version = if last.is_some_and(|last| layout.is_large(last)) {
        2
    } else {
        layout.version
    };
    if version >= 2 {
        sink(HEADER_V2)?;
    }
    fanout(entries, sink)?;
    for entry in entries {
        if version < 2 {
            sink(&(entry.offset as u32).to_be_bytes())?;
        }
        sink(entry.id.as_bytes())?;
    }
    if version >= 2 {
        for entry in entries {
            sink(&entry.crc32.to_be_bytes())?;
        }
        offsets(entries, layout, sink)?;
    }
    sink(pack_checksum.as_bytes())
}

/// For each first byte, how many ids start with it or a smaller one.
fn fanout(entries: &[IndexEntry], sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    for first in 0..=u8::MAX {
        let count = entries.partition_point(|entry| entry.id.first_byte() <= first);
        sink(&(count as u32).to_be_bytes())?;
    }
    Ok(())
}

fn offsets(
    entries: &[IndexEntry],
    layout: &IndexLayout,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut large = Vec::new();
    for entry in entries {
        let small = if layout.is_large(entry.offset) {
            large.push(entry.offset);
            LARGE | (large.len() as u32 - 1)
        } else {
            entry.offset as u32
        };
        sink(&small.to_be_bytes())?;
    }
    for offset in large {
        sink(&offset.to_be_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack_file::index::PackIndex;

    fn entries(count: u32, stride: u64) -> Vec<IndexEntry> {
        let entry = |number: u32| {
            let mut id = [7; 20];
            id[..4].copy_from_slice(&number.wrapping_mul(2_654_435_761).to_be_bytes());
            IndexEntry {
                id: ObjectId::from(id),
                crc32: number,
                offset: 12 + u64::from(number) * stride,
            }
        };
        (0..count).map(entry).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.idx");
        let pack = ObjectId::from([9; 20]);
        for (version, last_small_offset, stride) in [
            (2, LARGEST_SMALL_OFFSET, 100),
            (2, 0x4000, 100),
            (1, LARGEST_SMALL_OFFSET, 100),
            (1, LARGEST_SMALL_OFFSET, 1 << 23),
        ] {
            let mut entries = entries(1_000, stride);
            sort_index_entries(&mut entries, 2);
            let layout = IndexLayout {
                version,
                last_small_offset,
                exceptions: vec![12],
            };
            write_index(&target, &entries, &pack, &layout, false).unwrap();
            let index = PackIndex::open(&target, 20).unwrap();
            assert_eq!(index.pack_checksum(), pack.as_bytes());
            for (position, entry) in entries.iter().enumerate() {
                assert_eq!(index.offset(position as u32), Some(entry.offset));
                assert_eq!(index.lookup(entry.id.as_bytes()), Some(entry.offset));
            }
        }
    }

    #[test]
    fn equal_ids_keep_their_order_whatever_the_number_of_threads() {
        let mut expected = entries(5_000, 10);
        expected.extend(entries(5_000, 10).iter().map(|entry| IndexEntry {
            offset: entry.offset + 1_000_000,
            ..*entry
        }));
        // Ids that differ only behind the bytes that are compared first.
        for (number, entry) in expected.iter_mut().enumerate().take(100) {
            let mut id = [7; 20];
            id[19] = 100 - (number / 2) as u8;
            entry.id = ObjectId::from(id);
        }
        let list = expected.clone();
        expected.sort_by_key(|entry| entry.id);
        for threads in [1, 2, 5] {
            let mut sorted = list.clone();
            sort_index_entries(&mut sorted, threads);
            assert_eq!(sorted, expected);
        }
    }
}
