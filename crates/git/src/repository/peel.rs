//! Following tags and commits to the kind of object that is wanted.

use super::Repository;
use crate::{Error, Result};
use hedgerow_object::CycleGuard;
use hedgerow_pack::{oid, ObjectId, ObjectKind, Reader};

impl Repository {
    /// What `id` leads to: past all tags for `None`, else the object of the kind `wanted` on the
    /// way, where a commit also leads to its tree. `Ok(None)` if there is no such object there.
    pub fn peel(&self, id: &oid, wanted: Option<ObjectKind>) -> Result<Option<ObjectId>> {
        self.peeler().peel(id, wanted)
    }

    /// As [`Repository::peel`]; `None` also if an object on the way is not there, so that the words that
    /// name it name nothing.
    pub(crate) fn peel_if_there(
        &self,
        id: &oid,
        wanted: Option<ObjectKind>,
    ) -> Result<Option<ObjectId>> {
        match self.peel(id, wanted) {
            Err(Error::Pack(hedgerow_pack::Error::Missing { .. })) => Ok(None),
            peeled => peeled,
        }
    }

    /// Peels many objects.
    pub fn peeler(&self) -> Peeler<'_> {
        Peeler {
            repository: self,
            reader: Reader::new(self.objects()),
        }
    }

    /// The tree that `id` leads to, if it leads to one.
    pub fn tree_of(&self, id: &oid) -> Result<Option<ObjectId>> {
        if id.is_empty_tree() {
            return Ok(Some(id.to_owned()));
        }
        self.peel(id, Some(ObjectKind::Tree))
    }

    /// The annotated tags from `id` on, each of the next one, and what the last one is of. None if
    /// `id` is no tag.
    pub fn tag_chain(&self, id: &oid) -> Result<(Vec<ObjectId>, ObjectId)> {
        let mut id = id.to_owned();
        let mut tags = Vec::new();
        let mut guard = CycleGuard::new(&id);
        while self.object_kind(&id)? == ObjectKind::Tag {
            tags.push(id);
            id = self.tag_target(&id)?;
            if guard.is_cycle(&id) {
                return Err(endless(id));
            }
        }
        Ok((tags, id))
    }

    /// The kind of the object `id`, or of what replaces it.
    pub fn object_kind(&self, id: &oid) -> Result<ObjectKind> {
        self.peeler().kind(id)
    }
}

/// Follows tags and commits, with one reader for all of them.
#[derive(Debug)]
pub struct Peeler<'r> {
    repository: &'r Repository,
    reader: Reader<'r>,
}

impl Peeler<'_> {
    /// As [`Repository::peel`].
    pub fn peel(&mut self, id: &oid, wanted: Option<ObjectKind>) -> Result<Option<ObjectId>> {
        let mut id = id.to_owned();
        let mut guard = CycleGuard::new(&id);
        loop {
            let kind = self.kind(&id)?;
            if wanted == Some(kind) || (wanted.is_none() && kind != ObjectKind::Tag) {
                return Ok(Some(id));
            }
            match kind {
                ObjectKind::Tag => id = self.repository.tag_target(&id)?,
                ObjectKind::Commit if wanted == Some(ObjectKind::Tree) => {
                    return Ok(Some(self.repository.commit(&id)?.tree));
                }
                _ => return Ok(None),
            }
            if guard.is_cycle(&id) {
                return Err(endless(id));
            }
        }
    }

    fn kind(&mut self, id: &oid) -> Result<ObjectKind> {
        let found = self.repository.replacement(id)?;
        match self.repository.objects().locate(&found)? {
            Some(location) => Ok(self.reader.header(&found, location)?.kind),
            None if found.is_empty_tree() => Ok(ObjectKind::Tree),
            None => Err(hedgerow_pack::Error::Missing { id: found }.into()),
        }
    }
}

fn endless(id: ObjectId) -> Error {
    Error::CorruptObject {
        kind: "tag",
        id,
        reason: "it starts a chain of tags that has no end".into(),
    }
}
