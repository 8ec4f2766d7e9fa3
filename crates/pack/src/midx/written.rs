use super::clear;
use super::order::Order;
use super::read::MultiPackIndex;
use super::write::failed;
use crate::{BitOrder, ObjectStore, Result};
use gix_hash::ObjectId;
use hedgerow_fs::LockFile;
use std::path::PathBuf;

/// A multi-pack-index that is written but not in its place yet, so that its bitmap can be put
/// there first. Dropped without [`WrittenMidx::commit`] it is gone.
#[derive(Debug)]
pub struct WrittenMidx {
    pub(super) lock: LockFile,
    /// The pack directory.
    pub(super) packs: PathBuf,
    pub(super) checksum: ObjectId,
    pub(super) order: Option<Order>,
    /// Where it is going to be.
    pub(super) path: PathBuf,
    pub(super) file: MultiPackIndex,
}

impl WrittenMidx {
    /// The hash the file ends with, by which its bitmap is named.
    pub fn checksum(&self) -> &ObjectId {
        &self.checksum
    }

    /// The position, in order of ids, of the object of each bit; empty unless it was written for
    /// a bitmap.
    pub fn pseudo_pack_order(&self) -> &[u32] {
        match &self.order {
            Some(order) => &order.positions,
            None => &[],
        }
    }

    /// The order of the bits of its bitmap, if it was written for one with any objects. Its packs
    /// are those of `store`.
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

    /// Puts it in its place, and removes the bitmaps and reverse indexes of others.
    pub fn commit(self) -> Result<()> {
        self.lock.commit()?;
        clear::after_writing(&self.packs, &self.checksum)?;
        Ok(())
    }
}
