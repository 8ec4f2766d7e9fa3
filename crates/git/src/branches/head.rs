//! Moving `HEAD`: what git-checkout(1) does to it.

use crate::refs::{
    is_safe_name, problem, Expected, Head, IsCancelled, LogMessage, Logged, RefChange, RefEdit,
    RefValue, ReferenceProblem, Signature,
};
use crate::repository::{RefUpdate, Repository};
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
        let value = match target {
            HeadTarget::Branch(name) => {
                if !name.starts_with(b"refs/") || !is_safe_name(name.as_ref()) {
                    return Err(problem(name.as_ref(), ReferenceProblem::NoName));
                }
                RefValue::Symbolic(name.clone())
            }
            HeadTarget::Detached(id) => RefValue::Direct(*id),
        };
        let name: &BStr = "HEAD".into();
        // Where the branch that HEAD follows moves, it moves first, and its own change is logged.
        let is_followed = matches!(
            (self.head(), target),
            (Ok(Head::Branch { name, .. }), HeadTarget::Branch(target)) if name == *target
        );
        let edit = RefEdit {
            name,
            change: RefChange::Set(value),
            expected: Expected::Anything,
            log: commit.map(|new| Logged {
                old: is_followed.then_some(new),
                new,
                create: self.settings().log_ref_updates.covers(name),
            }),
            message: None,
        };
        self.prepare_reference(edit, is_cancelled)
    }

    /// The edits that move `head`, what `HEAD` says now, to `commit`: the branch, if it names one, and
    /// the log of `HEAD` with it.
    pub(crate) fn head_edits<'h>(
        &self,
        head: &'h Head,
        commit: ObjectId,
    ) -> Result<Vec<RefEdit<'h>>> {
        let set = |name: &'h BStr| RefEdit {
            name,
            change: RefChange::Set(RefValue::Direct(commit)),
            expected: head.id().map_or(Expected::Anything, Expected::Id),
            log: Some(Logged {
                old: None,
                new: commit,
                create: self.settings().log_ref_updates.covers(name),
            }),
            message: None,
        };
        match head {
            Head::Detached { .. } => Ok(vec![set("HEAD".into())]),
            Head::Branch { name, .. } => {
                if !is_safe_name(name.as_ref()) {
                    return Err(problem(name.as_ref(), ReferenceProblem::NoName));
                }
                let follow = RefEdit {
                    change: RefChange::Follow,
                    ..set("HEAD".into())
                };
                Ok(vec![follow, set(name.as_ref())])
            }
        }
    }

    /// Logs that `HEAD` follows its branch from `old` to `new`.
    pub(crate) fn log_head_following(
        &self,
        (old, new): (Option<ObjectId>, ObjectId),
        message: &BStr,
        committer: &Signature,
    ) -> Result<()> {
        let name: &BStr = "HEAD".into();
        let logged = Logged {
            old,
            new,
            create: self.settings().log_ref_updates.covers(name),
        };
        let message = LogMessage {
            text: message,
            committer,
        };
        let options = self.write_options(&|| false)?;
        self.refs().append_log(name, old, logged, &options, message)
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
            Head::Detached { id } if id.is_null() => "(invalid)".into(),
            Head::Detached { id } => id.to_string().into(),
        };
        [b"checkout: moving from ", &from[..], b" to ", new]
            .concat()
            .into()
    }
}
