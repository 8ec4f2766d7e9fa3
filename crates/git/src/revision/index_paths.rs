//! What `:PATH` and `:N:PATH` name, for those who resolve many words.

use super::Wanted;
use crate::index::{Index, Stage};
use crate::repository::Repository;
use crate::Result;
use bstr::{BStr, ByteSlice};
use hedgerow_pack::ObjectId;
use std::cell::OnceCell;

/// The paths of the index of a repository, which is read once it is asked for.
#[derive(Debug)]
pub struct IndexPaths<'r> {
    repository: &'r Repository,
    index: OnceCell<Option<Index>>,
}

impl<'r> IndexPaths<'r> {
    /// Those of the index of `repository`.
    pub fn new(repository: &'r Repository) -> Self {
        let index = OnceCell::new();
        IndexPaths { repository, index }
    }

    /// The object and the mode of `path` at a stage, 0 to 3.
    pub fn find(&self, path: &BStr, stage: u8) -> Result<Option<(ObjectId, u32)>> {
        let (Some(index), Some(stage)) = (self.index()?, Stage::from_number(stage)) else {
            return Ok(None);
        };
        if let Ok(at) = index.find(path, stage) {
            let entry = index.entries().get(at);
            return Ok(entry.map(|entry| (entry.id, entry.mode.to_u32())));
        }
        if index.has_sparse_directories() && stage == Stage::Merged {
            self.in_sparse_directory(index, path)
        } else {
            Ok(None)
        }
    }

    /// Looks in the directory above `path` that is one entry of a sparse index.
    fn in_sparse_directory(&self, index: &Index, path: &BStr) -> Result<Option<(ObjectId, u32)>> {
        let slashes = path.find_iter(b"/");
        for (directory, rest) in slashes.map(|at| path.split_at(at + 1)) {
            let found = index.find(directory.as_bstr(), Stage::Merged);
            let Some(entry) = found.ok().and_then(|at| index.entries().get(at)) else {
                continue;
            };
            let spec = [entry.id.to_string().as_bytes(), b":", rest].concat();
            let found = self
                .repository
                .resolve_with(spec.as_bstr(), Wanted::Any, None);
            return Ok(found.ok().and_then(|found| Some((found.id, found.mode?))));
        }
        Ok(None)
    }

    fn index(&self) -> Result<Option<&Index>> {
        if self.index.get().is_none() {
            let loaded = self.repository.load_index()?;
            let _ = self.index.set(loaded.map(|(index, _)| index));
        }
        Ok(self.index.get().and_then(Option::as_ref))
    }
}
