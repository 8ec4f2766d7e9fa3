//! What a checkout holds from its first step to its last: the lock on the index, and the working
//! tree.

use super::recursion::Recursion;
use crate::index::Index;
use crate::repository::Repository;
use crate::worktree::{check_paths, OldIndex, Worktree};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::LockFile;
use std::ops::{Deref, DerefMut};

pub(crate) struct Session<'r> {
    worktree: Worktree<'r>,
    lock: Option<LockFile>,
    current_directory: Option<BString>,
    /// Submodules move along.
    pub(crate) recursion: Option<Recursion>,
    /// No file is looked at: all are as the index has them.
    pub(crate) trusts_index: bool,
    /// Files that the user has told git not to look at are as the index has them, unless they move.
    pub(crate) keeps_assumed: bool,
    /// How changed files are told that stay outside the sparse checkout.
    pub(crate) sparse_words: SparseWords,
}

/// How git tells of changed files that stay outside a sparse checkout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SparseWords {
    /// In one warning.
    List,
    /// A line each, as its plumbing and `reset` do.
    #[default]
    Lines,
    /// Not at all.
    None,
}

impl<'r> Session<'r> {
    /// Takes the lock on the index and opens the working tree.
    pub(crate) fn begin(
        repository: &'r Repository,
        threshold: Option<u64>,
        execution: &Execution,
    ) -> Result<Self> {
        repository.require_work_tree()?;
        let lock = LockFile::acquire_linked(repository.index_path())?;
        let session = Session::read_only(repository, threshold, execution)?;
        Ok(Session {
            lock: Some(lock),
            ..session
        })
    }

    /// The index, whose paths were checked: files in their places are written and removed.
    pub(crate) fn read_index(&self) -> Result<OldIndex> {
        let old = self.worktree.read_index()?;
        check_paths(&old.index, self.names())?;
        Ok(old)
    }

    /// The same for an index that is not in its place yet.
    pub(crate) fn unused_index(&self, index: Index) -> Result<OldIndex> {
        let old = self.worktree.expanded(index, None)?;
        check_paths(&old.index, self.names())?;
        Ok(old)
    }

    /// The index that begins anew, whatever is in its place.
    pub(crate) fn new_index(&self) -> Result<OldIndex> {
        self.worktree.new_index()
    }

    /// Opens the working tree without a lock on the index, which is not written.
    pub(crate) fn read_only(
        repository: &'r Repository,
        threshold: Option<u64>,
        execution: &Execution,
    ) -> Result<Self> {
        let worktree = Worktree::open(repository, execution, "checkout")?;
        Ok(Session::with(worktree, repository, threshold))
    }

    /// Takes the lock on the index. Without `uses_worktree`, the repository need not have a working
    /// tree, and the session has none.
    pub(crate) fn of_index(
        repository: &'r Repository,
        threshold: Option<u64>,
        execution: &Execution,
        uses_worktree: bool,
    ) -> Result<Self> {
        if uses_worktree {
            return Session::begin(repository, threshold, execution);
        }
        let lock = LockFile::acquire_linked(repository.index_path())?;
        let worktree = Worktree::open_if_any(repository, execution, "checkout")?;
        Ok(Session {
            lock: Some(lock),
            ..Session::with(worktree, repository, threshold)
        })
    }

    /// Takes the lock on the index, of a session that began without it.
    pub(crate) fn take_lock(&mut self) -> hedgerow_fs::Result<()> {
        self.lock = Some(LockFile::acquire_linked(self.repository.index_path())?);
        Ok(())
    }

    /// Writes the index to another file, whose lock this is.
    pub(crate) fn redirect(&mut self, lock: LockFile) {
        self.lock = Some(lock);
    }

    fn with(mut worktree: Worktree<'r>, repository: &Repository, threshold: Option<u64>) -> Self {
        let prefix = repository
            .prefix()
            .trim_end_with(|character| character == '/');
        worktree.set_threshold(threshold);
        Session {
            recursion: None,
            trusts_index: false,
            keeps_assumed: false,
            sparse_words: SparseWords::default(),
            worktree,
            lock: None,
            current_directory: (!prefix.is_empty()).then(|| BString::from(prefix)),
        }
    }

    /// Submodules move along if the user wishes so, or else if `submodule.recurse` says so.
    pub(crate) fn recurse(&mut self, wish: Option<bool>) {
        let is_on = wish.unwrap_or(self.settings().recurse_submodules);
        self.recursion = is_on.then(Recursion::default);
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
        self.write(index, (with_work_tree, false))
    }

    /// The same where only the index was changed; which files are outside the sparse checkout may
    /// have changed.
    pub(crate) fn write_reset_index(&mut self, index: &Index) -> Result<Option<String>> {
        self.write(index, (false, true))
    }

    fn write(&mut self, index: &Index, changed: (bool, bool)) -> Result<Option<String>> {
        let lock = self.lock.take().ok_or_else(|| Error::Internal {
            reason: "the index was written twice".into(),
        })?;
        self.worktree.write_index_telling(index, lock, changed)
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
