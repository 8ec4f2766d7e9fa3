//! Moving `HEAD`: what git-checkout(1) does to it.

use crate::repository::ref_update::{Logged, NewValue};
use crate::repository::refs::{broken, is_safe_name};
use crate::repository::{Head, IsCancelled, RefUpdate, Repository, Signature};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::ObjectId;

/// Where `HEAD` is to point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadTarget {
    /// A branch, by its full name; it need not exist yet.
    Branch(BString),
    /// A commit.
    Detached(ObjectId),
}

impl Repository {
    /// Points `HEAD` at `target` and logs `message`, under `HEAD.lock`. Other references are not
    /// touched. Fails with the lock's path if another process holds it.
    pub fn switch_head(
        &self,
        target: &HeadTarget,
        message: &BStr,
        committer: &Signature,
    ) -> Result<()> {
        let commit = match target {
            HeadTarget::Branch(name) => self.reference(name.as_ref())?.and_then(|found| found.id),
            HeadTarget::Detached(id) => Some(*id),
        };
        self.prepare_head(target, commit, &|| false)?
            .commit(message, committer)
    }

    /// Locks `HEAD` and fills the lock, for it to point at `target`, where `commit` is or will be.
    /// The lock is waited for as long as `core.filesRefLockTimeout` says.
    pub fn prepare_head(
        &self,
        target: &HeadTarget,
        commit: Option<ObjectId>,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'_>> {
        let lock = self.lock_reference(&self.git_dir().join("HEAD"), is_cancelled)?;
        let old = self.head()?;
        let (content, word) = match target {
            HeadTarget::Branch(name) => {
                if !name.starts_with(b"refs/") || !is_safe_name(name.as_ref()) {
                    return Err(broken(name.as_ref(), "not the name of a reference"));
                }
                let content = [b"ref: ", &name[..], b"\n"].concat();
                (Some(content), [b"ref:", &name[..]].concat().into())
            }
            HeadTarget::Detached(id) => {
                let is_there = old == (Head::Detached { id: *id });
                let content = format!("{id}\n").into_bytes();
                ((!is_there).then_some(content), id.to_string().into())
            }
        };
        let log = commit.map(|new| Logged {
            old: old.id(),
            new,
            always: false,
        });
        let value = NewValue {
            name: "HEAD".into(),
            content,
            words: (self.null_id().to_string(), word),
            log,
        };
        RefUpdate::prepare(self, lock, value)
    }

    /// The message git logs for a switch from `old` to what the user called `new`.
    /// `GIT_REFLOG_ACTION` takes its place.
    pub fn checkout_message(&self, old: &Head, new: &BStr) -> BString {
        if let Some(action) = &self.environment().reflog_action {
            return action.clone();
        }
        let from = match old {
            Head::Branch { name, .. } => {
                let name = name.as_bstr();
                name.strip_prefix(b"refs/heads/")
                    .map_or_else(|| name.to_owned(), BString::from)
            }
            Head::Detached { id } => id.to_string().into(),
        };
        [b"checkout: moving from ", &from[..], b" to ", new]
            .concat()
            .into()
    }
}
