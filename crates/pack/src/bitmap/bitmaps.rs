use super::file::{BitmapFile, Entry, KINDS};
use super::{midx, BitOrder, Words};
use crate::database::store::ObjectStore;
use crate::format::verified::VerifiedFiles;
use gix_hash::oid;
use hedgerow_object::ewah::{Change, Ewah};
use hedgerow_object::ObjectKind;
use std::path::Path;
use std::sync::OnceLock;

/// The reachability bitmaps of a store: for some commits, the set of all objects reachable from
/// them.
#[derive(Debug)]
pub struct Bitmaps<'s> {
    order: BitOrder<'s>,
    file: BitmapFile,
    kinds: [OnceLock<Option<Words>>; 4],
}

/// A bitmap could not be read: the caller must get the answer in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a bitmap is damaged")]
pub struct DamagedBitmap;

impl<'s> Bitmaps<'s> {
    /// The bitmaps of `store`: those of its multi-pack-index, else those of the first of its packs
    /// that has any. Unusable files are reported in the warnings of the store.
    pub fn open(store: &'s ObjectStore) -> Option<Self> {
        let of_midx = store.multi_indexes().filter(|midx| !midx.is_layer());
        let mut of_midx = of_midx.map(|midx| {
            let order = || BitOrder::of_midx(store, midx);
            Self::of(store, &midx::bitmap_path(midx), &midx.verified, order)
        });
        let mut of_packs = store.packs().map(|(number, pack)| {
            let order = || BitOrder::of_pack(pack, number).map_err(str::to_owned);
            let path = pack.path().with_extension("bitmap");
            Self::of(store, &path, pack.verified(), order)
        });
        let found = of_midx.find_map(|found| found);
        found.or_else(|| of_packs.find_map(|found| found))
    }

