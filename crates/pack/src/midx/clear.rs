//! Removes auxiliary files of former multi-pack-indexes.

use super::layers::{chain_directory, chain_path, Layer};
use gix_hash::ObjectId;
use hedgerow_fs::Result;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Removes from the pack directory `packs` the auxiliary files of all multi-pack-indexes but the
/// one with that checksum, which was just written: bitmaps, reverse indexes, and chains.
pub(super) fn after_writing(packs: &Path, checksum: &ObjectId) -> Result<()> {
    for extension in ["bitmap", "rev", "midx"] {
        let kept = format!("multi-pack-index-{checksum}.{extension}");
        remove(&chain_directory(packs), extension, Some(&kept))?;
        remove(packs, extension, Some(&kept))?;
    }
    hedgerow_fs::remove_file(&chain_path(packs))?;
    Ok(())
}

/// Removes the layers, bitmaps and reverse indexes of all multi-pack-indexes from the pack
/// directory `packs`.
pub(super) fn all(packs: &Path) -> Result<()> {
    for extension in ["bitmap", "rev", "midx"] {
        remove(&chain_directory(packs), extension, None)?;
        remove(packs, extension, None)?;
    }
    Ok(())
}

/// Removes all bitmaps of multi-pack-indexes from the pack directory `packs`.
pub(super) fn bitmaps(packs: &Path) -> Result<()> {
    remove(packs, "bitmap", None)
}

fn remove(directory: &Path, extension: &str, kept: Option<&str>) -> Result<()> {
    for entry in hedgerow_fs::list_directory(directory)?.unwrap_or_default() {
        let name = entry.name.as_slice();
        let is_one = name.starts_with(b"multi-pack-index-") && name.ends_with(extension.as_bytes());
        if is_one && kept.is_none_or(|kept| kept.as_bytes() != name) {
            hedgerow_fs::remove_file(&directory.join(OsStr::from_bytes(name)))?;
        }
    }
    Ok(())
}

/// Offset of the checksum of the covered file in a bitmap, in bytes.
const BITMAP_HEADER_BYTES: usize = 12;

/// Whether there is a bitmap for the multi-pack-index whose newest layer is `top`.
pub(super) fn has_bitmap(top: &Layer) -> bool {
    let checksum = top.file.checksum();
    let id = ObjectId::from_bytes_or_panic(checksum);
    let path = top
        .path
        .with_file_name(format!("multi-pack-index-{id}.bitmap"));
    let head = || {
        let mut file = hedgerow_fs::ReadFile::open(&path).ok()?;
        let mut head = vec![0; BITMAP_HEADER_BYTES + checksum.len()];
        file.read_exact(&mut head).ok()?;
        Some(head)
    };
    let belongs = |head: Vec<u8>| {
        head.starts_with(b"BITM") && head.get(BITMAP_HEADER_BYTES..) == Some(checksum)
    };
    top.file.pseudo_pack_order().is_some() && head().is_some_and(belongs)
}
