//! Moving HEAD, or the branch that it names, and remembering where it was.

use super::message;
use crate::refs::{Expected, Head, IsCancelled, Logged, RefChange, RefEdit, RefValue, Signature};
use crate::repository::{RefUpdate, Repository};
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;

const ORIG_HEAD: &str = "ORIG_HEAD";

/// The change of HEAD and `ORIG_HEAD`, in one transaction, prepared so that little can refuse it.
pub(super) struct HeadMove<'r> {
    update: RefUpdate<'r>,
    committer: Signature,
}

impl<'r> HeadMove<'r> {
    pub(super) fn prepare(
        repository: &'r Repository,
        head: &Head,
        commit: ObjectId,
        committer: Signature,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Self> {
        let covers = |name: &BStr| repository.settings().log_ref_updates.covers(name);
        let old = head.commit();
        let set = |name, id, expected, message| RefEdit {
            name,
            change: RefChange::Set(RefValue::Direct(id)),
            expected,
            log: Some(Logged {
                old: None,
                new: id,
                create: covers(name),
            }),
            message,
        };
        let known = match repository.reference(ORIG_HEAD.into()) {
            Ok(known) => known,
            // What is no reference is replaced.
            Err(Error::Reference { .. }) => None,
            Err(error) => return Err(error),
        };
        let known = known.and_then(|known| known.id);
        let remembered = message(repository, "updating ORIG_HEAD", None);
        let mut edits = Vec::new();
        match (old, known) {
            (Some(old), known) => edits.push(set(
                ORIG_HEAD.into(),
                old,
                known.map_or(Expected::Anything, Expected::Id),
                Some(remembered.as_bstr()),
            )),
            (None, Some(known)) => edits.push(RefEdit {
                name: ORIG_HEAD.into(),
                change: RefChange::Delete,
                expected: Expected::Id(known),
                log: None,
                message: None,
            }),
            (None, None) => {}
        }
        edits.extend(repository.head_edits(head, commit)?);
        Ok(HeadMove {
            update: repository.prepare_references(&edits, is_cancelled)?,
            committer,
        })
    }

    /// Makes the change; `revision` is what the user called the commit.
    pub(super) fn commit(self, repository: &Repository, revision: &BStr) -> Result<()> {
        let message = message(repository, "updating HEAD", Some(revision));
        self.update.commit(message.as_ref(), &self.committer)
    }
}
