//! Writes reverse indexes (`.rev`), byte for byte as git does (gitformat-pack, "pack-*.rev files
//! have the format").

use super::index::PackIndex;
use super::reverse::ReverseIndex;
use super::sort;
use crate::error::{Error, Result};
use crate::format::hashed_file::HashedFile;
use gix_hash::{oid, Kind, ObjectId};
use hedgerow_fs::OutputFile;
use std::path::Path;

/// The positions of an index in order of the offsets it gives: what a `.rev` file lists.
/// `offset` tells the offset at each of `count` positions. Uses up to `threads` threads.
pub fn reverse_positions(count: usize, offset: impl Fn(usize) -> u64, threads: usize) -> Vec<u32> {
    sort::sorted(count, offset, threads)
}

/// Writes the reverse index of the pack whose trailer is `pack_checksum` to `target`, replacing
/// what is there. `positions` are those of [`reverse_positions`]. The file gets its name when it
/// is whole, is read-only, and on the disk if `sync`. Returns its checksum.
///
/// # Errors
/// [`crate::Error::Fs`] if it cannot be written; then there is no new file.
pub fn write_reverse_index(
    target: &Path,
    positions: &[u32],
    pack_checksum: &oid,
    sync: bool,
) -> Result<ObjectId> {
    let (checksum, file) = sealed(target, positions, pack_checksum, sync)?;
    file.commit(true)?;
    Ok(checksum)
}

/// As [`write_reverse_index`], but leaves giving the file its name to the caller.
pub fn stage_reverse_index(
    target: &Path,
    positions: &[u32],
    pack_checksum: &oid,
    sync: bool,
) -> Result<OutputFile> {
    Ok(sealed(target, positions, pack_checksum, sync)?.1)
}

fn sealed(
    target: &Path,
    positions: &[u32],
    pack_checksum: &oid,
    sync: bool,
) -> Result<(ObjectId, OutputFile)> {
    let mut file = HashedFile::create(target, pack_checksum.kind())?;
    let mut put = |bytes: &[u8]| Ok(file.write(bytes)?);
    encode(positions, pack_checksum, &mut put)?;
    Ok(file.seal(sync)?)
}

/// Writes the reverse index beside the pack index at `index`, unless there is a good one. Uses up
/// to `threads` threads. Returns whether it did.
///
/// # Errors
/// [`crate::Error::BadIndex`] if the index cannot be used, [`crate::Error::Fs`] if the reverse
/// index cannot be written.
pub fn add_reverse_index(index: &Path, hash: Kind, threads: usize, sync: bool) -> Result<bool> {
    let bad = |reason| Error::BadIndex {
        path: index.to_owned(),
        reason,
    };
    let opened = PackIndex::open(index, hash.len_in_bytes()).map_err(bad)?;
    let target = index.with_extension("rev");
    if ReverseIndex::open(&target, &opened, hash).is_ok() {
        return Ok(false);
    }
    let mut offsets = Vec::with_capacity(opened.count() as usize);
    for position in 0..opened.count() {
        let offset = opened.offset(position);
        offsets.push(offset.ok_or_else(|| bad("an offset is outside its table".into()))?);
    }
    let offset = |at: usize| offsets[at];
    let positions = reverse_positions(offsets.len(), offset, threads);
    let checksum = ObjectId::from_bytes_or_panic(opened.pack_checksum());
    write_reverse_index(&target, &positions, &checksum, sync)?;
    Ok(true)
}

/// Passes the reverse index, without the hash at its end, to `sink`.
pub(crate) fn encode(
    positions: &[u32],
    pack_checksum: &oid,
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let hash: u32 = match pack_checksum.kind() {
        Kind::Sha256 => 2,
        _ => 1,
    };
    sink(b"RIDX\0\0\0\x01")?;
    sink(&hash.to_be_bytes())?;
    let mut bytes = Vec::with_capacity(CHUNK * 4);
    for chunk in positions.chunks(CHUNK) {
        bytes.clear();
        bytes.extend(chunk.iter().flat_map(|position| position.to_be_bytes()));
        sink(&bytes)?;
    }
    sink(pack_checksum.as_bytes())
}

/// Positions that are passed on at once.
const CHUNK: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::super::index_writer::{sort_index_entries, write_index, IndexEntry, IndexLayout};
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name| directory.path().join(name);
        let entry = |number: u32| IndexEntry {
            id: ObjectId::from([(number * 37) as u8; 20]),
            crc32: 0,
            offset: 12 + u64::from(number) * 5,
        };
        let mut entries: Vec<IndexEntry> = (0..200).map(entry).collect();
        let pack = ObjectId::from([9; 20]);
        sort_index_entries(&mut entries, 1);
        write_index(
            &path("a.idx"),
            &entries,
            &pack,
            &IndexLayout::default(),
            false,
        )
        .unwrap();
        let positions = reverse_positions(entries.len(), |at| entries[at].offset, 2);
        write_reverse_index(&path("a.rev"), &positions, &pack, true).unwrap();
        let index = PackIndex::open(&path("a.idx"), 20).unwrap();
        let reverse = ReverseIndex::open(&path("a.rev"), &index, Kind::Sha1).unwrap();
        for (position, entry) in entries.iter().enumerate() {
            let next = (entry.offset < 12 + 199 * 5).then_some(entry.offset + 5);
            let expected = Some((position as u32, next));
            assert_eq!(reverse.find(&index, entry.offset), expected);
        }
    }
}
