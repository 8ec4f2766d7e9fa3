//! Removing a multi-pack-index, or what belongs to one that is no more.

use super::layers::{chain_directory, chain_path, plain_path, Loaded};
use crate::error::Result;
use gix_hash::{Kind, ObjectId};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The packs that the multi-pack-index of the object directory `objects` lists, by the names of
/// their indexes; none if there is none that can be used.
pub fn midx_packs(objects: &Path, hash: Kind) -> Result<Vec<String>> {
    let loaded = Loaded::open(&objects.join("pack"), hash)?;
    Ok(loaded.layers.names().map(str::to_owned).collect())
}

/// Removes the multi-pack-index of the object directory `objects` and its auxiliary files.
pub fn remove_midx(objects: &Path) -> Result<()> {
    let packs = objects.join("pack");
    // Readers that find only a part of it ignore it.
    hedgerow_fs::remove_file(&plain_path(&packs))?;
    hedgerow_fs::remove_file(&chain_path(&packs))?;
    all(&packs)?;
    Ok(())
}

/// Removes from the pack directory `packs` what belongs to another multi-pack-index than the one
/// of that checksum, which was just written: its bitmap, its reverse index, and any chain.
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
fn all(packs: &Path) -> Result<()> {
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
