//! Entries of packs that are copied as they are.

use crate::{Contents, Error, PackOptions, Result, Verbatim, Wanted};
use hedgerow_pack::{
    EntryForm, Fault, Location, ObjectId, ObjectStore, PackEntries, RawEntry, Reader,
};
use std::collections::HashMap;

/// The entries to copy, by pack.
pub(crate) struct KeptPacks<'s> {
    packs: Vec<Kept<'s>>,
    /// Indexes into `packs`, by pack number.
    places: HashMap<u32, usize>,
}

impl<'s> KeptPacks<'s> {
    /// The verbatim part of `contents` without the entries that cannot be copied.
    pub fn new(
        store: &'s ObjectStore,
        contents: &Contents<'_>,
        options: &PackOptions,
    ) -> Result<Self> {
        let kept = |verbatim| Kept::new(store, verbatim, options);
        let packs = contents.verbatim.iter().map(kept);
        let packs = packs.collect::<Result<Vec<_>>>()?;
        let places = packs.iter().map(|kept| kept.pack).zip(0..).collect();
        Ok(KeptPacks { packs, places })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Kept<'s>> + '_ {
        self.packs.iter()
    }

    /// Number of copied entries.
    pub fn count(&self) -> u64 {
        self.packs.iter().map(|kept| u64::from(kept.count)).sum()
    }

    /// The selected entries that cannot be copied.
    pub fn rejected(&self) -> impl Iterator<Item = &Wanted> + '_ {
        self.packs.iter().flat_map(|kept| &kept.rejected)
    }

    /// Whether the object at `location` is copied.
    pub fn has(&self, location: Location) -> bool {
        let Location::Packed { pack, .. } = location else {
            return false;
        };
        let kept = self.places.get(&pack).and_then(|at| self.packs.get(*at));
        kept.is_some_and(|kept| kept.has(location))
    }

    /// Where the object `id` is copied from: the number of the pack, and the offset in it.
    pub fn find(&self, id: &ObjectId) -> Option<(u32, u64)> {
        let find = |kept: &Kept<'_>| Some((kept.pack, kept.offset_of(id)?));
        self.packs.iter().find_map(find)
    }
}

/// The selection of a [`Verbatim`] without the entries that cannot be copied: deltas whose base is
/// not copied too.
pub(crate) struct Kept<'s> {
    pub entries: PackEntries<'s>,
    store: &'s ObjectStore,
    /// The number of the pack.
    pub pack: u32,
    words: Vec<u64>,
    /// Number of copied entries.
    pub count: u32,
    /// Number of copied entries at the start of the pack, before the first gap: the distances
    /// between them stay the same.
    pub leading: u32,
    /// The selected entries that cannot be copied.
    pub rejected: Vec<Wanted>,
}

impl<'s> Kept<'s> {
    /// Reads the headers of the selected entries once, in order.
    fn new(store: &'s ObjectStore, verbatim: &Verbatim<'_>, options: &PackOptions) -> Result<Self> {
        let Verbatim { pack, words } = *verbatim;
        let failed = |fault| copy_error(store, pack, fault);
        let entries = store.pack_entries(pack).map_err(failed)?;
        let length = (entries.count() as usize).div_ceil(64);
        let mut kept = Kept {
            entries,
            store,
            pack,
            words: words.iter().copied().take(length).collect(),
            count: 0,
            leading: 0,
            rejected: Vec::new(),
        };
        kept.words.resize(length, 0);
        if let (Some(last), 1..) = (kept.words.last_mut(), entries.count() % 64) {
            *last &= (1 << (entries.count() % 64)) - 1;
        }
        kept.reject(options)?;
        kept.count = kept.words.iter().map(|word| word.count_ones()).sum();
        Ok(kept)
    }

