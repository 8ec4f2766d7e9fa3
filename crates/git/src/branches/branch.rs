//! Creating branches: git-branch(1), and git-checkout(1) under `--guess`.

use super::Upstream;
use crate::refs::{
    is_safe_name, Expected, IsCancelled, Logged, RefChange, RefEdit, RefValue, ReferenceProblem,
    Signature,
};
use crate::repository::{RefUpdate, Repository};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::LockFile;
use hedgerow_pack::ObjectId;

/// A branch to create or reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBranch {
    /// Its full name, `refs/heads/...`.
    pub name: BString,
    /// The commit it points to.
    pub id: ObjectId,
    /// Whether one that exists is moved; else that is an error.
    pub may_exist: bool,
    /// What its log says.
    pub message: BString,
}

/// The remotes that have a branch of some name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteMatch {
    /// None has.
    None,
    /// This one is meant: the only one that has it, or `checkout.defaultRemote`.
    One(Upstream),
    /// Several have, and none is the default.
    Several(Vec<Upstream>),
}

impl Repository {
    /// The remote branch that a name without a local branch may stand for.
    pub fn dwim_remote_branch(&self, name: &BStr) -> Result<RemoteMatch> {
        let merge = BString::from([b"refs/heads/", name.as_bytes()].concat());
        let mut matches = Vec::new();
        for remote in self.remotes() {
            let Some(tracking) = self.tracking_name(remote.as_ref(), merge.as_ref()) else {
                continue;
            };
            let found = self.reference(tracking.as_ref())?;
            if found.is_some_and(|found| found.id.is_some()) {
                matches.push(Upstream {
                    remote,
                    merge: merge.clone(),
                    tracking,
                });
            }
        }
        let default = self.settings().default_remote.as_ref();
        let preferred = matches
            .iter()
            .position(|found| Some(&found.remote) == default);
        Ok(match (matches.len(), preferred) {
            (0, _) => RemoteMatch::None,
            (1, _) => RemoteMatch::One(matches.swap_remove(0)),
            (_, Some(index)) => RemoteMatch::One(matches.swap_remove(index)),
            (_, None) => RemoteMatch::Several(matches),
        })
    }

    /// Creates or moves a branch under its lock, and logs that. Fails if the name is not one, is
    /// taken, or stands in the way of another's.
    pub fn create_branch(&self, branch: &NewBranch, committer: &Signature) -> Result<()> {
        self.prepare_branch(branch, &|| false)?
            .commit(branch.message.as_ref(), committer)
    }

    /// Locks a branch that is to be created or moved, and fills the lock. Fails as
    /// [`Repository::create_branch`] does, and if the lock is held longer than
    /// `core.filesRefLockTimeout` says.
    pub fn prepare_branch(
        &self,
        branch: &NewBranch,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'_>> {
        self.prepare_branch_logged(branch, false, is_cancelled)
    }

    /// As [`Repository::prepare_branch`]. `log`: a log is created whatever `core.logAllRefUpdates`
    /// says.
    pub(crate) fn prepare_branch_logged(
        &self,
        branch: &NewBranch,
        log: bool,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<RefUpdate<'_>> {
        let name = branch.name.as_bstr();
        let short = name.strip_prefix(b"refs/heads/").unwrap_or_default();
        if !is_branch_name(name) {
            return Err(Error::BranchName { name: short.into() });
        }
        let set = |name| RefEdit {
            name,
            change: RefChange::Set(RefValue::Direct(branch.id)),
            expected: if branch.may_exist {
                Expected::Anything
            } else {
                Expected::Absent
            },
            log: Some(Logged {
                old: None,
                new: branch.id,
                create: log || self.settings().log_ref_updates.covers(name),
            }),
            message: None,
        };
        // A branch that is another name of a reference stays one: what it names is moved.
        let target = self.reference(name)?.and_then(|found| found.target);
        let edits = match &target {
            None => vec![set(name)],
            Some(target) if !is_safe_name(target.as_ref()) => {
                return Err(Error::BranchName { name: short.into() });
            }
            Some(target) => vec![
                RefEdit {
                    change: RefChange::Follow,
                    expected: Expected::Anything,
                    ..set(name)
                },
                set(target.as_bstr()),
            ],
        };
        match self.prepare_references(&edits, is_cancelled) {
            Err(Error::Reference {
                reason: ReferenceProblem::Changed { .. },
                ..
            }) => Err(Error::Setup {
                reason: format!("a branch named '{}' already exists", short.as_bstr()),
            }),
            prepared => prepared,
        }
    }

    /// Lets the branch with the short name `branch` follow `upstream`, in the repository's
    /// configuration. The configuration of this handle does not change.
    pub fn set_upstream(&self, branch: &BStr, upstream: &Upstream) -> Result<()> {
        self.prepare_upstream(branch, upstream)?.commit()?;
        Ok(())
    }

    /// As [`Repository::set_upstream`], up to the lock that holds the new configuration.
    pub fn prepare_upstream(&self, branch: &BStr, upstream: &Upstream) -> Result<LockFile> {
        let mut settings = vec![
            ("remote", upstream.remote.clone()),
            ("merge", upstream.merge.clone()),
        ];
        if self.sets_up_rebase(upstream.remote.as_ref()) {
            settings.push(("rebase", "true".into()));
        }
        self.prepare_config(("branch", Some(branch)), &settings)
    }

    /// Whether a branch that follows one of `remote` is to be rebased: `branch.autoSetupRebase`.
    pub(crate) fn sets_up_rebase(&self, remote: &BStr) -> bool {
        let rebase = self.config().string("branch.autoSetupRebase");
        let rebase = rebase.unwrap_or_default();
        let wanted = if remote == "." { "local" } else { "remote" };
        rebase == "always" || rebase == wanted
    }
}

/// Whether `name`, a full one, can be that of a branch.
pub(crate) fn is_branch_name(name: &BStr) -> bool {
    let short = name.strip_prefix(b"refs/heads/").unwrap_or_default();
    !short.is_empty() && !short.starts_with(b"-") && short != b"HEAD" && is_safe_name(name)
}
