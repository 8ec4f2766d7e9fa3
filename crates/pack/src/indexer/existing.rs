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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

/// The objects of a repository before the pack was received.
#[derive(Debug)]
pub(crate) struct Existing<'s> {
    store: &'s ObjectStore,
    /// The loose objects by the first byte of their ids.
    loose: Vec<Loose>,
    /// The pack that is being indexed, if it belongs to the repository.
    own: Option<PathBuf>,
}

/// The loose objects whose ids start with the same byte.
#[derive(Debug, Default)]
struct Loose {
    /// The numbers of the object directories that may have some.
    directories: Vec<u32>,
    was_asked: AtomicBool,
    /// All of them, once more than one was asked for: that saves the system call for each.
    listed: OnceLock<HashMap<ObjectId, u32>>,
}

impl Loose {
    /// The number of the directory of `store` that has `id`.
    fn find(&self, store: &ObjectStore, id: &oid) -> Result<Option<u32>> {
        if self.directories.is_empty() {
            return Ok(None);
        }
        if let Some(listed) = self.listed.get() {
            return Ok(listed.get(id).copied());
        }
        let directories = || {
            let path = |number: &u32| Some((*number, store.directories.get(*number as usize)?));
            self.directories.iter().filter_map(path)
        };
        if !self.was_asked.swap(true, Ordering::Relaxed) {
            for (number, directory) in directories() {
                if hedgerow_fs::is_there(&loose::path(directory, id))? {
                    return Ok(Some(number));
                }
            }
            return Ok(None);
        }
        let mut found = HashMap::new();
        for (number, directory) in directories() {
            let ids = loose::list(directory, id.first_byte(), store.options.hash)?;
            found.extend(ids.into_iter().map(|id| (id, number)));
        }
        Ok(self.listed.get_or_init(|| found).get(id).copied())
    }
}

impl<'s> Existing<'s> {
    /// The objects of `store`, without the pack at `own`.
    pub fn new(store: &'s ObjectStore, own: Option<&Path>) -> Result<Self> {
        let mut loose: Vec<Loose> = (0..=u8::MAX).map(|_| Loose::default()).collect();
        for (directory, number) in store.directories.iter().zip(0..) {
            for entry in hedgerow_fs::list_directory(directory)?.unwrap_or_default() {
                let name = std::str::from_utf8(&entry.name).ok();
                let byte = name.filter(|name| name.len() == 2);
                let byte = byte.and_then(|name| u8::from_str_radix(name, 16).ok());
                if let Some(loose) = byte.and_then(|byte| loose.get_mut(usize::from(byte))) {
                    loose.directories.push(number);
                }
            }
        }
        Ok(Existing {
            store,
            loose,
            own: own.and_then(|path| hedgerow_fs::real_path(path).ok()),
        })
    }

    /// The location of `id`, if it exists outside the pack that is being indexed. `search` is kept by
    /// the caller for the next one.
    fn locate(&self, id: &oid, search: &mut Search) -> Result<Option<Location>> {
        if let Some(found) = self.store.locate_packed(id, &mut search.hint)? {
            return Ok(Some(found).filter(|found| !self.is_own(*found, search)));
        }
        let Some(loose) = self.loose.get(usize::from(id.first_byte())) else {
            return Ok(None);
        };
        let directory = loose.find(self.store, id)?;
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
