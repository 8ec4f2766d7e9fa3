//! Reading objects, with replacements: git-replace(1).

use super::Repository;
use crate::tree::limits::TREE_LIMIT_BYTES;
use crate::{Error, Result};
use hedgerow_fs::{LockFile, OutputFile};
use hedgerow_pack::{oid, ObjectId, ObjectKind, ObjectStore, Reader};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Replacements of replacements are followed this far, as git does.
const REPLACEMENT_DEPTH: usize = 5;

/// A view of a repository's objects that workers may share: the store, and what replaces what.
#[derive(Clone, Copy, Debug)]
pub struct Objects<'r> {
    /// The store of the repository's objects, alternates included.
    pub store: &'r ObjectStore,
    /// What replaces what.
    pub replacements: &'r HashMap<ObjectId, ObjectId>,
}

impl Objects<'_> {
    /// What is read instead of `id`: the end of the chain of `refs/replace/`, or `id` itself.
    pub fn replacement(&self, id: &oid) -> Result<ObjectId> {
        let mut current = id.to_owned();
        if self.replacements.is_empty() {
            return Ok(current);
        }
        for _ in 0..REPLACEMENT_DEPTH {
            match self.replacements.get(&current) {
                Some(next) => current = *next,
                None => return Ok(current),
            }
        }
        Err(Error::Setup {
            reason: format!("replace depth too high for object {id}"),
        })
    }
}

impl Objects<'_> {
    /// The content of the tree `id`, which `reader` keeps until it reads another object.
    ///
    /// Fails if it is missing, cannot be read, or is no tree.
    pub(crate) fn read_tree<'b>(
        &self,
        reader: &'b mut Reader<'_>,
        id: ObjectId,
    ) -> Result<&'b [u8]> {
        let id = self.replacement(&id)?;
        if id.is_empty_tree() {
            return Ok(&[]);
        }
        let location = self.store.locate(&id)?;
        let location = location.ok_or(hedgerow_pack::Error::Missing { id })?;
        match reader.read_within(&id, location, TREE_LIMIT_BYTES)? {
            (ObjectKind::Tree, content) => Ok(content),
            (kind, _) => Err(Error::CorruptObject {
                kind: "tree",
                id,
                reason: format!("a {} where a tree is expected", kind.name()),
            }),
        }
    }
}

impl Repository {
    /// The view of its objects that workers may share.
    pub fn shared_objects(&self) -> Objects<'_> {
        Objects {
            store: &self.objects,
            replacements: &self.replacements,
        }
    }

    /// Lets those who share the repository (`core.sharedRepository`) read the files of the pack at `pack`.
    ///
    /// # Errors
    /// If that is not allowed.
    pub fn share_pack(&self, pack: &Path) -> Result<()> {
        let sharing = self.settings().sharing;
        let files = ["pack", "idx", "rev", "mtimes", "bitmap"];
        let mut files = files.iter().map(|extension| pack.with_extension(extension));
        files.try_for_each(|file| sharing.open_file(&file))
    }

    /// Lets them use the file at `path`, which may not be there.
    ///
    /// # Errors
    /// As for [`Repository::share_pack`].
    pub fn share_file(&self, path: &Path) -> Result<()> {
        self.settings().sharing.open_file(path)
    }

    /// Lets them use a file that has no name yet.
    ///
    /// # Errors
    /// As for [`Repository::share_pack`].
    pub fn share_output(&self, file: &OutputFile) -> Result<()> {
        self.settings().sharing.open_output(file)
    }

    /// Lets them use a file that is still a lock.
    ///
    /// # Errors
    /// As for [`Repository::share_pack`].
    pub fn share_lock(&self, lock: &LockFile) -> Result<()> {
        self.settings().sharing.open_lock(lock)
    }

    /// Creates the directory `path` and those above it that are missing, for them as well.
    ///
    /// # Errors
    /// As for [`Repository::share_pack`], and if it cannot be created.
    pub fn create_shared_directories(&self, path: &Path) -> Result<()> {
        self.settings().sharing.create_directories(path)
    }

    /// The store of the repository's objects, alternates included.
    pub fn objects(&self) -> &ObjectStore {
        &self.objects
    }

    /// The same store, for those who may outlive the repository.
    pub(crate) fn store(&self) -> Arc<ObjectStore> {
        self.objects.clone()
    }

    /// The kind and content of the object `id`, or of what replaces it.
    pub fn read_object(&self, id: &oid) -> Result<(ObjectKind, Vec<u8>)> {
        let id = self.replacement(id)?;
        match self.objects.read(&id) {
            Err(hedgerow_pack::Error::Missing { .. }) if id.is_empty_tree() => {
                Ok((ObjectKind::Tree, Vec::new()))
            }
            read => Ok(read?),
        }
    }

    /// Bytes of the content of the object `id`, as its header says; for limits.
    pub fn object_size(&self, id: &oid) -> Result<u64> {
        let id = self.replacement(id)?;
        match self.objects.locate(&id)? {
            Some(location) => Ok(Reader::new(&self.objects).size_bytes(&id, location)?),
            None if id.is_empty_tree() => Ok(0),
            None => Err(hedgerow_pack::Error::Missing { id }.into()),
        }
    }

    /// Whether there is an object `id`. The empty tree needs none, as in git.
    pub fn has_object(&self, id: &oid) -> Result<bool> {
        Ok(id.is_empty_tree() || self.objects.locate(id)?.is_some())
    }

    /// Whether the repository has the tree `id`. The empty one needs no object.
    pub fn has_tree(&self, id: &oid) -> bool {
        matches!(self.has_object(id), Ok(true))
    }

    /// What is read instead of `id`: see [`Objects::replacement`].
    pub fn replacement(&self, id: &oid) -> Result<ObjectId> {
        self.shared_objects().replacement(id)
    }

    /// Reads the map of replacements: references below `refs/replace/` (or the base given by the
    /// environment) whose last part is an object id.
    pub(crate) fn load_replacements(&self) -> Result<HashMap<ObjectId, ObjectId>> {
        let mut replacements = HashMap::new();
        let enabled = self.config.bool("core.useReplaceRefs")?.unwrap_or(true);
        if !enabled || self.environment.no_replace_objects {
            return Ok(replacements);
        }
        let base = self.environment.replace_ref_base.as_deref();
        let base = base.map_or(b"refs/replace/".as_slice(), |base| base.as_slice());
        for reference in self.references_below(base.into())? {
            let name = reference.name.as_slice();
            let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
            if let (Ok(id), Some(target)) = (ObjectId::from_hex(last), reference.id) {
                replacements.insert(id, target);
            }
        }
        Ok(replacements)
    }
}
