use super::clear;
use super::order::Order;
use super::read::MultiPackIndex;
use super::write::failed;
use crate::{BitOrder, ObjectStore, Result};
use gix_hash::ObjectId;
use hedgerow_fs::LockFile;
use std::path::PathBuf;

/// A multi-pack-index that is written but not renamed yet, so that its bitmap can be put in place
/// first. If it is dropped without [`WrittenMidx::commit`], it is deleted.
#[derive(Debug)]
pub struct WrittenMidx {
    pub(super) lock: LockFile,
    /// The pack directory.
    pub(super) packs: PathBuf,
    pub(super) checksum: ObjectId,
    pub(super) order: Option<Order>,
    /// Its final path.
    pub(super) path: PathBuf,
    pub(super) file: MultiPackIndex,
}

impl WrittenMidx {
    /// The trailing hash, which names its bitmap.
    pub fn checksum(&self) -> &ObjectId {
        &self.checksum
    }

    /// The position, in order of ids, of the object of each bit; empty unless it was written for a
    /// bitmap.
    pub fn pseudo_pack_order(&self) -> &[u32] {
        match &self.order {
            Some(order) => &order.positions,
            None => &[],
        }
    }

    /// The bit order of its bitmap; `None` unless it was written for a bitmap and has objects. Its
    /// packs are those of `store`.
    ///
    /// # Errors
    /// [`Error::MultiPackIndex`](crate::Error::MultiPackIndex) if one of them is not in the store.
    pub fn bit_order<'s>(&'s self, store: &'s ObjectStore) -> Result<Option<BitOrder<'s>>> {
        let rows = self.pseudo_pack_order();
        if rows.is_empty() {
            return Ok(None);
        }
        let order = BitOrder::of_written(store, &self.file, &self.path, rows);
        order.map(Some).map_err(|why| failed(&self.packs, why))
    }

    /// Renames it to its final path, and removes bitmaps and reverse indexes of others.
    pub fn commit(self) -> Result<()> {
        self.lock.commit()?;
        clear::after_writing(&self.packs, &self.checksum)?;
        Ok(())
    }
}
