//! Removing a working tree.

use super::links::{is_there, validate};
use super::list::WorkingTree;
use super::lock::refuse_locked;
use super::mounted::{hold, lock_half_made, remove_held, Held};
use super::prune::{remove_admin, remove_worktrees_if_empty, words};
use super::tree_removal::remove_tree;
use crate::index::{Index, Mode};
use crate::repository::Repository;
use crate::status::{status, Configuration, IgnoreSubmodules, Options};
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use hedgerow_engine::Execution;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// How a working tree is removed.
#[derive(Clone, Debug, Default)]
pub struct RemoveOptions {
    /// 1: although it has changes or untracked files; 2: also a locked one.
    pub force: u8,
    /// How to run.
    pub execution: Execution,
}

/// Removes the working tree that `word` means, and its administrative directory. Returns what could
/// not be removed; the rest is gone.
///
/// # Errors
/// [`Error::Setup`], in git's words, if it may not be removed; nothing has changed then.
pub fn remove(repository: &Repository, word: &BStr, options: &RemoveOptions) -> Result<Vec<Error>> {
    let refused = |reason: String| Err(Error::Setup { reason });
    let tree = repository.find_worktree(repository.worktrees()?, word)?;
    let Some(id) = &tree.id else {
        return refused(format!("'{word}' is a main working tree"));
    };
    if let Some(_lock) = lock_half_made(repository, id.as_ref())? {
        remove_admin(repository, id.as_ref())?;
        remove_worktrees_if_empty(repository);
        return Ok(Vec::new());
    }
    if let Some(held) = hold(repository, &tree)? {
        return remove_mounted(repository, &held, word, options);
    }
    refuse_locked(&tree, options.force, "remove")?;
    if let Err(reason) = validate(repository, &tree, true) {
        return refused(format!(
            "validation failed, cannot remove working tree: {reason}"
        ));
    }
    let mut failures = Vec::new();
    if is_there(&tree.path) {
        if options.force == 0 {
            refuse_changes(repository, &tree, word, options)?;
        }
        if options.execution.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        if let Err(error) = remove_tree(&tree.path) {
            let reason = words(&error);
            failures.push(Error::Setup {
                reason: format!("failed to delete '{}': {reason}", tree.path.display()),
            });
        }
    }
    failures.extend(remove_admin(repository, id.as_ref()).err());
    remove_worktrees_if_empty(repository);
    Ok(failures)
}

/// Removes a mounted working tree. It is known by its mount, whatever became of its files.
fn remove_mounted(
    repository: &Repository,
    held: &Held,
    word: &BStr,
    options: &RemoveOptions,
) -> Result<Vec<Error>> {
    let tree = &held.tree;
    refuse_locked(tree, options.force, "remove")?;
    if options.force == 0 {
        held.layers.check_place(&tree.path)?;
        if tree.is_mounted()? == Some(true) {
            refuse_changes(repository, tree, word, options)?;
        } else if !is_as_its_image(repository, held)? {
            return Err(Error::Setup {
                reason: format!(
                    "'{word}' is not mounted, and may have changes: mount it with 'hedgerow worktree \
                     mount', or use --force to delete it"
                ),
            });
        }
    }
    if options.execution.cancel.is_cancelled() {
        return Err(Error::Interrupted);
    }
    remove_held(repository, held)?;
    let id = tree.id.as_ref().map(|id| id.as_bstr());
    let failure = id.and_then(|id| remove_admin(repository, id).err());
    remove_worktrees_if_empty(repository);
    Ok(failure.into_iter().collect())
}

/// Whether HEAD, the index and the files of a working tree that is not mounted are all those of its image.
fn is_as_its_image(repository: &Repository, held: &Held) -> Result<bool> {
    let Held { tree, layers, .. } = held;
    let Some(head) = tree.head.id() else {
        return Ok(false);
    };
    let head = repository.commit(&head)?.tree;
    let path = tree.git_dir.join("index");
    let index = Index::load(&path, &tree.git_dir, repository.hash_kind())?;
    let root = index
        .as_ref()
        .and_then(|(index, _)| index.cache_tree()?.root_id());
    let image = layers.state()?.image.starts_with(&format!("{head}-"));
    Ok(image && root.copied() == Some(head) && !layers.has_changes()?)
}

/// Refuses a working tree that has anything that its index and HEAD do not have.
fn refuse_changes(
    repository: &Repository,
    tree: &WorkingTree,
    word: &BStr,
    options: &RemoveOptions,
) -> Result<()> {
    refuse_submodules(repository, tree)?;
    let linked = if tree.is_mounted()?.is_some() {
        repository.open_admin(&tree.git_dir, &tree.path)?
    } else {
        repository.open_linked(&tree.path)?
    };
    let found = status(
        &linked,
        &Options {
            untracked: Configuration::read(&linked)?.untracked,
            ignore_submodules: Some(IgnoreSubmodules::None),
            optional_locks: !repository.environment().no_optional_locks,
            execution: options.execution.clone(),
            ..Options::default()
        },
    )?;
    // What could not be looked at may be a change.
    let is_clean =
        found.changes.is_empty() && found.untracked.is_empty() && found.failures.is_empty();
    if is_clean {
        return Ok(());
    }
    Err(Error::Setup {
        reason: format!("'{word}' contains modified or untracked files, use --force to delete it"),
    })
}

/// Refuses a working tree with submodules that have repositories.
pub(crate) fn refuse_submodules(repository: &Repository, tree: &WorkingTree) -> Result<()> {
    let has_modules = hedgerow_fs::is_directory(&tree.git_dir.join("modules"));
    if has_modules || has_populated_submodule(repository, tree)? {
        return Err(Error::Setup {
            reason: "working trees containing submodules cannot be moved or removed".into(),
        });
    }
    Ok(())
}

fn has_populated_submodule(repository: &Repository, tree: &WorkingTree) -> Result<bool> {
    let path = tree.git_dir.join("index");
    let Some((index, _)) = Index::load(&path, &tree.git_dir, repository.hash_kind())? else {
        return Ok(false);
    };
    let others = repository.other_repositories();
    let mut links = index
        .iter()
        .filter(|(_, entry)| entry.mode == Mode::Gitlink);
    Ok(links.any(|(path, _)| {
        let directory = tree.path.join(OsStr::from_bytes(path));
        others.has(&directory.join(".git"))
    }))
}
