//! The order of the bits of a multi-pack-index.

use super::members::{beside_midx, Members, MidxMembers};
use super::order::Rows;
use super::BitOrder;
use crate::database::generation::MultiIndex;
use crate::database::store::ObjectStore;
use crate::error;
use crate::midx::{failed, pseudo_pack_order, MultiPackIndex, WrittenMidx};
use crate::pack_file::reverse::ReverseIndex;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

impl<'s> BitOrder<'s> {
    /// The order of a multi-pack-index of `store`. The file is hashed: a wrong id in it would be a
    /// wrong answer. The error is a reason.
    pub(crate) fn of_midx(store: &'s ObjectStore, midx: &'s MultiIndex) -> Result<Self, String> {
        let MultiIndex {
            path, file, packs, ..
        } = midx;
        let is_whole = || file.is_whole(store.hash_kind());
        if !midx.verified.pass("hash", &[(path, file.map())], is_whole) {
            return Err("the checksum of its multi-pack-index is wrong".into());
        }
        let mut members = MidxMembers {
            store,
            file,
            path,
            packs: packs.clone(),
            preferred: 0,
        };
        let rows = match file.pseudo_pack_order() {
            Some(order) => Rows::Chunk(order),
            None => rows_without_chunk(&members)?,
        };
        let first = rows.of_bit(0).and_then(|row| file.row(row));
        members.preferred = first.map_or(0, |(pack, _)| pack);
        let is_order = || is_order(&rows, file, members.preferred);
        let is_right = match rows {
            Rows::Chunk(_) => midx
                .verified
                .pass("bit-order", &[(path, file.map())], is_order),
            _ => is_order(),
        };
        if !is_right {
            return Err("the order of its bits is wrong".into());
        }
        Ok(Self::new(Members::Midx(members), rows))
    }

    /// The order of the multi-pack-index `file`, whose final path is `path`: `rows` are the rows of
    /// its bits. The error is a reason.
    pub(crate) fn of_written(
        store: &'s ObjectStore,
        file: &'s MultiPackIndex,
        path: &'s Path,
        rows: &[u32],
    ) -> Result<Self, String> {
        let first = rows.first().and_then(|row| file.row(*row));
        let members = MidxMembers {
            store,
            file,
            path,
            packs: packs_of(store, file, path)?,
            preferred: first.map_or(0, |(pack, _)| pack),
        };
        let rows = Rows::Sorted(rows.to_vec());
        Ok(Self::new(Members::Midx(members), rows))
    }
}

impl WrittenMidx {
    /// The order of the bits of its bitmap, if it was written for one with any objects. Its packs
    /// are those of `store`.
    ///
    /// # Errors
    /// [`Error::MultiPackIndex`](crate::Error::MultiPackIndex) if one of them is not in the store.
    pub fn bit_order<'s>(&'s self, store: &'s ObjectStore) -> error::Result<Option<BitOrder<'s>>> {
        let rows = self.pseudo_pack_order();
        if rows.is_empty() {
            return Ok(None);
        }
        let order = BitOrder::of_written(store, &self.file, &self.path, rows);
        order.map(Some).map_err(|why| failed(&self.packs, why))
    }
}

/// Whether `rows` are all of `file` in the order that bitmaps have them in: those of the pack
/// `preferred`, then those of the others, by their numbers and offsets.
fn is_order(rows: &Rows<'_>, file: &MultiPackIndex, preferred: u32) -> bool {
    let mut last = None;
    (0..file.count()).all(|bit| {
        let row = rows.of_bit(bit).and_then(|row| file.row(row));
        let key = row.map(|(pack, offset)| (pack != preferred, pack, offset));
        key.is_some() && std::mem::replace(&mut last, key) < key
    })
}

/// The path of the bitmaps of `midx`.
pub(super) fn bitmap_path(midx: &MultiIndex) -> PathBuf {
    beside_midx(&midx.path, &midx.file, "bitmap")
}

/// The rows of a multi-pack-index without the chunk RIDX: from the separate file that older
/// versions of git wrote, else computed. The error is a reason.
fn rows_without_chunk<'s>(midx: &MidxMembers<'s>) -> Result<Rows<'s>, String> {
    let hash = midx.store.hash_kind();
    let path = beside_midx(midx.path, midx.file, "rev");
    let (count, checksum) = (midx.file.count(), midx.file.checksum());
    let reason = match ReverseIndex::open_for(&path, count, checksum, hash) {
        Ok(reverse) if reverse.is_whole(hash) => return Ok(Rows::Mapped(reverse)),
        Ok(_) => "bad reverse index: its checksum is wrong".to_owned(),
        Err(reason) => reason,
    };
    let preferred = midx.file.first_pack_of_order();
    let preferred = preferred.ok_or("its multi-pack-index does not say the order of its bits")?;
    let path = path.display();
    midx.store.warn(format!("'{path}': {reason}"));
    let packs = midx.packs.len();
    let order = pseudo_pack_order(midx.rows(), packs, Some(preferred), NonZeroUsize::MIN);
    Ok(Rows::Sorted(order.positions))
}

/// The numbers in `store` of the packs that `file`, the multi-pack-index at `path`, lists. The
/// error is a reason.
fn packs_of(store: &ObjectStore, file: &MultiPackIndex, path: &Path) -> Result<Vec<u32>, String> {
    let real = |path: Option<&Path>| hedgerow_fs::real_path(path?).ok();
    let directory = real(path.parent());
    let mut is_own: HashMap<&Path, bool> = HashMap::new();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for (number, pack) in store.packs() {
        let parent = pack.path().parent().unwrap_or(Path::new(""));
        let is_own = is_own
            .entry(parent)
            .or_insert_with(|| directory.is_some() && real(Some(parent)) == directory);
        let index = pack.path().with_extension("idx");
        if let (true, Some(name)) = (*is_own, index.file_name()) {
            numbers.insert(name.to_string_lossy().into_owned(), number);
        }
    }
    let number = |name: &String| {
        let number = numbers.get(name).copied();
        number.ok_or_else(|| format!("the pack of '{name}' is not one of the repository"))
    };
    file.names().iter().map(number).collect()
}
