//! What a checkout holds from its first step to its last: the lock on the index, and the working
//! tree.

use crate::index::Index;
use crate::repository::Repository;
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::LockFile;
use std::ops::{Deref, DerefMut};

pub(crate) struct Session<'r> {
    worktree: Worktree<'r>,
    lock: Option<LockFile>,
    current_directory: Option<BString>,
}

impl<'r> Session<'r> {
    /// Takes the lock on the index and opens the working tree.
    pub(crate) fn begin(
        repository: &'r Repository,
        threshold: Option<u64>,
        execution: &Execution,
    ) -> Result<Self> {
        repository.require_work_tree()?;
        let lock = LockFile::acquire(repository.index_path())?;
        let prefix = repository
            .prefix()
            .trim_end_with(|character| character == '/');
        let mut worktree = Worktree::open(repository, execution, "checkout")?;
        worktree.set_threshold(threshold);
        Ok(Session {
            worktree,
            lock: Some(lock),
            current_directory: (!prefix.is_empty()).then(|| BString::from(prefix)),
        })
    }

    /// The user's current directory, relative to the root; `None` unless it is below the root.
    pub(crate) fn current_directory(&self) -> Option<&BStr> {
        self.current_directory.as_ref().map(|path| path.as_bstr())
    }

    /// Writes the index and moves it into place; see [`Worktree::write_index`].
    pub(crate) fn write_index(
        &mut self,
        index: &Index,
        with_work_tree: bool,
    ) -> Result<Option<String>> {
        let lock = self.lock.take().ok_or_else(|| Error::Internal {
            reason: "the index was written twice".into(),
        })?;
        let version = self.worktree.settings().index_version;
        let version = version.and_then(crate::worktree::version);
        self.worktree
            .write_index(index, version, lock, with_work_tree)
    }
}

impl<'r> Deref for Session<'r> {
    type Target = Worktree<'r>;

    fn deref(&self) -> &Worktree<'r> {
        &self.worktree
    }
}

impl DerefMut for Session<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.worktree
    }
}
