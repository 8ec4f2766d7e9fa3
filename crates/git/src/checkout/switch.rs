//! Switching HEAD to a branch or a commit, together with the working tree and the index.

use super::obstacles::Untracked;
use super::outcome::{Done, LocalChange, Outcome};
use super::session::{Session, SparseWords};
use super::shares::Share;
use super::start::PreparedStart;
use super::target::{Start, Target, TargetTree};
use super::update::{update, Move, Way};
use crate::branches::{Ended, HeadTarget};
use crate::refs::{Head, IsCancelled, Signature};
use crate::repository::{RefUpdate, Repository};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;

/// Options of a switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchOptions {
    /// Overwrite local changes.
    pub discard_changes: bool,
    /// Overwrite untracked files.
    pub overwrite_untracked: bool,
    /// Ignored files are as valuable as untracked ones.
    pub keep_ignored: bool,
    /// Whether submodules move along; `None`: as `submodule.recurse` says.
    pub recurse_submodules: Option<bool>,
    /// List the local changes that were carried over.
    pub list_changes: bool,
    /// The caller runs the post-checkout hook, with [`Switched::run_hook`], after it has told of the
    /// switch.
    pub defers_hook: bool,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// Which part of the work is done, if several processes share it. Each of them writes its files
    /// and touches neither index nor HEAD; the one that finishes writes no file.
    pub share: Share,
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
    /// What the hook that the caller is to run is told: the commits before and after.
    hook_due: Option<(ObjectId, ObjectId)>,
    /// What became of local changes that were put aside for the switch; `None` if none were. If the
    /// switch was refused, they have never left their place.
    pub autostash: Option<Autostash>,
}

/// Local changes that were put aside, and brought back after the switch.
#[derive(Debug, Default)]
pub struct Autostash {
    /// They are back. If not, they are the newest entry of the stash, whatever the working tree has of
    /// them.
    pub is_applied: bool,
    /// They are neither: only `CHECKOUT_AUTOSTASH_HEAD` names this commit, which has them.
    pub unstored: Option<ObjectId>,
    /// Git's warnings about the files that were put aside.
    pub warnings: Vec<String>,
    /// What went wrong besides conflicts.
    pub failures: Vec<Error>,
    /// How files and index differ from the commit that was switched to; filled only if requested.
    pub local_changes: Vec<LocalChange>,
}

impl Switched {
    fn new(old: Head, outcome: Outcome) -> Self {
        Switched {
            old,
            outcome,
            ended: Ended::default(),
            head_failure: None,
            hook_failure: None,
            hook_due: None,
            autostash: None,
        }
    }

    /// Runs the post-checkout hook if that is still to be done.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn run_hook(&mut self, repository: &Repository) -> Result<()> {
        if let Some((before, after)) = self.hook_due.take() {
            let hook = repository.run_post_checkout(&before, &after, true)?;
            self.hook_failure = hook.filter(|exit| *exit != hedgerow_fs::Exit::Status(0));
        }
        Ok(())
    }
}

/// Moves working tree, index and HEAD to `target`, and runs the post-checkout hook. In a partial
/// clone, what is missing is fetched before anything is touched.
pub fn switch(
    repository: &Repository,
    target: &Target,
    options: &SwitchOptions,
) -> Result<Switched> {
    let words = if options.discard_changes {
        SparseWords::Lines
    } else {
        SparseWords::List
    };
    repository.with_promised(|| try_to_switch(repository, target, options, words))
}

