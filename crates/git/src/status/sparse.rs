//! Sparse checkouts: which files exist although they need not, and what share of the tree is
//! present.

use super::model::Sparse;
use crate::index::{Entry, Index};
use crate::repository::Repository;
use crate::worktree::present::is_there;
use crate::worktree::survey::{survey, PathState};
use crate::worktree::{OldIndex, Worktree};
use crate::Result;
use hedgerow_fs::FileKind;

/// The form in which git holds an index in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// With an entry for each file.
    Whole,
    /// With directories in place of the files below them.
    Sparse,
}

/// Makes files outside the sparse checkout that exist count as part of the working tree, as git
/// does when it reads the index. If a directory of a sparse index exists, even empty, git replaces
/// its entry by the entries of its files.
pub(super) fn read(worktree: &Worktree<'_>, old: &mut OldIndex) -> Result<Form> {
    let form = form(worktree, old)?;
    if !worktree.include_present(old)? {
        return Ok(form);
    }
    let directories = old.sparse_directories.as_deref().unwrap_or_default();
    if form == Form::Whole || directories.is_empty() {
        return Ok(form);
    }
    let mut directories: Vec<&[u8]> = directories.iter().map(|it| it.path.as_slice()).collect();
    directories.sort_unstable();
    if any_directory(worktree, &directories)? {
        Ok(Form::Whole)
    } else {
        Ok(Form::Sparse)
    }
}

/// The form in which git keeps the index unless files in the working tree require another.
fn form(worktree: &Worktree<'_>, old: &OldIndex) -> Result<Form> {
    let config = worktree.repository.config();
    let is_on = |key| Ok::<_, crate::Error>(config.bool(key)? == Some(true));
    let stays = old.sparse_directories.is_some()
        && is_on("index.sparse")?
        && is_on("core.sparseCheckoutCone")?
        && worktree.sparse_patterns()?.is_some();
    Ok(if stays { Form::Sparse } else { Form::Whole })
}

/// Whether any of these is a directory or leads to one.
fn any_directory(worktree: &Worktree<'_>, paths: &[&[u8]]) -> Result<bool> {
    let top = worktree.repository.require_work_tree()?;
    let judge = |at: usize, found: PathState<'_>| match found {
        PathState::Present(stat) if stat.kind == FileKind::Directory => 1,
        PathState::Present(_) | PathState::Blocked => u8::from(is_there(top, paths[at], b"/")),
        PathState::Absent | PathState::Unknown => 0,
    };
    let path = |at: usize| paths[at];
    let found = survey(&worktree.root, paths.len(), path, judge, &worktree.engine())?;
    Ok(found.answered()?.verdicts.contains(&1))
}

/// The share of index files that should be present; `None` without a sparse checkout or without
/// files.
pub(super) fn share(repository: &Repository, index: &Index, form: Form) -> Option<Sparse> {
    let count = index.entries().len();
    if !repository.settings().sparse_checkout || count == 0 {
        return None;
    }
    if form == Form::Sparse {
        return Some(Sparse::Index);
    }
    let is_absent = |entry: &&Entry| entry.flags.skip_worktree;
    let absent = index.entries().iter().filter(is_absent).count();
    Some(Sparse::Percent(
        100 - (100 * absent as u64 / count as u64) as u32,
    ))
}
