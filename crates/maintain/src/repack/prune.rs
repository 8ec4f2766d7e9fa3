//! Deletes redundant loose objects.

use crate::Result;
use hedgerow_pack::ObjectStore;

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
