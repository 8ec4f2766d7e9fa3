//! Locking a working tree, so that it is neither pruned nor moved.

use super::links::write_line;
use super::list::WorkingTree;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::BStr;

/// Locks the working tree that `word` means, for `reason`, which may be empty.
///
/// # Errors
/// [`Error::Setup`], in git's words: there is none, it is the main one, or it is locked.
pub fn lock(repository: &Repository, word: &BStr, reason: &BStr) -> Result<()> {
    let tree = linked(repository, word)?;
    match tree.lock_reason()? {
        None => write_line(&tree.git_dir.join("locked"), reason),
        Some(old) if old.is_empty() => refused(format!("'{word}' is already locked")),
        Some(old) => refused(format!("'{word}' is already locked, reason: {old}")),
    }
}

/// Unlocks the working tree that `word` means.
///
/// # Errors
/// As of [`lock`], or it is not locked.
pub fn unlock(repository: &Repository, word: &BStr) -> Result<()> {
    let tree = linked(repository, word)?;
    if tree.lock_reason()?.is_none() {
        return refused(format!("'{word}' is not locked"));
    }
    hedgerow_fs::remove_file(&tree.git_dir.join("locked"))?;
    Ok(())
}

fn linked(repository: &Repository, word: &BStr) -> Result<WorkingTree> {
    let tree = repository.find_worktree(repository.worktrees()?, word)?;
    if tree.is_main() {
        return refused("The main working tree cannot be locked or unlocked".into());
    }
    Ok(tree)
}

fn refused<T>(reason: String) -> Result<T> {
    Err(Error::Setup { reason })
}

/// Refuses what `verb` says of a locked working tree, unless it is forced twice.
pub(super) fn refuse_locked(tree: &WorkingTree, force: u8, verb: &str) -> Result<()> {
    let Some(reason) = tree.lock_reason()?.filter(|_| force < 2) else {
        return Ok(());
    };
    let why = if reason.is_empty() {
        ";".to_owned()
    } else {
        format!(", lock reason: {reason}")
    };
    Err(Error::Setup {
        reason: format!(
            "cannot {verb} a locked working tree{why}\nuse '{verb} -f -f' to override or unlock \
             first"
        ),
    })
}
