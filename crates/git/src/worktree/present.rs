//! Files that exist although the sparse checkout excludes them.

use super::survey::{survey, PathState};
use super::{OldIndex, Worktree};
use crate::index::{Entry, Index, Stage};
use crate::Result;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Worktree<'_> {
    /// Makes files outside the sparse checkout that exist count as part of the working tree, as git
    /// does when it reads the index. Returns whether they were looked for: they are not without a
    /// sparse checkout, or if `sparse.expectFilesOutsideOfPatterns` expects such files.
    pub(crate) fn include_present(&self, old: &mut OldIndex) -> Result<bool> {
        let config = self.repository.config();
        let expects_outside = config.bool("sparse.expectFilesOutsideOfPatterns")?;
        if !self.settings().sparse_checkout || expects_outside == Some(true) {
            return Ok(false);
        }
        let present = self.present_rows(&old.index)?;
        for row in present {
            old.index.entries_mut()[row].flags.skip_worktree = false;
        }
        Ok(true)
    }

    /// The skip-worktree rows whose files exist.
    fn present_rows(&self, index: &Index) -> Result<Vec<usize>> {
        let entries = index.entries();
        let is_skipped = |entry: &Entry| entry.flags.skip_worktree;
        // git does not skip paths in conflict.
        let is_asked = |entry: &Entry| is_skipped(entry) && entry.flags.stage == Stage::Merged;
        let rows: Vec<usize> = (0..entries.len())
            .filter(|row| is_asked(&entries[*row]))
            .collect();
        let path = |at: usize| index.path(&entries[rows[at]]).as_ref();
        let top = self.repository.require_work_tree()?;
        let judge = |at: usize, found: PathState<'_>| match found {
            PathState::Present(_) => 1,
            PathState::Blocked => u8::from(is_there(top, path(at), b"")),
            PathState::Absent | PathState::Unknown => 0,
        };
        let found = survey(&self.root, rows.len(), path, judge, &self.engine())?;
        let pairs = rows.iter().zip(found.answered()?.verdicts);
        Ok(pairs
            .filter_map(|(row, verdict)| (verdict == 1).then_some(*row))
            .collect())
    }
}

/// Whether the path exists if links on the way are followed, as git checks it.
pub(crate) fn is_there(top: &Path, path: &[u8], end: &[u8]) -> bool {
    let path = [path, end].concat();
    let found = hedgerow_fs::lstat(&top.join(OsStr::from_bytes(&path)));
    found.is_ok_and(|found| found.is_some())
}
