//! Locking a working tree, so that it is neither pruned nor moved.

use super::links::write_line;
use super::list::WorkingTree;
use super::mounted::{layers_of, INITIALIZING, LOCK_REASON};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString};

/// Locks the working tree that `word` means, for `reason`, which may be empty.
///
/// # Errors
/// [`Error::Setup`], in git's words: there is none, it is the main one, or it is locked.
pub fn lock(repository: &Repository, word: &BStr, reason: &BStr) -> Result<()> {
    let tree = linked(repository, word)?;
    match tree.lock_reason()? {
        // The user's reason is there beside that of this program.
        Some(old) if old == LOCK_REASON => write_line(&tree.git_dir.join("locked"), reason),
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
    let file = tree.git_dir.join("locked");
    let is_layered = layers_of(&tree.git_dir)?.is_some();
    match tree.lock_reason()? {
        None => return refused(format!("'{word}' is not locked")),
        Some(reason) if is_layered && reason == LOCK_REASON => {
            return refused(format!("'{word}' is not locked"))
        }
        Some(_) if is_layered => write_line(&file, LOCK_REASON.as_bytes())?,
        Some(_) => {
            hedgerow_fs::remove_file(&file)?;
        }
    }
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
    // The maker of a mounted one holds another lock than this.
    let is_ours = |reason: &BString| {
        reason == LOCK_REASON
            || reason == INITIALIZING && matches!(layers_of(&tree.git_dir), Ok(Some(_)))
    };
    let reason = tree.lock_reason()?.filter(|it| !is_ours(it));
    let Some(reason) = reason.filter(|_| force < 2) else {
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
