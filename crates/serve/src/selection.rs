use crate::{Result, Wanted};
use hedgerow_pack::{oid, Location, ObjectStore};
use std::collections::HashSet;

/// Which objects are left out of a pack because of their location: git-pack-objects(1).
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Leave out objects that are in any pack.
    pub incremental: bool,
    /// Leave out objects of alternates.
    pub local: bool,
    /// Leave out objects in packs of the own directory that have a `.keep` file.
    pub honor_pack_keep: bool,
    /// Leave out objects in these packs, by their numbers in the store.
    pub left_out: Vec<u32>,
}

impl Selection {
    /// The packs of the own directory whose files are called one of `names`.
    pub fn named_packs(store: &ObjectStore, names: &[String]) -> Vec<u32> {
        let named = store.pack_files().filter(|(number, path, _)| {
            let name = path.file_name().and_then(|name| name.to_str());
            let is_named = |name: &str| names.iter().any(|other| other == name);
            store.is_local_pack(*number) && name.is_some_and(is_named)
        });
        named.map(|(number, ..)| number).collect()
    }
}

/// Applies a [`Selection`] to the objects of one store.
pub struct Selector<'s> {
    store: &'s ObjectStore,
    incremental: bool,
    /// Whether loose objects of alternates are left out.
    local: bool,
    /// The packs whose objects are left out.
    packs: Vec<u32>,
}

impl<'s> Selector<'s> {
    /// A selector for `store` with its current packs.
    pub fn new(store: &'s ObjectStore, selection: &Selection) -> Self {
        let mut packs: HashSet<u32> = selection.left_out.iter().copied().collect();
        for (number, path, _) in store.pack_files() {
            let is_own = store.is_local_pack(number);
            let is_kept = || hedgerow_fs::exists(&path.with_extension("keep"));
            if selection.local && !is_own || selection.honor_pack_keep && is_own && is_kept() {
                packs.insert(number);
            }
        }
        let mut packs: Vec<u32> = packs.into_iter().collect();
        packs.sort_unstable();
        Selector {
            store,
            incremental: selection.incremental,
            local: selection.local,
            packs,
        }
    }

    /// Whether nothing is left out.
    pub fn takes_all(&self) -> bool {
        !self.incremental && !self.local && self.packs.is_empty()
    }

    /// Whether the object `id` is left out.
    pub fn leaves_out(&self, id: &oid) -> bool {
        let in_pack = |number: &u32| self.store.offset_in_pack(*number, id).is_some();
        self.packs.iter().any(in_pack)
            || self.incremental && self.store.is_packed(id)
            || self.local && self.is_borrowed(id)
    }

    /// The location of the object `id`, unless it is left out.
    ///
    /// # Errors
    /// [`crate::Error::Object`] if it is missing.
    pub fn select(&self, id: &oid) -> Result<Option<Location>> {
        if self.leaves_out(id) {
            return Ok(None);
        }
        let missing = || hedgerow_pack::Error::Missing { id: id.to_owned() };
        Ok(Some(self.store.locate(id)?.ok_or_else(missing)?))
    }

    /// Removes from `wanted` what is left out. Returns whether there was any.
    pub fn retain(&self, wanted: &mut Vec<Wanted>) -> bool {
        if self.takes_all() {
            return false;
        }
        let before = wanted.len();
        wanted.retain(|object| !self.leaves_out(&object.id));
        wanted.len() < before
    }

    fn is_borrowed(&self, id: &oid) -> bool {
        let is_foreign = |copy| matches!(copy, Location::Loose { directory } if directory > 0);
        self.store.has_alternates() && self.store.all_copies(id).any(is_foreign)
    }
}
