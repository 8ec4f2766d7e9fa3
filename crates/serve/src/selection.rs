use crate::Result;
use hedgerow_pack::{oid, Location, ObjectStore};
use std::collections::HashMap;

/// Which objects are left out of a pack because of where they are: git-pack-objects(1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// Leave out what is in a pack already.
    pub incremental: bool,
    /// Leave out what an alternate has.
    pub local: bool,
    /// Leave out what is in a pack of the own directory that has a `.keep` file.
    pub honor_pack_keep: bool,
}

/// Applies a [`Selection`] to the objects of one store.
pub struct Selector<'s> {
    store: &'s ObjectStore,
    selection: Selection,
    /// Whether a pack is to be kept.
    kept: HashMap<u32, bool>,
}

impl<'s> Selector<'s> {
    /// A selector for `store`.
    pub fn new(store: &'s ObjectStore, selection: Selection) -> Self {
        Selector {
            store,
            selection,
            kept: HashMap::new(),
        }
    }

    /// Where the object `id` is, unless it is left out.
    ///
    /// # Errors
    /// [`crate::Error::Object`] if it is nowhere.
    pub fn select(&mut self, id: &oid) -> Result<Option<Location>> {
        let Selection {
            incremental,
            local,
            honor_pack_keep,
        } = self.selection;
        if incremental || local || honor_pack_keep {
            for copy in self.store.all_copies(id) {
                let left_out = match copy {
                    Location::Loose { directory } => local && directory > 0,
                    Location::Packed { pack, .. } => {
                        let is_own = self.store.is_local_pack(pack);
                        incremental
                            || local && !is_own
                            || honor_pack_keep && is_own && self.is_kept(pack)
                    }
                };
                if left_out {
                    return Ok(None);
                }
            }
        }
        let missing = || hedgerow_pack::Error::Missing { id: id.to_owned() };
        Ok(Some(self.store.locate(id)?.ok_or_else(missing)?))
    }

    fn is_kept(&mut self, pack: u32) -> bool {
        let store = self.store;
        let has_file = || {
            let path = store.pack_path(pack);
            path.is_some_and(|path| hedgerow_fs::exists(&path.with_extension("keep")))
        };
        *self.kept.entry(pack).or_insert_with(has_file)
    }
}
