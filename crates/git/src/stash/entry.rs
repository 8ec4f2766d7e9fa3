//! The entry of the stash that words name.

use super::list::STASH;
use crate::repository::{kind_name, Repository};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;

/// An entry of the stash, or a commit made like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StashEntry {
    /// The words that name it, as git completes them.
    pub revision: BString,
    /// The commit of the working tree.
    pub commit: ObjectId,
    /// The commit that was HEAD.
    pub base: ObjectId,
    /// The trees of the working tree, of that commit, of the index, and of untracked files if there
    /// are any.
    pub tree: ObjectId,
    /// See `tree`.
    pub base_tree: ObjectId,
    /// See `tree`.
    pub index_tree: ObjectId,
    /// See `tree`.
    pub untracked_tree: Option<ObjectId>,
    /// Its place in the stash, the newest being 0; `None` for a commit that was named otherwise.
    pub is_in_stash: bool,
}

impl StashEntry {
    /// The entry that `word` names: a number, or a revision; the newest one if `None`. The result is
    /// `None` if that is wanted and the stash is empty.
    ///
    /// # Errors
    /// [`Error::Setup`], in git's words, if it names no entry.
    pub fn find(repository: &Repository, word: Option<&BStr>) -> Result<Option<Self>> {
        let revision: BString = match word {
            None if repository.reference(STASH.into())?.is_none() => return Ok(None),
            None => format!("{STASH}@{{0}}").into(),
            Some(word) if word.iter().all(u8::is_ascii_digit) => {
                [STASH.as_bytes(), b"@{", word, b"}"].concat().into()
            }
            Some(word) => word.to_owned(),
        };
        let commit = match repository.resolve(revision.as_bstr()) {
            Ok(commit) => commit,
            Err(Error::Revision { .. }) => return Err(no_reference(repository, &revision)),
            Err(error) => return Err(error),
        };
        let mut entry = Self::of_commit(repository, &commit, revision.as_bstr())?;
        let end = revision.find_byte(b'@').unwrap_or(revision.len());
        let name = repository.find_reference(revision[..end].as_bstr())?;
        entry.is_in_stash = name.is_some_and(|found| found.reference.name == STASH);
        entry.revision = revision;
        Ok(Some(entry))
    }

    /// The commit `commit`, which `revision` names, as an entry.
    pub(super) fn of_commit(
        repository: &Repository,
        commit: &ObjectId,
        revision: &BStr,
    ) -> Result<Self> {
        let refused = || Error::Setup {
            reason: format!("'{revision}' is not a stash-like commit"),
        };
        let wanted = Some(hedgerow_object::ObjectKind::Commit);
        let Some(commit) = repository.peel_if_there(commit, wanted)? else {
            let Some(other) = repository.peel_if_there(commit, None)? else {
                return Err(refused());
            };
            let kind = kind_name(repository.object_kind(&other)?);
            return Err(Error::AfterFailures {
                failures: vec![format!("object {other} is a {kind}, not a commit")],
                error: Box::new(refused()),
            });
        };
        let found = repository.commit(&commit)?;
        let parent = |number: usize| {
            let id = found.parents.get(number);
            id.map(|id| repository.commit(id)).transpose()
        };
        let (Some(base), Some(index)) = (parent(0)?, parent(1)?) else {
            return Err(refused());
        };
        // A commit of untracked files that cannot be read is an error: git takes it for none, and
        // `pop` would drop the only name that they have.
        let untracked = parent(2)?;
        Ok(StashEntry {
            revision: revision.to_owned(),
            commit,
            base: base.id,
            tree: found.tree,
            base_tree: base.tree,
            index_tree: index.tree,
            untracked_tree: untracked.map(|commit| commit.tree),
            is_in_stash: false,
        })
    }
}

fn no_reference(repository: &Repository, revision: &BString) -> Error {
    let entries = repository.reflog(STASH.into()).unwrap_or_default().len();
    let number = revision
        .strip_prefix(b"refs/stash@{")
        .or(revision.strip_prefix(b"stash@{"));
    let number = number.and_then(|rest| rest.strip_suffix(b"}"));
    let number = number.and_then(|digits| digits.to_str().ok()?.parse::<usize>().ok());
    let name = revision
        .find_byte(b'@')
        .map_or(&revision[..], |at| &revision[..at]);
    match number {
        Some(number) if entries > 0 && number >= entries => Error::Setup {
            reason: format!("log for '{}' only has {entries} entries", name.as_bstr()),
        },
        _ => Error::Usage {
            reason: format!("{revision} is not a valid reference"),
        },
    }
}
