//! The list of entries: `refs/stash` and its log.

use super::entry::StashEntry;
use crate::dates::date_seconds;
use crate::refs::{Expected, Logged, RefChange, RefEdit, RefValue, ReferenceProblem, Signature};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;

/// The reference that names the newest entry.
pub const STASH: &str = "refs/stash";

/// Makes `commit` the newest entry, with `message` in the log.
///
/// # Errors
/// [`Error::Setup`] if it is not made like an entry.
pub fn store_entry(repository: &Repository, commit: &ObjectId, message: &BStr) -> Result<()> {
    let hex = commit.to_string();
    StashEntry::of_commit(repository, commit, hex.as_str().into())?;
    let committer = repository.committer()?;
    set(repository, *commit, &committer, message)
}

pub(super) fn set(
    repository: &Repository,
    commit: ObjectId,
    committer: &Signature,
    message: &BStr,
) -> Result<()> {
    let edit = RefEdit {
        name: STASH.into(),
        change: RefChange::Set(RefValue::Direct(commit)),
        expected: Expected::Anything,
        log: Some(Logged {
            old: None,
            new: commit,
            create: true,
        }),
        message: None,
    };
    repository
        .prepare_reference(edit, &|| false)?
        .commit(message, committer)
}

/// Waits until the name of the newest entry is on disk.
pub(super) fn sync_stash(repository: &Repository) -> Result<()> {
    for name in ["refs", "reftable"] {
        let directory = repository.common_dir().join(name);
        if hedgerow_fs::is_there(&directory)? {
            hedgerow_fs::sync_directory(&directory)?;
        }
    }
    Ok(())
}

/// Deletes all entries.
pub fn clear_stash(repository: &Repository) -> Result<()> {
    let Some(id) = repository
        .reference(STASH.into())?
        .and_then(|found| found.id)
    else {
        return Ok(());
    };
    delete(repository, id)
}

/// Deletes the stash, which is still `id`, and its log; that of an entry that came meanwhile stays.
fn delete(repository: &Repository, id: ObjectId) -> Result<()> {
    repository.delete_reference(STASH.into(), Expected::Id(id))?;
    match repository.reference(STASH.into())? {
        None if repository.has_log(STASH.into()) => repository.delete_log(STASH.into()),
        _ => Ok(()),
    }
}

/// Deletes the entry that `entry` names from the stash.
///
/// # Errors
/// [`Error::Usage`] if it is none of the stash.
pub fn drop_entry(repository: &Repository, entry: &StashEntry) -> Result<()> {
    let refused = || Error::Usage {
        reason: format!("{}: Could not drop stash entry", entry.revision),
    };
    let revision = &entry.revision;
    let at = revision.find_byte(b'@').ok_or_else(refused)?;
    let word = revision[at..].strip_prefix(b"@{");
    let word = word.and_then(|rest| rest.strip_suffix(b"}"));
    let word = word.ok_or_else(refused)?.as_bstr();
    let number = match word.to_str().ok().and_then(|digits| digits.parse().ok()) {
        Some(number) => number,
        None => {
            let seconds = date_seconds(word).ok_or_else(refused)?;
            let entries = repository.reflog(STASH.into())?;
            let mut entries = entries.iter();
            match entries.position(|logged| logged.time.seconds <= seconds) {
                Some(number) => number,
                // Git says that it drops one, and drops none.
                None => return Ok(()),
            }
        }
    };
    let entries = repository.reflog(STASH.into())?;
    let dropped = entries.get(number).map(|logged| logged.new);
    let is_empty = repository.drop_log_entry(STASH.into(), number)?;
    if !is_empty {
        return Ok(());
    }
    let Some(dropped) = dropped else {
        return clear_stash(repository);
    };
    match delete(repository, dropped) {
        // Somebody has made an entry since the log was empty, or has set the reference alone.
        Err(Error::Reference {
            reason: ReferenceProblem::Changed { found },
            ..
        }) => match found
            .filter(|_| matches!(repository.reflog(STASH.into()), Ok(it) if it.is_empty()))
        {
            Some(found) => delete(repository, found),
            None => Ok(()),
        },
        outcome => outcome,
    }
}
