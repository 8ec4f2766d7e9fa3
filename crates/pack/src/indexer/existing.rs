//! The existing objects of the repository: a received object with the same id must be identical.

use super::Refusal;
use crate::database::store::ObjectStore;
use crate::error::{Error, Result};
use crate::loose;
use crate::object::Location;
use crate::read::reader::Reader;
use gix_hash::{oid, ObjectId};
use hedgerow_object::ObjectKind;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The objects of a repository before the pack was received.
#[derive(Debug)]
pub(crate) struct Existing<'s> {
    store: &'s ObjectStore,
    /// Loose objects, listed once to avoid a system call for each lookup.
    loose: HashMap<ObjectId, u32>,
    /// The pack that is being indexed, if it belongs to the repository.
    own: Option<PathBuf>,
}

impl<'s> Existing<'s> {
    /// Lists the objects of `store`, without the pack at `own`.
    pub fn list(store: &'s ObjectStore, own: Option<&Path>) -> Result<Self> {
        let mut found = HashMap::new();
        for (directory, number) in store.directories.iter().zip(0..) {
            for byte in 0..=u8::MAX {
                let ids = loose::list(directory, byte, store.options.hash)?;
                found.extend(ids.into_iter().map(|id| (id, number)));
            }
        }
        Ok(Existing {
            store,
            loose: found,
            own: own.and_then(|path| hedgerow_fs::real_path(path).ok()),
        })
    }

    /// The location of `id`, if it exists outside the pack that is being indexed. `search` is kept by
    /// the caller for the next one.
    fn locate(&self, id: &oid, search: &mut Search) -> Result<Option<Location>> {
        if let Some(found) = self.store.locate_packed(id, &mut search.hint)? {
            return Ok(Some(found).filter(|found| !self.is_own(*found, search)));
        }
        let directory = self.loose.get(id).copied();
        Ok(directory.map(|directory| Location::Loose { directory }))
    }

    fn is_own(&self, location: Location, search: &mut Search) -> bool {
        let (Some(own), Some(place)) = (&self.own, location.place()) else {
            return false;
        };
        if search.examined.is_none_or(|(pack, _)| pack != place.pack) {
            let path = self.store.pack(place.pack).map(|pack| pack.path());
            let path = path.and_then(|path| hedgerow_fs::real_path(path).ok());
            search.examined = Some((place.pack, path.as_ref() == Some(own)));
        }
        search.examined.is_some_and(|(_, is_own)| is_own)
    }
}

/// What a search for an object leaves for the next one.
#[derive(Debug, Default)]
struct Search {
    /// The pack in which the last object was found.
    hint: Option<u32>,
    /// A pack, and whether it is the one that is being indexed.
    examined: Option<(u32, bool)>,
}

/// Compares objects with existing ones; each thread has one.
#[derive(Debug)]
pub(crate) struct Comparison<'e> {
    existing: &'e Existing<'e>,
    reader: Reader<'e>,
    search: Search,
}

impl<'e> Comparison<'e> {
    pub fn new(existing: &'e Existing<'e>) -> Self {
        Comparison {
            existing,
            reader: Reader::new(existing.store),
            search: Search::default(),
        }
    }

    /// Whether the repository contains `id`.
    pub fn has(&mut self, id: &oid) -> Result<bool> {
        Ok(self.existing.locate(id, &mut self.search)?.is_some())
    }

    /// Refuses an object that exists in the repository with a different content.
    pub fn compare(&mut self, id: &ObjectId, kind: ObjectKind, content: &[u8]) -> Result<()> {
        let Some(location) = self.existing.locate(id, &mut self.search)? else {
            return Ok(());
        };
        let unreadable = |_| Error::Refused(Refusal::Unreadable(*id));
        let (found, existing) = self.reader.read(id, location).map_err(unreadable)?;
        if found == kind && existing == content {
            Ok(())
        } else {
            Err(Refusal::Collision(*id).into())
        }
    }

    /// As [`Comparison::compare`] for a blob that is too large for memory: `same` compares the next
    /// piece.
    pub fn compare_pieces(
        &mut self,
        id: &ObjectId,
        size: u64,
        same: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        let Some(location) = self.existing.locate(id, &mut self.search)? else {
            return Ok(());
        };
        let mut is_same = true;
        let streamed = self.reader.stream(id, location, &mut |piece| {
            is_same = is_same && same(piece);
            Ok(())
        });
        let header = streamed.map_err(|_| Error::Refused(Refusal::Unreadable(*id)))?;
        if is_same && (header.kind, header.size) == (ObjectKind::Blob, size) {
            Ok(())
        } else {
            Err(Refusal::Collision(*id).into())
        }
    }
}
