//! The index of a repository.

use super::Repository;
use crate::index::Index;
use crate::{Error, Result};
use hedgerow_fs::Stat;

impl Repository {
    /// The index, with the stat data of its file; `None` if there is none.
    ///
    /// # Errors
    /// Like [`Index::load`]; also if `index.threads` is neither a boolean nor a number, and if the index is
    /// sparse where the settings ask for a split one: git does not read that either.
    pub(crate) fn load_index(&self) -> Result<Option<(Index, Stat)>> {
        self.config().check_index_threads()?;
        let loaded = Index::load(self.index_path(), self.git_dir(), self.hash_kind())?;
        let is_sparse = |(index, _): &(Index, Stat)| index.has_sparse_directories();
        if loaded.as_ref().is_some_and(is_sparse) && self.wants_split_index() == Some(true) {
            return Err(Error::SparseAndSplitIndex);
        }
        Ok(loaded)
    }

    /// `core.splitIndex`. What is no boolean counts as not set.
    pub(crate) fn wants_split_index(&self) -> Option<bool> {
        self.config().bool("core.splitIndex").ok().flatten()
    }
}
