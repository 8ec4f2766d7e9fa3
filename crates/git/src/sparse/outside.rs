//! Directories that are wholly outside a cone: what of them is still there.

use super::rules::Cone;
use crate::index::{Mode, Stage};
use crate::repository::Repository;
use crate::status::{status, Options, UntrackedFiles};
use crate::worktree::Worktree;
use crate::worktrees::tree_removal::remove_tree_below;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::Dir;
use hedgerow_tree::split_path;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The outermost directories outside `cone` that exist although no tracked file is in them, each
/// with a slash at its end; `None` if the index has conflicts, or is missing.
pub(crate) fn directories(repository: &Repository, cone: &Cone) -> Result<Option<Vec<BString>>> {
    let worktree = Worktree::open(repository, &Execution::default(), "sparse")?;
    let old = worktree.read_index()?;
    let index = &old.index;
    if old.is_new || index.is_unmerged() {
        return Ok(None);
    }
    let mut found: Vec<BString> = Vec::new();
    // Whether all entries below each directory are outside.
    let mut is_outside: BTreeMap<&BStr, bool> = BTreeMap::new();
    for (path, entry) in index.iter() {
        let is_left_out = entry.flags.skip_worktree
            && entry.flags.stage == Stage::Merged
            && entry.mode != Mode::Gitlink;
        for end in path.find_iter("/") {
            let all = is_outside.entry(path[..end].as_bstr()).or_insert(true);
            *all &= is_left_out;
        }
    }
    let top = repository.require_work_tree()?;
    for (path, is_outside) in is_outside {
        let is_below = |above: &BString| path.starts_with(above);
        if !is_outside || cone.has_directory(path) || found.last().is_some_and(is_below) {
            continue;
        }
        found.push([path.as_bytes(), b"/"].concat().into());
    }
    // A tracked file that is there although it should not be is not thrown away.
    let is_there = |path: &BStr| hedgerow_fs::exists(&top.join(OsStr::from_bytes(path)));
    found.retain(|directory| {
        let bare = directory
            .trim_end_with(|character| character == '/')
            .as_bstr();
        let mut rows = index.range_under(bare);
        hedgerow_fs::is_directory(&top.join(OsStr::from_bytes(bare)))
            && !rows.any(|row| is_there(index.path(&index.entries()[row])))
    });
    Ok(Some(found))
}

/// Removes what is left of directories outside `cone`, ignored files included, as git does. One with
/// untracked files stays; a warning tells that.
pub(crate) fn remove_leftovers(
    repository: &Repository,
    cone: &Cone,
    execution: &Execution,
) -> Result<Vec<String>> {
    let directories = directories(repository, cone)?.unwrap_or_default();
    if directories.is_empty() {
        return Ok(Vec::new());
    }
    let options = Options {
        untracked: UntrackedFiles::Normal,
        execution: execution.clone(),
        ..Options::default()
    };
    let found = status(repository, &options)?;
    let mut warnings = Vec::new();
    let top = repository.require_work_tree()?;
    for directory in directories {
        let is_below = |path: &BString| path.starts_with(&directory);
        // What cannot be listed, or is listed by another name, may be untracked files.
        let is_unknown = !found.failures.is_empty()
            || !found.warnings.is_empty()
            || !has_its_name(top, directory.trim_end_with(|c| c == '/').as_bstr());
        if is_unknown || found.untracked.iter().any(is_below) {
            warnings.push(format!(
                "directory '{directory}' contains untracked files, but is not in the \
                 sparse-checkout cone"
            ));
        } else if remove_tree_below(top, directory.trim_end_with(|c| c == '/').as_bstr()).is_err() {
            warnings.push(format!("failed to remove directory '{directory}'"));
        }
    }
    Ok(warnings)
}

/// Whether the directory `path` below `top` is listed by this name. On a file system that ignores case
/// or normalizes names, it is there by others, too.
fn has_its_name(top: &Path, path: &BStr) -> bool {
    let is_listed = |end: usize| -> Result<bool> {
        let (parent, name) = split_path(&path[..end]);
        let listed = Dir::open(top)?.open_dir(parent)?.list()?;
        Ok(listed.iter().any(|entry| entry.name == name))
    };
    let mut ends = path.find_iter("/").chain([path.len()]);
    ends.all(|end| is_listed(end).unwrap_or(false))
}
