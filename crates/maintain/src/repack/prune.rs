//! Deleting what is not needed any more.

use crate::Result;
use hedgerow_pack::ObjectStore;
use std::path::Path;

/// What belongs to a pack. The pack goes first: without it nobody uses the others, and what is left
/// of it if this is interrupted is small. That its objects were promised is known to the last.
const EXTENSIONS: [&str; 6] = ["pack", "idx", "rev", "bitmap", "mtimes", "promisor"];

/// Deletes the pack at `path`, unless it is to be kept since just now.
pub fn delete_pack(path: &Path) -> Result<()> {
    let keep = hedgerow_fs::lstat(&path.with_extension("keep"));
    if keep?.is_some() {
        return Ok(());
    }
    for extension in EXTENSIONS {
        hedgerow_fs::remove_file(&path.with_extension(extension))?;
    }
    Ok(())
}

/// Deletes the loose objects of the own directory of `store` that are in packs. Returns how many.
pub fn prune_packed(store: &ObjectStore) -> Result<u64> {
    let mut count = 0;
    for byte in 0..=u8::MAX {
        let loose = store.own_loose_objects(byte)?;
        for id in &loose {
            if store.is_packed(id) {
                let path = store.own_loose_path(id);
                count += u64::from(hedgerow_fs::remove_file(&path)?);
            }
        }
        let directory = store.directory().join(format!("{byte:02x}"));
        hedgerow_fs::remove_empty_directories(&directory)?;
    }
    Ok(count)
}
