//! Switching HEAD to a branch or a commit, together with the working tree and the index.

use super::outcome::{Done, Outcome};
use super::session::Session;
use super::target::Target;
use super::update::{update, Move};
use crate::branches::{Ended, HeadTarget, NewBranch};
use crate::refs::{Head, IsCancelled, Signature};
use crate::repository::{RefUpdate, Repository};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;

/// Options of a switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchOptions {
    /// Overwrite local changes and untracked files.
    pub force: bool,
    /// List the local changes that were carried over.
    pub list_changes: bool,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// Result of a switch.
#[derive(Debug)]
pub struct Switched {
    /// HEAD before the switch.
    pub old: Head,
    /// How the update of the working tree ended.
    pub outcome: Outcome,
    /// The operations in progress on the old branch that were ended.
    pub ended: Ended,
    /// Why HEAD could not be updated; the working tree and the index were.
    pub head_failure: Option<Error>,
    /// The exit status of the post-checkout hook, if one ran and failed.
    pub hook_failure: Option<hedgerow_fs::Exit>,
}

impl Switched {
    fn new(old: Head, outcome: Outcome) -> Self {
        Switched {
            old,
            outcome,
            ended: Ended::default(),
            head_failure: None,
            hook_failure: None,
        }
    }
}

/// Moves working tree, index and HEAD to `target`, and runs the post-checkout hook.
pub fn switch(
    repository: &Repository,
    target: &Target,
    options: &SwitchOptions,
) -> Result<Switched> {
    let old = repository.head()?;
    refuse_shared_branch(repository, target, &old)?;
    let Some(commit) = target.commit else {
        return Ok(Switched::new(old, Outcome::Done(Done::default())));
    };
    let old_tree = old
        .id()
        .map(|id| repository.commit(&id))
        .transpose()?
        .map(|c| c.tree);
    let job = Move {
        old: old_tree,
        new: repository.commit(&commit)?.tree,
        force: options.force,
        list_changes: options.list_changes,
    };
    let mut session = Session::begin(repository, options.threshold, &options.execution)?;
    session.set_source(target.branch.clone(), Some(commit));
    let mut changes = None;
    let is_cancelled = || options.execution.cancel.is_cancelled();
    // The references are locked only when every other check has passed.
    let outcome = update(&mut session, &job, &mut || {
        if !target.head_stays {
            let prepared = RefChanges::prepare(repository, target, commit, &is_cancelled)?;
            changes = Some(prepared);
        }
        Ok(())
    })?;
    // Releases the lock on the index: the hook may need it.
    drop(session);
    let mut switched = Switched::new(old, outcome);
    if !matches!(switched.outcome, Outcome::Done(_)) {
        return Ok(switched);
    }
    let moved = match changes {
        None => Ok(()),
        Some(changes) => changes.commit(repository, target, &switched.old),
    };
    // The working tree has been switched already, so a failure becomes part of the result.
    match moved.and_then(|()| repository.remove_branch_state()) {
        Ok(ended) => switched.ended = ended,
        Err(error) => {
            switched.head_failure = Some(error);
            return Ok(switched);
        }
    }
    let before = switched.old.id().unwrap_or(repository.null_id());
    let hook = repository.run_post_checkout(&before, &commit, true)?;
    switched.hook_failure = hook.filter(|exit| *exit != hedgerow_fs::Exit::Status(0));
    Ok(switched)
}

/// Refuses a branch that another working tree has checked out: it would move under that one.
fn refuse_shared_branch(repository: &Repository, target: &Target, old: &Head) -> Result<()> {
    let Some(branch) = &target.branch else {
        return Ok(());
    };
    if old.branch() == Some(branch.as_bstr()) {
        return Ok(());
    }
    match repository.branch_checked_out_elsewhere(branch.as_bstr())? {
        None => Ok(()),
        Some(path) => Err(Error::Setup {
            reason: format!(
                "'{}' is already used by worktree at '{}'",
                short(branch.as_bstr()),
                path.display()
            ),
        }),
    }
}

/// What a switch changes besides the working tree and the index: locked and prepared, so that none
/// of it can be refused once the working tree has been touched.
struct RefChanges<'r> {
    committer: Signature,
    head: RefUpdate<'r>,
    branch: Option<CreatedBranch<'r>>,
}

/// A branch created from a remote's branch.
struct CreatedBranch<'r> {
    update: RefUpdate<'r>,
    message: BString,
}

impl<'r> RefChanges<'r> {
    fn prepare(
        repository: &'r Repository,
        target: &Target,
        commit: ObjectId,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Self> {
        let committer = repository.committer()?;
        let branch = match (&target.branch, &target.from_remote) {
            (Some(branch), Some(upstream)) => {
                let message = format!("branch: Created from {}", upstream.tracking).into();
                let new = NewBranch {
                    name: branch.clone(),
                    id: commit,
                    may_exist: false,
                    message,
                };
                let name = short(branch.as_bstr());
                let update = repository.prepare_branch(&new, is_cancelled)?;
                // Checks only that the configuration can be changed, and releases its lock: others
                // need it meanwhile.
                drop(repository.prepare_upstream(name.as_bstr(), upstream)?);
                let message = new.message;
                Some(CreatedBranch { update, message })
            }
            _ => None,
        };
        let head = match &target.branch {
            Some(branch) => HeadTarget::Branch(branch.clone()),
            None => HeadTarget::Detached(commit),
        };
        Ok(RefChanges {
            committer,
            head: repository.prepare_head(&head, Some(commit), is_cancelled)?,
            branch,
        })
    }

    fn commit(self, repository: &Repository, target: &Target, old: &Head) -> Result<()> {
        if let Some(CreatedBranch { update, message }) = self.branch {
            update.commit(message.as_bstr(), &self.committer)?;
        }
        if let (Some(branch), Some(upstream)) = (&target.branch, &target.from_remote) {
            repository.set_upstream(short(branch.as_bstr()).as_bstr(), upstream)?;
        }
        let message = repository.checkout_message(old, target.name.as_bstr());
        self.head.commit(message.as_bstr(), &self.committer)
    }
}

/// The name of a branch without `refs/heads/`.
pub fn short(branch: &BStr) -> BString {
    branch.strip_prefix(b"refs/heads/").unwrap_or(branch).into()
}
