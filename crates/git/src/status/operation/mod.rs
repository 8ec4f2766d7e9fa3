//! Operations in progress in a repository: a merge, a rebase, an `am` session, a cherry-pick, a
//! revert, a bisection; and where a detached HEAD came from.
//!
//! Everything is read from files of the Git directory, whose content is not trusted:
//! gitrepository-layout(5), and the "Sequencer" and "rebase" parts of git's own documentation.

mod detached;
mod rebase;

pub use detached::Detached;
pub use rebase::{Rebase, Steps};

use crate::refs::Head;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use gix_hash::ObjectId;

/// Upper size limit of a file that holds one name or id, in bytes; a larger one is ignored.
const NAME_LIMIT_BYTES: u64 = 64 << 10;
/// Upper size limit of a list of remaining commands, in bytes; a larger one is refused.
const STEPS_LIMIT_BYTES: u64 = 256 << 20;

/// The operations in progress. There can be several: a merge within a rebase within a bisection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// A merge is waiting to be committed.
    pub merge: bool,
    /// The commit in progress is not an ordinary one: it is a merge or a copy of another commit.
    /// Its files cannot be unstaged one by one.
    pub special_commit: bool,
    /// Patches from mails are being applied.
    pub am: Option<Am>,
    /// Commits are being rebased.
    pub rebase: Option<Rebase>,
    /// Commits are being cherry-picked.
    pub cherry_pick: Option<Replay>,
    /// Commits are being reverted.
    pub revert: Option<Replay>,
    /// A bisection is in progress.
    pub bisect: Option<Bisect>,
    /// What was checked out when HEAD was detached; `None` on a branch, or if the log does not
    /// tell.
    pub detached: Option<Detached>,
}

/// `git am` stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Am {
    /// It stopped at a mail without a patch.
    pub is_empty: bool,
}

/// `git cherry-pick` or `git revert` stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The commit that it stopped at; `None` between two commits.
    pub commit: Option<ObjectId>,
}

/// `git bisect` was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bisect {
    /// The branch (or the short id of the commit) it was started from.
    pub from: Option<BString>,
}

/// The operations in progress in `repository`.
///
/// Fails if HEAD, its log or a list of commands exists but cannot be read. Other unreadable files
/// count as missing, as with git.
pub fn operation(repository: &Repository) -> Result<Operation> {
    let mut found = Operation {
        merge: is_there(repository, "MERGE_HEAD"),
        ..Operation::default()
    };
    let picked = pseudo_reference(repository, "CHERRY_PICK_HEAD")?;
    found.special_commit = found.merge || picked.is_some();
    rebase::read(repository, &mut found)?;
    let within_another = found.merge || found.am.is_some() || found.rebase.is_some();
    if !within_another {
        found.cherry_pick = picked.map(|id| Replay { commit: Some(id) });
    }
    if is_there(repository, "BISECT_LOG") {
        found.bisect = Some(Bisect {
            from: branch(repository, "BISECT_START")?,
        });
    }
    let reverted = pseudo_reference(repository, "REVERT_HEAD")?;
    found.revert = reverted.map(|id| Replay { commit: Some(id) });
    let between = Replay { commit: None };
    match next_of_sequence(repository)? {
        Some(Sequence::CherryPick) => found.cherry_pick = found.cherry_pick.or(Some(between)),
        Some(Sequence::Revert) => found.revert = found.revert.or(Some(between)),
        None => {}
    }
    if let Head::Detached { id } = repository.head()? {
        found.detached = detached::read(repository, &id)?;
    }
    Ok(found)
}

/// The command that a sequence of commits is processed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence {
    CherryPick,
    Revert,
}

/// The command in the first line of `sequencer/todo`.
fn next_of_sequence(repository: &Repository) -> Result<Option<Sequence>> {
    let path = repository.git_dir().join("sequencer/todo");
    let content = hedgerow_fs::read_file(&path, STEPS_LIMIT_BYTES)?;
    Ok(content.as_deref().and_then(first_command))
}

fn first_command(todo: &[u8]) -> Option<Sequence> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let start = todo.iter().position(|byte| !is_blank(byte))?;
    let todo = todo.get(start..)?;
    let end = todo
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
    match (todo.get(..end)?, todo.get(end)?) {
        (b"pick" | b"p", b' ' | b'\t') => Some(Sequence::CherryPick),
        (b"revert", b' ' | b'\t') => Some(Sequence::Revert),
        _ => None,
    }
}

/// Whether `name` exists in the Git directory; links are followed.
fn is_there(repository: &Repository, name: &str) -> bool {
    let path = repository.git_dir().join(name);
    hedgerow_fs::stat(&path).is_ok_and(|stat| stat.is_some())
}

/// The target of a reference such as `CHERRY_PICK_HEAD`, if it exists and is valid.
fn pseudo_reference(repository: &Repository, name: &str) -> Result<Option<ObjectId>> {
    match repository.reference(name.into()) {
        Ok(found) => Ok(found.and_then(|found| found.id)),
        Err(Error::Reference { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The content of a small file up to its first NUL byte, without trailing line ends.
fn small_file(repository: &Repository, name: &str) -> Option<BString> {
    let path = repository.git_dir().join(name);
    let content = hedgerow_fs::read_file(&path, NAME_LIMIT_BYTES).ok()??;
    let text = content.split(|byte| *byte == 0).next()?;
    Some(text.trim_end_with(|letter| letter == '\n').into())
}

/// The branch that a file names, by its short name; a commit by its short id; `None` if it names
/// neither.
fn branch(repository: &Repository, name: &str) -> Result<Option<BString>> {
    let Some(text) = small_file(repository, name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if let Some(short) = text.strip_prefix(b"refs/heads/") {
        return Ok(Some(short.into()));
    }
    if text.starts_with(b"refs/") {
        return Ok(Some(text));
    }
    let digits = text.get(..repository.hash_kind().len_in_hex());
    if let Some(id) = digits.and_then(|digits| ObjectId::from_hex(digits).ok()) {
        return Ok(Some(repository.short_id(&id)?.into()));
    }
    Ok(Some(text).filter(|text| text != "detached HEAD"))
}

#[cfg(test)]
mod tests;
