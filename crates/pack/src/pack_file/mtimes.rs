//! The ages of the objects of a cruft pack (`.mtimes`): gitformat-pack, "pack-*.mtimes files have
//! the format".

use crate::error::Result;
use crate::format::big_endian::u32_at;
use crate::format::hashed_file::{HashedFile, TrailerHasher};
use gix_hash::{oid, Kind};
use hedgerow_fs::OutputFile;
use std::path::Path;

const HEADER_BYTES: usize = 12;
/// More than four bytes for each of the objects that a pack can have.
const LIMIT_BYTES: u64 = 20 << 30;

/// Prepares the file `target` with `mtimes`: for each object of the pack with the trailer
/// `pack_checksum`, in order of ids, when it was last known to be of use, in seconds since 1970.
/// To give the file its name is left to the caller.
pub fn stage_mtimes(
    target: &Path,
    mtimes: &[u32],
    pack_checksum: &oid,
    sync: bool,
) -> Result<OutputFile> {
    let mut file = HashedFile::create(target, pack_checksum.kind())?;
    let hash: u32 = match pack_checksum.kind() {
        Kind::Sha256 => 2,
        _ => 1,
    };
    file.write(b"MTME\0\0\0\x01")?;
    file.write(&hash.to_be_bytes())?;
    for mtime in mtimes {
        file.write(&mtime.to_be_bytes())?;
    }
    file.write(pack_checksum.as_bytes())?;
    Ok(file.seal(sync)?.1)
}

/// Reads the file at `path`, which belongs to a pack of `count` objects. An error is a reason.
pub fn read_mtimes(path: &Path, count: u32, hash: Kind) -> std::result::Result<Vec<u32>, String> {
    let read = hedgerow_fs::read_file(path, LIMIT_BYTES).map_err(|error| error.to_string())?;
    let data = read.ok_or("there is none")?;
    let hash_len = hash.len_in_bytes();
    let table = count as usize * 4;
    if data.len() != HEADER_BYTES + table + 2 * hash_len || !data.starts_with(b"MTME\0\0\0\x01") {
        return Err("it is no table of that many times".into());
    }
    let (content, trailer) = data.split_at(data.len() - hash_len);
    let mut hasher = TrailerHasher::new(hash);
    hasher.update(content);
    if hasher.finish().as_bytes() != trailer {
        return Err("checksum mismatch".into());
    }
    let row = |row: u32| u32_at(&data, HEADER_BYTES + row as usize * 4);
    Ok((0..count).filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use gix_hash::ObjectId;

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        for (kind, name) in [(Kind::Sha1, "one"), (Kind::Sha256, "two")] {
            let target = directory.path().join(name);
            let checksum = ObjectId::null(kind);
            let mtimes = [1, 0, u32::MAX, 1_700_000_000];
            let file = stage_mtimes(&target, &mtimes, &checksum, true).unwrap();
            assert!(!target.exists());
            file.commit(false).unwrap();
            assert_eq!(read_mtimes(&target, 4, kind).unwrap(), mtimes);
            assert!(read_mtimes(&target, 3, kind).is_err());
            let whole = std::fs::read(&target).unwrap();
            std::fs::remove_file(&target).unwrap();
            for at in 0..whole.len() {
                let mut damaged = whole.clone();
                damaged[at] ^= 1;
                std::fs::write(&target, damaged).unwrap();
                assert!(read_mtimes(&target, 4, kind).is_err(), "byte {at}");
            }
        }
    }
}