    /// Clears the bits of entries that cannot be copied. The base of an offset delta precedes it,
    /// so that one pass decides these. Reference deltas, which git writes only where it must, are
    /// checked repeatedly until nothing changes.
    fn reject(&mut self, options: &PackOptions) -> Result<()> {
        self.leading = self.leading_ones();
        if self.leading == self.entries.count() && options.reuse_deltas {
            // A whole pack contains every base.
            return Ok(());
        }
        let mut references = Vec::new();
        let mut next = 0;
        while let Some(order) = self.next_selected(next) {
            next = order + 1;
            let raw = self.entry(order)?;
            let copied = match raw.kind {
                EntryForm::Whole(_) => true,
                EntryForm::OffsetDelta(_) | EntryForm::ReferenceDelta(_)
                    if !options.reuse_deltas =>
                {
                    false
                }
                // What an unbroken row of entries starts with are their bases too.
                EntryForm::OffsetDelta(_) if order < self.leading => true,
                EntryForm::OffsetDelta(base) => self
                    .entries
                    .order_before(order, base)
                    .is_some_and(|at| self.selects(at)),
                EntryForm::ReferenceDelta(base) => {
                    references.push((order, base));
                    true
                }
            };
            if !copied {
                self.clear(order)?;
            }
        }
        let lost = |kept: &Self, base: &ObjectId| kept.offset_of(base).is_none();
        if references.iter().any(|(_, base)| lost(self, base)) {
            self.reject_without_base()?;
        }
        self.leading = self.leading.min(self.leading_ones());
        Ok(())
    }

    /// Clears the bits of all deltas whose chain of copied deltas does not end in a copied whole
    /// object, in rounds until one clears none.
    fn reject_without_base(&mut self) -> Result<()> {
        loop {
            let mut cleared = false;
            let mut next = 0;
            while let Some(order) = self.next_selected(next) {
                next = order + 1;
                let stands = match self.entry(order)?.kind {
                    EntryForm::Whole(_) => true,
                    EntryForm::ReferenceDelta(base) => self.offset_of(&base).is_some(),
                    EntryForm::OffsetDelta(base) => self
                        .entries
                        .order_before(order, base)
                        .is_some_and(|at| self.selects(at)),
                };
                if !stands {
                    self.clear(order)?;
                    cleared = true;
                }
            }
            if !cleared {
                return Ok(());
            }
        }
    }

    fn clear(&mut self, order: u32) -> Result<()> {
        let outside = || copy_error(self.store, self.pack, Fault::Outside);
        let offset = self.entries.offset(order).ok_or_else(outside)?;
        let id = self.entries.id(order).ok_or_else(outside)?;
        let location = Location::Packed {
            pack: self.pack,
            offset,
        };
        let kind = Reader::new(self.store).kind(&id, location)?;
        self.rejected.push(Wanted {
            id,
            location,
            kind,
            name_hash: 0,
        });
        if let Some(word) = self.words.get_mut((order / 64) as usize) {
            *word &= !(1 << (order % 64));
        }
        Ok(())
    }

    /// The first copied entry from `order` on.
    pub fn next_selected(&self, order: u32) -> Option<u32> {
        let mut at = (order / 64) as usize;
        let mut word = self.words.get(at)? & (u64::MAX << (order % 64));
        while word == 0 {
            at += 1;
            word = *self.words.get(at)?;
        }
        Some(at as u32 * 64 + word.trailing_zeros())
    }

    /// Whether the entry `order` is copied.
    pub fn selects(&self, order: u32) -> bool {
        let word = self.words.get((order / 64) as usize);
        word.is_some_and(|word| word >> (order % 64) & 1 != 0)
    }

    /// Whether the object at `location` is copied.
    pub fn has(&self, location: Location) -> bool {
        match location {
            Location::Packed { pack, offset } if pack == self.pack => {
                let order = self.entries.order_of(offset);
                order.is_some_and(|order| self.selects(order))
            }
            _ => false,
        }
    }

    /// The offset of the object `id` in the pack, if it is copied.
    pub fn offset_of(&self, id: &ObjectId) -> Option<u64> {
        let offset = self.entries.offset_of(id)?;
        let pack = self.pack;
        self.has(Location::Packed { pack, offset })
            .then_some(offset)
    }

    /// The entry `order`.
    pub fn entry(&self, order: u32) -> Result<RawEntry<'s>> {
        let entry = self.entries.entry(order);
        entry.map_err(|fault| copy_error(self.store, self.pack, fault))
    }

    /// The error for a pack that cannot be copied.
    pub fn fault(&self, fault: Fault) -> Error {
        copy_error(self.store, self.pack, fault)
    }

    fn leading_ones(&self) -> u32 {
        let full = self.words.iter().take_while(|word| **word == u64::MAX);
        let full = full.count();
        let rest = self.words.get(full).map_or(0, |word| word.trailing_ones());
        full as u32 * 64 + rest
    }
}

fn copy_error(store: &ObjectStore, pack: u32, fault: Fault) -> Error {
    let pack = store.pack_path(pack).unwrap_or("".as_ref()).to_owned();
    Error::Copy { pack, fault }
}
