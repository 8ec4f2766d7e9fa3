//! What HEAD is switched to: git-checkout(1).

use super::start::BranchStart;
use crate::branches::RemoteMatch;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;

/// The target of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name as given, for messages and the log of HEAD.
    pub name: BString,
    /// The name of the commit, for the sides of conflicts: where a branch is created, that of its
    /// start.
    pub commit_name: BString,
    /// The full name of the branch, if HEAD is to follow one.
    pub branch: Option<BString>,
    /// How that branch comes to be; `None` if it exists and stays where it is.
    pub start: Option<Start>,
    /// The commit; `None` if there is none on that branch.
    pub commit: Option<ObjectId>,
    /// What becomes of the working tree and the index.
    pub tree: TargetTree,
    /// HEAD itself or nothing was named: HEAD stays as it is, and nothing is logged.
    pub head_stays: bool,
    /// The branch may be checked out in another working tree as well.
    pub may_be_shared: bool,
}

/// How a branch that HEAD is to follow comes to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// It is created, or moved, and set up to follow another one.
    At(BranchStart),
    /// Its first commit will create it.
    Unborn {
        /// It gets a log now.
        log: bool,
    },
}

/// What becomes of the working tree and the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetTree {
    /// They become what the commit has.
    #[default]
    Commit,
    /// Everything that is tracked is removed.
    Empty,
    /// They are not looked at.
    Stays,
}

/// The meaning of a word that names an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The tree to take paths from.
    pub tree: ObjectId,
    /// The target to switch to; `None` if the object is not a commit.
    pub target: Option<Target>,
}

impl Target {
    /// HEAD as it is now. `detach`: HEAD no longer follows its branch.
    ///
    /// # Errors
    /// [`Error::Setup`] if there is no commit yet.
    pub fn head(repository: &Repository, detach: bool) -> Result<Target> {
        let commit = repository.head()?.commit();
        if commit.is_none() {
            return Err(Error::Setup {
                reason: "You are on a branch yet to be born".into(),
            });
        }
        Ok(Target {
            name: "HEAD".into(),
            commit_name: "HEAD".into(),
            branch: None,
            start: None,
            commit,
            tree: TargetTree::Commit,
            head_stays: !detach,
            may_be_shared: false,
        })
    }

    /// The meaning of `word`, which was resolved to the object `id`. A branch takes precedence over
    /// everything else of that name. `detach`: HEAD does not follow a branch.
    ///
    /// # Errors
    /// [`Error::Setup`] if it leads to no tree.
    pub fn named(
        repository: &Repository,
        word: &BStr,
        id: ObjectId,
        detach: bool,
    ) -> Result<Named> {
        let word = if word == "@" { "HEAD".into() } else { word };
        let name = repository.local_branch_name(word)?;
        let full = BString::from([b"refs/heads/".as_slice(), &name].concat());
        let branch_id = repository.reference(full.as_ref())?.and_then(|it| it.id);
        let id = branch_id.unwrap_or(id);
        let no_tree = || Error::Setup {
            reason: format!("unable to read tree ({id})"),
        };
        let Some(commit) = repository.peel_if_there(&id, Some(ObjectKind::Commit))? else {
            let tree = repository.peel_if_there(&id, Some(ObjectKind::Tree))?;
            return Ok(Named {
                tree: tree.ok_or_else(no_tree)?,
                target: None,
            });
        };
        let tree = repository.commit(&commit)?.tree;
        let branch = branch_id.filter(|_| !detach).map(|_| full);
        let target = Target {
            head_stays: !detach && branch.is_none() && name == "HEAD",
            commit_name: name.clone(),
            name,
            branch,
            start: None,
            commit: Some(commit),
            tree: TargetTree::Commit,
            may_be_shared: false,
        };
        Ok(Named {
            tree,
            target: Some(target),
        })
    }

    /// The reference here that tracks the remote's branch which `word` names by itself; `None` if
    /// there is none.
    ///
    /// # Errors
    /// [`Error::AmbiguousRemoteBranch`] if several remotes have it and none is preferred.
    pub(super) fn tracking(repository: &Repository, word: &BStr) -> Result<Option<BString>> {
        match repository.dwim_remote_branch(word)? {
            RemoteMatch::None => Ok(None),
            RemoteMatch::One(upstream) => Ok(Some(upstream.tracking)),
            RemoteMatch::Several(remotes) => Err(Error::AmbiguousRemoteBranch {
                name: word.to_owned(),
                remotes: remotes.len(),
            }),
        }
    }
}
