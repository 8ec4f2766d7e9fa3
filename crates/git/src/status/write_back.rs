//! What a status writes to the index: refreshed stat data, what a file system monitor told, and the
//! untracked cache.

use super::quiet::unnamed;
use super::records::renewed;
use super::scan::Scanned;
use super::Options;
use crate::index::{Entry, Index, Mode, Stage};
use crate::monitor::Heard;
use crate::untracked_cache::{is_worth_writing, Prepared};
use crate::worktree::state::State;
use crate::worktree::{OldIndex, Worktree};
use crate::Result;
use hedgerow_fs::{LockFile, Stat};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Whether the index may be written at all.
pub(super) fn may_write(
    worktree: &Worktree<'_>,
    old: &OldIndex,
    options: &Options,
) -> Result<bool> {
    let repository = worktree.repository;
    // Git refuses an index that is to be split and may become sparse, unless it is already split.
    if worktree.settings().index_sparse && repository.wants_split_index() == Some(true) {
        return Ok(false);
    }
    // Only the expanded form of a sparse index is known here, so the index is left as it is.
    let is_sparse = old.sparse_directories.is_some();
    let may_lock = options.optional_locks && !repository.environment().no_optional_locks;
    Ok(may_lock && !old.is_new && !is_sparse)
}

/// Writes the index if that saves work for the next reader: files that need not be read again, or
/// that changed within the second in which the index was written.
pub(super) fn write_back(
    worktree: &Worktree<'_>,
    old: &mut OldIndex,
    scanned: &Scanned,
    changed: bool,
    news: News,
) -> Result<()> {
    let is_racy = |row: usize| old.index.is_racy(row, old.mtime);
    let changed = changed
        || old.is_adjusted
        || news.spare_looking(&old.index, &scanned.states)
        || news.are_about_untracked(worktree, scanned);
    if !changed && !(0..old.index.entries().len()).any(is_racy) {
        return Ok(());
    }
    let path = worktree.repository.index_path();
    let lock = LockFile::acquire_linked(path)?;
    let now = hedgerow_fs::stat(path)?;
    if !Stat::are_as_before(now.as_ref(), old.stat.as_ref()) {
        return Ok(());
    }
    let top = worktree.repository.require_work_tree()?;
    let is_hidden = |(row, entry): (usize, &Entry)| {
        if !old.index.is_racy(row, old.mtime) {
            return None;
        }
        match scanned.states.get(row)? {
            // It may only not have been looked for, because of pathspecs.
            State::Modified | State::Absent => {}
            State::Unknown => return Some(row),
            _ => return None,
        }
        // A different size remains visible, so the entry is kept. If its size were cleared, git
        // would compare contents and might find them equal after conversion, which it does not
        // report today.
        let path = top.join(OsStr::from_bytes(old.index.path(entry)));
        let now = hedgerow_fs::lstat(&path).ok().flatten()?;
        (now.size as u32 == entry.stat.size).then_some(row)
    };
    let entries = old.index.entries().iter().enumerate();
    // Later, stat data would not reveal that these differ.
    let hidden: Vec<usize> = entries.filter_map(is_hidden).collect();
    for row in hidden {
        old.index.entries_mut()[row].stat.size = 0;
    }
    news.record(worktree, &mut old.index, scanned)?;
    worktree.write_index(&old.index, lock, false).map(drop)
}

/// What was learned, for the next reader of the index.
pub(super) struct News {
    /// What a file system monitor told.
    pub heard: Option<Heard>,
    /// The untracked cache, if it was used.
    pub prepared: Option<Prepared>,
    /// Whether the index may be written.
    pub may_write: bool,
    /// Whether any directory was looked at.
    pub is_searched: bool,
    /// The second in which the search began, if notes were taken for the untracked cache.
    pub moment_s: Option<i64>,
}

impl News {
    /// Whether the next reader is spared files to look at, or a long answer. So does Git decide it.
    fn spare_looking(&self, index: &Index, states: &[State]) -> bool {
        let Some(heard) = &self.heard else {
            return false;
        };
        let is_long = heard.changed.as_ref().is_none_or(|paths| paths.len() > 100);
        let mut entries = index.entries().iter().zip(states);
        is_long
            || entries.any(|(entry, state)| is_sure(entry, *state) && !entry.flags.fsmonitor_valid)
    }

    /// Whether there are new records for the untracked cache, and they are to be written.
    fn are_about_untracked(&self, worktree: &Worktree<'_>, scanned: &Scanned) -> bool {
        let is_new = |prepared: &Prepared| {
            let has_news = scanned.notes.has_news();
            prepared.is_changed || has_news && is_worth_writing(worktree.repository)
        };
        self.prepared.as_ref().is_some_and(is_new)
    }

    /// Stores the untracked files, the moment of the answer, and which entries were unchanged then.
    fn record(self, worktree: &Worktree<'_>, index: &mut Index, scanned: &Scanned) -> Result<()> {
        match (self.prepared, self.moment_s) {
            (Some(mut prepared), Some(moment_s)) => {
                let cache = &mut prepared.cache;
                cache.directories = renewed(worktree, index, cache, scanned, moment_s)?;
                *index.untracked_cache_mut() = Some(prepared.cache);
            }
            (prepared, _) => {
                if let Some(prepared) = prepared {
                    *index.untracked_cache_mut() = Some(prepared.cache);
                }
                let heard = self.heard.as_ref().filter(|_| self.is_searched);
                forget_changed(index, heard);
            }
        }
        let Some(heard) = self.heard else {
            return Ok(());
        };
        for (entry, state) in index.entries_mut().iter_mut().zip(&scanned.states) {
            entry.flags.fsmonitor_valid = is_sure(entry, *state);
        }
        index.set_fsmonitor_token(Some(heard.token));
        Ok(())
    }
}

/// Forgets the records of the untracked cache that the monitor will not name again.
fn forget_changed(index: &mut Index, heard: Option<&Heard>) {
    let (Some(heard), Some(cache)) = (heard, index.untracked_cache_mut()) else {
        return;
    };
    match &heard.changed {
        Some(changed) => {
            let valid = unnamed(cache, changed);
            cache.forget(|row| !valid[row]);
        }
        None => cache.forget(|_| true),
    }
}

/// Whether the file of the entry is known to be the one that the index has.
fn is_sure(entry: &Entry, state: State) -> bool {
    let has_file = entry.mode != Mode::Gitlink && entry.flags.stage == Stage::Merged;
    state == State::Clean && has_file
}
