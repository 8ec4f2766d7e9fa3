//! The loose objects of the object directories.

use super::store::ObjectStore;
use crate::error::Result;
use crate::loose;
use crate::object::Location;
use gix_hash::{oid, ObjectId};
use std::path::PathBuf;

impl ObjectStore {
    /// The loose objects of the store's own directory whose ids start with `byte`, in order of
    /// ids.
    pub fn own_loose_objects(&self, byte: u8) -> Result<Vec<ObjectId>> {
        let mut found = loose::list(self.directory(), byte, self.options.hash)?;
        found.sort_unstable();
        Ok(found)
    }

    /// The file that the loose object `id` of the store's own directory has or would have.
    pub fn own_loose_path(&self, id: &oid) -> PathBuf {
        loose::path(self.directory(), id)
    }

    /// The loose objects of all object directories whose ids start with `byte`, in order of ids,
    /// each once.
    pub fn loose_objects(&self, byte: u8) -> Result<Vec<ObjectId>> {
        let mut found = Vec::new();
        for directory in &self.directories {
            found.extend(loose::list(directory, byte, self.options.hash)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Makes the file that has the object `id` look new, so that it is not deleted soon though
    /// nothing reaches the object yet. Says whether that could be done.
    pub fn freshen(&self, id: &oid, location: Location) -> bool {
        match location {
            Location::Packed { pack, .. } => self
                .pack_path(pack)
                .is_some_and(|path| hedgerow_fs::touch(path).is_ok()),
            Location::Loose { directory } => self
                .directories
                .get(directory as usize)
                .is_some_and(|objects| hedgerow_fs::touch(&loose::path(objects, id)).is_ok()),
        }
    }

    /// Opens the file of a loose object. Nothing is waited for, and nothing read that has no end: it is a
    /// regular file, maybe behind a link.
    pub(crate) fn open_loose(
        &self,
        directory: u32,
        id: &oid,
    ) -> hedgerow_fs::Result<hedgerow_fs::ReadFile> {
        let objects = self
            .directories
            .get(directory as usize)
            .map(PathBuf::as_path);
        hedgerow_fs::ReadFile::open_regular(&loose::path(objects.unwrap_or("".as_ref()), id))
    }

    /// The length of the file of a loose object, if it is there.
    pub(crate) fn loose_file_size(&self, directory: u32, id: &oid) -> Option<u64> {
        let objects = self.directories.get(directory as usize)?;
        Some(hedgerow_fs::stat(&loose::path(objects, id)).ok()??.size)
    }
}
