//! Sparse checkouts: which files are there although they need not be, and how much of the tree is.

use super::model::Sparse;
use crate::index::{Entry, Index, Stage};
use crate::repository::Repository;
use crate::worktree::survey::{survey, Found};
use crate::worktree::{OldIndex, Worktree};
use crate::Result;
use hedgerow_fs::FileKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How git has an index in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// With an entry for each file.
    Whole,
    /// With directories in place of the files below them.
    Sparse,
}

/// Has files that are there belong to the working tree, as git does when it reads the index,
/// whatever the sparse checkout says. A directory of a sparse index that is there, with files or
/// without, makes git put its files in its place.
pub(super) fn read(worktree: &Worktree<'_>, old: &mut OldIndex) -> Result<Form> {
    let form = form(worktree, old)?;
    let config = worktree.repository.config();
    let expects_outside = config.bool("sparse.expectFilesOutsideOfPatterns")?;
    if !worktree.settings().sparse_checkout || expects_outside == Some(true) {
        return Ok(form);
    }
    let present = present_rows(worktree, &old.index)?;
    for row in present {
        old.index.entries_mut()[row].flags.skip_worktree = false;
    }
    let directories = old.sparse_directories.as_deref().unwrap_or_default();
    if form == Form::Whole || directories.is_empty() {
        return Ok(form);
    }
    let mut directories: Vec<&[u8]> = directories.iter().map(|path| path.as_slice()).collect();
    directories.sort_unstable();
    match any_directory(worktree, &directories)? {
        true => Ok(Form::Whole),
        false => Ok(Form::Sparse),
    }
}

/// The form in which git keeps the index if nothing in the working tree speaks against it.
fn form(worktree: &Worktree<'_>, old: &OldIndex) -> Result<Form> {
    let config = worktree.repository.config();
    let is_on = |key| Ok::<_, crate::Error>(config.bool(key)? == Some(true));
    let stays = old.sparse_directories.is_some()
        && is_on("index.sparse")?
        && is_on("core.sparseCheckoutCone")?
        && worktree.sparse_patterns()?.is_some();
    Ok(if stays { Form::Sparse } else { Form::Whole })
}

/// The rows that are not to be in the working tree, and are.
fn present_rows(worktree: &Worktree<'_>, index: &Index) -> Result<Vec<usize>> {
    let entries = index.entries();
    let is_skipped = |entry: &Entry| entry.flags.skip_worktree;
    // In a conflict, git skips nothing.
    let is_asked = |entry: &Entry| is_skipped(entry) && entry.flags.stage == Stage::Merged;
    let rows: Vec<usize> = (0..entries.len())
        .filter(|row| is_asked(&entries[*row]))
        .collect();
    let path = |at: usize| index.path(&entries[rows[at]]).as_ref();
    let top = worktree.repository.require_work_tree()?;
    let judge = |at: usize, found: Found<'_>| match found {
        Found::Present(_) => 1,
        Found::Blocked => u8::from(is_there(top, path(at), b"")),
        Found::Absent | Found::Unknown => 0,
    };
    let (verdicts, _) = survey(&worktree.root, rows.len(), path, judge, &worktree.engine())?;
    let pairs = rows.iter().zip(verdicts);
    Ok(pairs
        .filter_map(|(row, verdict)| (verdict == 1).then_some(*row))
        .collect())
}

/// Whether any of these is a directory, or leads to one.
fn any_directory(worktree: &Worktree<'_>, paths: &[&[u8]]) -> Result<bool> {
    let top = worktree.repository.require_work_tree()?;
    let judge = |at: usize, found: Found<'_>| match found {
        Found::Present(stat) if stat.kind == FileKind::Directory => 1,
        Found::Present(_) | Found::Blocked => u8::from(is_there(top, paths[at], b"/")),
        Found::Absent | Found::Unknown => 0,
    };
    let path = |at: usize| paths[at];
    let (verdicts, _) = survey(&worktree.root, paths.len(), path, judge, &worktree.engine())?;
    Ok(verdicts.contains(&1))
}

/// Whether something is at the path if links on the way are followed, as git asks.
fn is_there(top: &Path, path: &[u8], end: &[u8]) -> bool {
    let path = [path, end].concat();
    let found = hedgerow_fs::lstat(&top.join(OsStr::from_bytes(&path)));
    found.is_ok_and(|found| found.is_some())
}

/// Counts the files of the index that are to be there; `None` if that are all by definition,
/// without a sparse checkout, or if there are no files.
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
