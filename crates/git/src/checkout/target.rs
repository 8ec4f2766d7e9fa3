//! What HEAD is switched to: git-checkout(1).

use crate::branches::{RemoteMatch, Upstream};
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
    /// The full name of the branch, if HEAD is to follow one.
    pub branch: Option<BString>,
    /// The remote's branch to create the branch from, if the branch does not exist yet.
    pub from_remote: Option<Upstream>,
    /// The commit; `None` for HEAD's branch while it is unborn.
    pub commit: Option<ObjectId>,
    /// HEAD itself or nothing was named: HEAD stays as it is, and nothing is logged.
    pub head_stays: bool,
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
        let Some(commit) = repository.peel(&id, Some(ObjectKind::Commit))? else {
            let tree = repository.peel(&id, Some(ObjectKind::Tree))?;
            return Ok(Named {
                tree: tree.ok_or_else(no_tree)?,
                target: None,
            });
        };
        let tree = repository.commit(&commit)?.tree;
        let branch = branch_id.filter(|_| !detach).map(|_| full);
        let target = Target {
            head_stays: !detach && branch.is_none() && name == "HEAD",
            name,
            branch,
            from_remote: None,
            commit: Some(commit),
        };
        Ok(Named {
            tree,
            target: Some(target),
        })
    }

    /// The remote's branch that `word` names by itself, from which a tracking branch is created;
    /// `None` if there is none.
    ///
    /// # Errors
    /// [`Error::AmbiguousRemoteBranch`] if several remotes have it and none is preferred.
    pub fn of_remote(repository: &Repository, word: &BStr) -> Result<Option<Target>> {
        let upstream = match repository.dwim_remote_branch(word)? {
            RemoteMatch::None => return Ok(None),
            RemoteMatch::One(upstream) => upstream,
            RemoteMatch::Several(remotes) => {
                return Err(Error::AmbiguousRemoteBranch {
                    name: word.to_owned(),
                    remotes: remotes.len(),
                });
            }
        };
        let tracking = repository.reference(upstream.tracking.as_ref())?;
        let Some(id) = tracking.and_then(|reference| reference.id) else {
            return Ok(None);
        };
        let commit = repository.peel(&id, Some(ObjectKind::Commit))?;
        let commit = commit.ok_or_else(|| Error::Setup {
            reason: format!(
                "Cannot switch branch to a non-commit '{}'",
                upstream.tracking
            ),
        })?;
        Ok(Some(Target {
            name: word.to_owned(),
            branch: Some([b"refs/heads/".as_slice(), word].concat().into()),
            from_remote: Some(upstream),
            commit: Some(commit),
            head_stays: false,
        }))
    }
}