    /// The bitmaps in the file at `path`, if it exists and can be used.
    fn of(
        store: &'s ObjectStore,
        path: &Path,
        verified: &VerifiedFiles,
        order: impl FnOnce() -> Result<BitOrder<'s>, String>,
    ) -> Option<Self> {
        if !hedgerow_fs::exists(path) {
            return None;
        }
        let open = |order: BitOrder<'s>| {
            let hash = store.hash_kind();
            let file = BitmapFile::open(path, order.checksum(), order.count(), hash, verified)?;
            Ok(Bitmaps {
                order,
                file,
                kinds: Default::default(),
            })
        };
        match order().and_then(open) {
            Ok(bitmaps) => Some(bitmaps),
            Err(reason) => {
                store.warn(format!("'{}': {reason}", path.display()));
                None
            }
        }
    }

    /// The order of their bits.
    pub fn order(&self) -> &BitOrder<'s> {
        &self.order
    }

    /// Number of commits with a bitmap.
    pub fn commit_count(&self) -> u32 {
        self.file.entry_count()
    }

    /// Whether entries can be found without reading all of them.
    pub fn has_lookup_table(&self) -> bool {
        self.file.has_lookup_table()
    }

    /// Whether [`Bitmaps::name_hash`] knows any hashes.
    pub fn has_name_hashes(&self) -> bool {
        self.file.has_name_hashes()
    }

    /// The bits of the commits with a bitmap, in order of their ids.
    pub fn commits(&self) -> Result<Vec<u32>, DamagedBitmap> {
        let rows = self.file.rows().ok_or(DamagedBitmap)?;
        let bits = rows.into_iter().map(|row| self.order.bit_of_row(row));
        bits.collect::<Option<_>>().ok_or(DamagedBitmap)
    }

    /// The objects of one kind.
    pub fn of_kind(&self, kind: ObjectKind) -> Result<&Words, DamagedBitmap> {
        let number = KINDS.iter().position(|other| *other == kind);
        let number = number.ok_or(DamagedBitmap)?;
        let words = self.kinds.get(number).ok_or(DamagedBitmap)?;
        let read = || {
            let mut words = self.empty();
            self.file.add_kind(number, words.as_mut_slice())?;
            Some(words)
        };
        words.get_or_init(read).as_ref().ok_or(DamagedBitmap)
    }

    /// The kind of the object with this bit.
    pub fn kind(&self, bit: u32) -> Result<ObjectKind, DamagedBitmap> {
        for kind in [
            ObjectKind::Tree,
            ObjectKind::Blob,
            ObjectKind::Commit,
            ObjectKind::Tag,
        ] {
            if self.of_kind(kind)?.contains(bit) {
                return Ok(kind);
            }
        }
        Err(DamagedBitmap)
    }

    /// git's hash of the path at which the object with this bit was found; 0 if unknown.
    pub fn name_hash(&self, bit: u32) -> u32 {
        self.order
            .row(bit)
            .map_or(0, |row| self.file.name_hash(row))
    }

    /// The empty set, with room for the bits of all objects.
    pub fn empty(&self) -> Words {
        Words::with_bits(self.order.count() as usize)
    }

    /// Adds the objects reachable from the commit `id` to `reached`, a set with room for all
    /// objects. `Ok(false)` if the commit has no bitmap.
    pub fn add_reachable(&self, id: &oid, reached: &mut Words) -> Result<bool, DamagedBitmap> {
        match self.order.bit(id) {
            Some(bit) => self.add_reachable_from(bit, reached),
            None => Ok(false),
        }
    }

    /// As [`Bitmaps::add_reachable`], for the commit with this bit.
    pub fn add_reachable_from(&self, bit: u32, reached: &mut Words) -> Result<bool, DamagedBitmap> {
        let row = self.order.row(bit).ok_or(DamagedBitmap)?;
        let Some(entry) = self.file.entry_of(row) else {
            return Ok(false);
        };
        if entry.base.is_none() {
            entry
                .set
                .apply(Change::Or, reached.as_mut_slice())
                .ok_or(DamagedBitmap)?;
        } else {
            reached.union(&self.combined(entry)?);
        }
        // A commit reaches itself; otherwise this is not its bitmap.
        if reached.contains(bit) {
            Ok(true)
        } else {
            Err(DamagedBitmap)
        }
    }

    /// ORs into `reached` each pseudo-merge whose commits are all in `reached` or among `tips`.
    /// Returns how many of them added anything.
    pub fn add_pseudo_merges(
        &self,
        tips: &Words,
        reached: &mut Words,
    ) -> Result<u32, DamagedBitmap> {
        let mut added = 0;
        let mut met = tips.clone();
        met.union(reached);
        for number in 0..self.file.pseudo_merge_count() {
            let (commits, closure) = self.file.pseudo_merge(number).ok_or(DamagedBitmap)?;
            let wanted = self.decoded(commits)?;
            if wanted.is_empty() || !met.contains_all(&wanted) {
                continue;
            }
            let closure = self.decoded(closure)?;
            if !reached.contains_all(&closure) {
                reached.union(&closure);
                met.union(&closure);
                added += 1;
            }
        }
        Ok(added)
    }

    /// Number of pseudo-merges.
    pub fn pseudo_merge_count(&self) -> u32 {
        self.file.pseudo_merge_count()
    }

    fn decoded(&self, set: Ewah<'_>) -> Result<Words, DamagedBitmap> {
        let mut words = self.empty();
        set.apply(Change::Or, words.as_mut_slice())
            .ok_or(DamagedBitmap)?;
        Ok(words)
    }

    /// The set of `entry`, XORed with that of its base, and so on. The order does not matter, so no
    /// intermediate set is built.
    fn combined(&self, entry: Entry<'_>) -> Result<Words, DamagedBitmap> {
        let mut words = self.empty();
        let mut current = entry;
        for _ in 0..=self.file.entry_count() {
            current
                .set
                .apply(Change::Xor, words.as_mut_slice())
                .ok_or(DamagedBitmap)?;
            match current.base {
                None => return Ok(words),
                Some(base) => current = self.file.base(base).ok_or(DamagedBitmap)?,
            }
        }
        Err(DamagedBitmap)
    }
}
