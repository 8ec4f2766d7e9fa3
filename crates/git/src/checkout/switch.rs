//! Switching HEAD to a branch or a commit, with the working tree and the index.

use super::outcome::{Done, Outcome};
use super::session::Session;
use super::update::{update, Move};
use crate::repository::{Head, HeadTarget, NewBranch, RemoteMatch, Repository, Upstream};
use crate::worktree::Execution;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;

/// What is to be checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The words it was named with, for messages and the log of HEAD.
    pub name: BString,
    /// The full name of the branch, if HEAD is to follow one.
    pub branch: Option<BString>,
    /// The branch of a remote to create the branch from, if it does not exist yet.
    pub from_remote: Option<Upstream>,
    /// The commit; `None` for the branch of HEAD when it is not born yet.
    pub commit: Option<ObjectId>,
    /// HEAD was named, or nothing: it stays what it is, and nothing is logged.
    pub head_stays: bool,
}

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

impl Target {
    /// Where HEAD is already. `detach`: it is not to follow its branch any more.
    pub fn head(repository: &Repository, detach: bool) -> Result<Target> {
        let commit = repository.head()?.id();
        if commit.is_none() {
            return Err(Error::Setup {
                reason: "You are on a branch yet to be born".into(),
            });
        }
        Ok(Target {
            name: "HEAD".into(),
            branch: None,
            from_remote: None,
            commit,
            head_stays: !detach,
        })
    }

    /// What `words` name: a branch, or else any revision. `None` if they name nothing, with
    /// `guess` not even one branch of a remote. `detach`: HEAD is not to follow a branch.
    pub fn named(
        repository: &Repository,
        words: &BStr,
        detach: bool,
        guess: bool,
    ) -> Result<Option<Target>> {
        let words = match words.as_bytes() {
            b"-" => BStr::new("@{-1}"),
            _ => words,
        };
        let name = repository.expand_branch_name(words)?;
        let full = BString::from([b"refs/heads/".as_slice(), &name].concat());
        if let Some(reference) = repository.reference(full.as_bstr())?.filter(|_| !detach) {
            if let Some(id) = reference.id {
                let commit = Some(peeled(repository, id, words)?);
                return Ok(Some(Target {
                    name,
                    branch: Some(full),
                    from_remote: None,
                    commit,
                    head_stays: false,
                }));
            }
        }
        match repository.resolve_commit(words) {
            Ok(id) => {
                let commit = Some(id);
                return Ok(Some(Target {
                    head_stays: !detach && name == "HEAD",
                    name,
                    branch: None,
                    from_remote: None,
                    commit,
                }));
            }
            Err(Error::Revision { .. }) => {}
            Err(error) => return Err(error),
        }
        if !guess || detach {
            return Ok(None);
        }
        Target::of_remote(repository, name, full)
    }

    fn of_remote(repository: &Repository, name: BString, full: BString) -> Result<Option<Target>> {
        match repository.dwim_remote_branch(name.as_bstr())? {
            RemoteMatch::None => Ok(None),
            RemoteMatch::One(upstream) => {
                let tracking = repository.reference(upstream.tracking.as_bstr())?;
                let id = tracking.and_then(|reference| reference.id);
                let commit = id
                    .map(|id| peeled(repository, id, name.as_bstr()))
                    .transpose()?;
                let branch = Some(full);
                Ok(Some(Target {
                    name,
                    branch,
                    from_remote: Some(upstream),
                    commit,
                    head_stays: false,
                }))
            }
            RemoteMatch::Several(remotes) => Err(Error::Setup {
                reason: format!(
                    "'{name}' matched multiple ({}) remote tracking branches",
                    remotes.len()
                ),
            }),
        }
    }
}

fn peeled(repository: &Repository, id: ObjectId, spec: &BStr) -> Result<ObjectId> {
    repository
        .peel(&id, Some(hedgerow_pack::ObjectKind::Commit))?
        .ok_or_else(|| Error::Revision {
            spec: spec.to_owned(),
            reason: "it is not a commit".into(),
        })
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
