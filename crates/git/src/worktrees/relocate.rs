//! Moving a working tree.

use super::candidate::{check_place, give_up};
use super::links::{failed, validate};
use super::lock::refuse_locked;
use super::mounted::{hold, move_top};
use super::remove::refuse_submodules;
use super::words::{real_as_far_as_it_goes, GivenPath};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use std::os::unix::ffi::OsStrExt;

/// How a working tree is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveOptions {
    /// 1: over a missing working tree; 2: also a locked one.
    pub force: u8,
    /// The files that link it hold relative paths; `None`: as `worktree.useRelativePaths` says.
    pub relative_paths: Option<bool>,
}

/// Moves the working tree that `word` means to `to`, or into the directory `to`.
///
/// # Errors
/// [`Error::Setup`], in git's words, if it may not be moved; nothing has changed then.
pub fn relocate(
    repository: &Repository,
    word: &BStr,
    to: &BStr,
    options: &MoveOptions,
) -> Result<()> {
    let refused = |reason: String| Err(Error::Setup { reason });
    let is_relative = repository.uses_relative_paths(options.relative_paths)?;
    let trees = repository.worktrees()?;
    let mut tree = repository.find_worktree(trees.clone(), word)?;
    if tree.is_main() {
        return refused(format!("'{word}' is a main working tree"));
    }
    let held = hold(repository, &tree)?;
    if let Some(held) = &held {
        tree = held.tree.clone();
    }
    let mut place = GivenPath::new(repository, to);
    if hedgerow_fs::is_directory(&place.path) {
        let name = tree
            .path
            .file_name()
            .map(OsStrExt::as_bytes)
            .unwrap_or_default();
        let into = to.trim_end_with(|character| character == '/');
        place = GivenPath::new(repository, [into, b"/", name].concat().as_bstr());
    }
    let stale = check_place(repository, &place, &trees, options.force, "move")?;
    if stale.is_some() && stale == tree.id {
        return refused(format!("'{word}' is there already"));
    }
    refuse_submodules(repository, &tree)?;
    refuse_locked(&tree, options.force, "move")?;
    // What is mounted is known by its mount.
    let validated = if held.is_some() {
        Ok(())
    } else {
        validate(repository, &tree, false)
    };
    if let Err(reason) = validated {
        return refused(format!(
            "validation failed, cannot move working tree: {reason}"
        ));
    }
    if let Some(id) = stale {
        give_up(repository, &place, &id)?;
    }
    // Found before the current directory may be another one.
    let to = real_as_far_as_it_goes(&place.path);
    if let Some(held) = &held {
        return move_top(repository, held, &to, is_relative);
    }
    let from = tree.path.display();
    hedgerow_fs::rename(&tree.path, &to)
        .map_err(|error| failed(&format!("failed to move '{from}' to"), &place.shown, &error))?;
    if to != tree.path {
        repository.link_worktree(&to, &tree.git_dir, is_relative)?;
    }
    Ok(())
}

impl Repository {
    /// Whether links between working trees hold relative paths: as asked for, or as
    /// `worktree.useRelativePaths` says.
    pub(crate) fn uses_relative_paths(&self, asked: Option<bool>) -> Result<bool> {
        let configured = self.config().bool("worktree.useRelativePaths")?;
        Ok(asked.or(configured).unwrap_or(false))
    }
}
