//! Switching HEAD to a branch or a commit, with the working tree and the index.

use super::outcome::{Done, Outcome};
use super::session::Session;
use super::target::Target;
use super::update::{update, Move};
use crate::repository::{Head, HeadTarget, NewBranch, Repository};
use crate::worktree::Execution;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;

/// How to switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchOptions {
    /// Overwrite local changes and untracked files.
    pub force: bool,
    /// List what is changed and was carried over.
    pub list_changes: bool,
    /// How to run it.
    pub execution: Execution,
}

/// What was switched.
#[derive(Debug)]
pub struct Switched {
    /// Where HEAD was before.
    pub old: Head,
    /// What became of the working tree.
    pub outcome: Outcome,
    /// What was going on on the old branch and has been given up: a cherry-pick, a revert.
    pub ended: Vec<&'static str>,
    /// Why HEAD could not follow; working tree and index did.
    pub head_failure: Option<Error>,
    /// The exit status of the post-checkout hook, if one ran and failed.
    pub hook_failure: Option<hedgerow_fs::Exit>,
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
        return Ok(Switched {
            old,
            outcome: Outcome::Done(Done::default()),
            ended: Vec::new(),
            head_failure: None,
            hook_failure: None,
        });
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
    let mut session = Session::begin(repository, &options.execution)?;
    session.set_source(target.branch.clone(), Some(commit));
    let outcome = update(&mut session, &job)?;
    drop(session);
    if !matches!(outcome, Outcome::Done(_)) {
        return Ok(Switched {
            old,
            outcome,
            ended: Vec::new(),
            head_failure: None,
            hook_failure: None,
        });
    }
    let moved = match target.head_stays {
        true => Ok(()),
        false => move_head(repository, target, &old, commit),
    };
    let ended = match moved.and_then(|()| repository.remove_branch_state()) {
        Ok(ended) => ended,
        Err(error) => {
            return Ok(Switched {
                old,
                outcome,
                ended: Vec::new(),
                head_failure: Some(error),
                hook_failure: None,
            })
        }
    };
    let null = repository.null_id();
    let before = old.id().unwrap_or(null);
    let hook = repository.run_post_checkout(&before, &commit, true)?;
    let hook_failure = hook.filter(|exit| *exit != hedgerow_fs::Exit::Status(0));
    Ok(Switched {
        old,
        outcome,
        ended,
        head_failure: None,
        hook_failure,
    })
}

/// A branch that another working tree has checked out would move under it.
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

fn move_head(repository: &Repository, target: &Target, old: &Head, commit: ObjectId) -> Result<()> {
    let committer = repository.committer()?;
    let message = repository.checkout_message(old, target.name.as_bstr());
    let head = match &target.branch {
        Some(branch) => {
            if let Some(upstream) = &target.from_remote {
                let short_tracking = upstream.tracking.as_bstr();
                let new = NewBranch {
                    name: branch.clone(),
                    id: commit,
                    may_exist: false,
                    message: format!("branch: Created from {short_tracking}").into(),
                };
                repository.create_branch(&new, &committer)?;
                repository.set_upstream(short(branch.as_bstr()).as_bstr(), upstream)?;
            }
            HeadTarget::Branch(branch.clone())
        }
        None => HeadTarget::Detached(commit),
    };
    repository.switch_head(&head, message.as_bstr(), &committer)
}

/// The name of a branch without `refs/heads/`.
pub fn short(branch: &BStr) -> BString {
    branch.strip_prefix(b"refs/heads/").unwrap_or(branch).into()
}