pub(crate) fn try_to_switch(
    repository: &Repository,
    target: &Target,
    options: &SwitchOptions,
    sparse_words: SparseWords,
) -> Result<Switched> {
    let old = repository.head()?;
    refuse_shared_branch(repository, target, &old)?;
    let is_share = matches!(options.share, Share::Of(_));
    if is_share && target.start.is_some() {
        return Err(Error::Setup {
            reason: "a branch is created when the shares are finished".into(),
        });
    }
    if target.tree == TargetTree::Stays && options.share == Share::All {
        let is_cancelled = || options.execution.cancel.is_cancelled();
        let changes = RefChanges::prepare(repository, target, &old, &is_cancelled)?;
        let switched = Switched::new(old, Outcome::Done(Done::default()));
        return conclude(repository, target, options, Some(changes), switched);
    }
    let mut session = match options.share {
        Share::All => Session::begin(repository, options.threshold, &options.execution)?,
        // Who finishes takes the lock when all files have been looked at.
        _ => Session::read_only(repository, options.threshold, &options.execution)?,
    };
    session.recurse(options.recurse_submodules);
    session.sparse_words = sparse_words;
    let way = if options.discard_changes {
        Way::Overwrite
    } else {
        Way::Switch
    };
    let moved = move_to(session, target, options, way, &mut || Ok(()))?;
    moved.conclude(repository, target, options)
}

/// The tree of the HEAD that is left. If local changes are not carried over, its commit may be missing:
/// the way leads out of a broken repository, too.
pub(super) fn tree_of_old(
    repository: &Repository,
    old: &Head,
    way: Way,
) -> Result<Option<ObjectId>> {
    let may_be_missing = matches!(way, Way::Overwrite | Way::Merge);
    match old.commit() {
        Some(id) if !may_be_missing || repository.has_object(&id)? => {
            Ok(Some(repository.commit(&id)?.tree))
        }
        _ => Ok(None),
    }
}

/// A switch whose working tree and index have moved, and whose references are locked.
pub(crate) struct Moved<'r> {
    changes: Option<RefChanges<'r>>,
    pub switched: Switched,
}

/// Moves working tree and index. `prepare` is called when all checks have passed and nothing has been
/// touched; if it fails, nothing is touched.
pub(crate) fn move_to<'r>(
    mut session: Session<'r>,
    target: &Target,
    options: &SwitchOptions,
    way: Way,
    prepare: &mut dyn FnMut() -> Result<()>,
) -> Result<Moved<'r>> {
    let repository = session.repository;
    let old = repository.head()?;
    let is_cancelled = || options.execution.cancel.is_cancelled();
    let new = target.commit.map(|id| repository.commit(&id)).transpose()?;
    let job = Move {
        old: tree_of_old(repository, &old, way)?,
        new: new.map(|commit| commit.tree),
        way,
        starts_anew: true,
        untracked: match (options.overwrite_untracked, options.keep_ignored) {
            (true, _) => Untracked::Overwrite,
            (false, true) => Untracked::KeepIgnored,
            (false, false) if options.discard_changes => Untracked::KeepBeside,
            (false, false) => Untracked::Keep,
        },
        list_changes: options.list_changes && target.commit.is_some(),
        writes_outside: &|_, _| false,
        // Git moves HEAD as well: what was written is of the new commit.
        needs_all: false,
        share: options.share,
    };
    session.set_source(target.branch.clone(), target.commit);
    let mut changes = None;
    // The references are locked only when every other check has passed.
    let outcome = update(&mut session, &job, &mut || {
        if !target.head_stays && !matches!(options.share, Share::Of(_)) {
            let prepared = RefChanges::prepare(repository, target, &old, &is_cancelled)?;
            changes = Some(prepared);
        }
        prepare()
    })?;
    // Releases the lock on the index: the hook may need it.
    drop(session);
    let switched = Switched::new(old, outcome);
    Ok(Moved { changes, switched })
}

impl Moved<'_> {
    /// Moves the references too, unless the working tree could not be moved.
    pub(crate) fn conclude(
        self,
        repository: &Repository,
        target: &Target,
        options: &SwitchOptions,
    ) -> Result<Switched> {
        let is_share = matches!(options.share, Share::Of(_));
        if is_share || !matches!(self.switched.outcome, Outcome::Done(_)) {
            return Ok(self.switched);
        }
        conclude(repository, target, options, self.changes, self.switched)
    }
}

