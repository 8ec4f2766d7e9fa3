//! Moving HEAD, or the branch that it names, and remembering where it was.

use super::message;
use crate::refs::{Expected, Head, IsCancelled, Logged, RefChange, RefEdit, RefValue, Signature};
use crate::repository::{RefUpdate, Repository};
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;
use std::io::ErrorKind;

const ORIG_HEAD: &str = "ORIG_HEAD";

/// The change of HEAD and `ORIG_HEAD`, in one transaction, prepared so that little can refuse it.
pub(super) struct HeadMove<'r> {
    update: RefUpdate<'r>,
    committer: Signature,
    /// Why `ORIG_HEAD` stays as it is, as git says it. As with git, that keeps HEAD from nothing.
    pub remark: Option<String>,
}

impl<'r> HeadMove<'r> {
    pub(super) fn prepare(
        repository: &'r Repository,
        head: &Head,
        commit: ObjectId,
        committer: Signature,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Self> {
        let remembered = message(repository, "updating ORIG_HEAD", None);
        let edits = repository.head_edits(head, commit)?;
        let mut remark = None;
        match head.commit() {
            Some(old) if !repository.has_object(&old)? => {
                let reason =
                    format!("trying to write ref '{ORIG_HEAD}' with nonexistent object {old}");
                remark = Some(not_remembered(reason));
            }
            old => {
                let mut both = Vec::from_iter(remember(repository, old, remembered.as_bstr())?);
                both.extend(edits.iter().cloned());
                match repository.prepare_references(&both, is_cancelled) {
                    // A hook has refused.
                    Err(error @ (Error::Setup { .. } | Error::Interrupted)) => return Err(error),
                    Err(error) => remark = Some(not_remembered(locked(&error))),
                    Ok(update) => {
                        return Ok(HeadMove {
                            update,
                            committer,
                            remark,
                        })
                    }
                }
            }
        }
        Ok(HeadMove {
            update: repository.prepare_references(&edits, is_cancelled)?,
            committer,
            remark,
        })
    }

    /// Makes the change; `revision` is what the user called the commit.
    pub(super) fn commit(self, repository: &Repository, revision: &BStr) -> Result<()> {
        let message = message(repository, "updating HEAD", Some(revision));
        self.update.commit(message.as_ref(), &self.committer)
    }
}

/// Sets `ORIG_HEAD` to the commit `old`. If there is none, it goes.
fn remember<'m>(
    repository: &Repository,
    old: Option<ObjectId>,
    message: &'m BStr,
) -> Result<Option<RefEdit<'m>>> {
    let known = match repository.reference(ORIG_HEAD.into()) {
        Ok(known) => known,
        // What is no reference is replaced.
        Err(Error::Reference { .. }) => None,
        Err(error) => return Err(error),
    };
    let known = known.and_then(|known| known.id);
    let name: &BStr = ORIG_HEAD.into();
    Ok(match (old, known) {
        (Some(old), known) => Some(RefEdit {
            name,
            change: RefChange::Set(RefValue::Direct(old)),
            expected: known.map_or(Expected::Anything, Expected::Id),
            log: Some(Logged {
                old: None,
                new: old,
                create: repository.settings().log_ref_updates.covers(name),
            }),
            message: Some(message),
        }),
        (None, Some(known)) => Some(RefEdit {
            name,
            change: RefChange::Delete,
            expected: Expected::Id(known),
            log: None,
            message: None,
        }),
        (None, None) => None,
    })
}

fn not_remembered(reason: String) -> String {
    format!("update_ref failed for ref '{ORIG_HEAD}': {reason}")
}

/// The words of an error, which are git's if somebody else holds the lock.
fn locked(error: &Error) -> String {
    match error {
        Error::Fs(error) if error.kind() == ErrorKind::AlreadyExists => {
            let path = error.path.display();
            format!(
                "cannot lock ref '{ORIG_HEAD}': Unable to create '{path}': File exists.\n\n\
                 Another git process seems to be running in this repository, or the lock file may \
                 be stale"
            )
        }
        error => error.to_string(),
    }
}