/// Moves the references, ends what was under way on the old branch, and runs the hook unless the
/// caller does.
fn conclude(
    repository: &Repository,
    target: &Target,
    options: &SwitchOptions,
    changes: Option<RefChanges<'_>>,
    mut switched: Switched,
) -> Result<Switched> {
    let moved = match changes {
        None => Ok(()),
        Some(changes) => changes.commit(repository, target, &switched.old),
    };
    // The working tree has been switched already, so a failure becomes part of the result.
    if let Err(error) = moved {
        switched.head_failure = Some(error);
        return Ok(switched);
    }
    if is_unborn(target, &switched.old) {
        // There was nothing to leave, and git runs no hook.
        return Ok(switched);
    }
    switched.ended = repository.remove_branch_state();
    let id = |id: Option<ObjectId>| id.unwrap_or(repository.null_id());
    let (before, after) = (id(switched.old.commit()), id(target.commit));
    switched.hook_due = Some((before, after));
    if !options.defers_hook {
        switched.run_hook(repository)?;
    }
    Ok(switched)
}

/// Whether HEAD went from one unborn branch to another.
fn is_unborn(target: &Target, old: &Head) -> bool {
    target.commit.is_none() && old.commit().is_none()
}

/// Refuses a branch that another working tree has checked out: it would move under that one.
fn refuse_shared_branch(repository: &Repository, target: &Target, old: &Head) -> Result<()> {
    let Some(branch) = &target.branch else {
        return Ok(());
    };
    if target.may_be_shared || old.branch() == Some(branch.as_bstr()) {
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
    branch: Option<PreparedStart<'r>>,
}

impl<'r> RefChanges<'r> {
    fn prepare(
        repository: &'r Repository,
        target: &Target,
        old: &Head,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Self> {
        let committer = repository.committer()?;
        let branch = match &target.start {
            Some(Start::At(start)) => Some(start.prepare(repository, is_cancelled)?),
            Some(Start::Unborn { .. }) | None => None,
        };
        let commit = match (&target.start, &target.branch) {
            // From a branch that was never born to one that is there: its commit is logged.
            (Some(Start::Unborn { .. }), Some(branch)) if is_unborn(target, old) => {
                let found = repository.reference(branch.as_bstr())?;
                found.and_then(|found| found.id)
            }
            (Some(Start::Unborn { .. }), _) => None,
            (Some(Start::At(_)) | None, _) => target.commit,
        };
        let head = match (&target.branch, target.commit) {
            (Some(branch), _) => HeadTarget::Branch(branch.clone()),
            (None, Some(commit)) => HeadTarget::Detached(commit),
            (None, None) => {
                return Err(Error::Internal {
                    reason: "a target is a branch or a commit".into(),
                });
            }
        };
        Ok(RefChanges {
            committer,
            head: repository.prepare_head(&head, commit, is_cancelled)?,
            branch,
        })
    }

    fn commit(self, repository: &Repository, target: &Target, old: &Head) -> Result<()> {
        if let Some(Start::Unborn { log: true }) = target.start {
            repository.create_log(target.branch.as_ref().map_or("".into(), |it| it.as_bstr()))?;
        }
        if let Some(branch) = self.branch {
            branch.commit(&self.committer)?;
        }
        let message = if is_unborn(target, old) {
            "checkout -b".into()
        } else {
            repository.checkout_message(old, target.name.as_bstr())
        };
        self.head.commit(message.as_bstr(), &self.committer)?;
        // The log of a branch that was never born goes with it.
        match old {
            Head::Branch { name, id: None } if Some(name) != target.branch.as_ref() => {
                repository.delete_log(name.as_bstr())
            }
            _ => Ok(()),
        }
    }
}

/// The name of a branch without `refs/heads/`.
pub fn short(branch: &BStr) -> BString {
    branch.strip_prefix(b"refs/heads/").unwrap_or(branch).into()
}
