//! Moving HEAD, or setting paths of the index: git-reset(1).

mod head;
mod mixed;
mod request;

pub use request::{ResetRequest, ResetTarget};

use super::obstacles::Untracked;
use super::outcome::{Done, LocalChange, Outcome};
use super::rejects::Rejects;
use super::session::Session;
use super::shares::Share;
use super::switch::tree_of_old;
use super::update::{update, Move, Way};
use crate::branches::Ended;
use crate::repository::{Fallback, Repository};
use crate::{Error, Result};
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use head::HeadMove;
use hedgerow_engine::Execution;
use mixed::MixedReset;
use std::time::Duration;

/// What a reset changes besides HEAD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetMode {
    /// Nothing.
    Soft,
    /// The index.
    #[default]
    Mixed,
    /// The index and the working tree; local changes are lost.
    Hard,
    /// The index, and the files that differ between HEAD and the target. Refused if one of them has
    /// local changes.
    Keep,
    /// The index, and the files that differ between the index and the target. Refused if one of them
    /// has changes that are not in the index.
    Merge,
}

impl ResetMode {
    /// Git's name of it.
    pub fn name(self) -> &'static str {
        match self {
            ResetMode::Soft => "soft",
            ResetMode::Mixed => "mixed",
            ResetMode::Hard => "hard",
            ResetMode::Keep => "keep",
            ResetMode::Merge => "merge",
        }
    }
}

/// Options of a reset.
#[derive(Clone, Debug, Default)]
pub struct ResetOptions {
    /// What is changed; paths can only be reset in the mode [`ResetMode::Mixed`].
    pub mode: ResetMode,
    /// Paths that the index loses are marked as to be added later.
    pub intent_to_add: bool,
    /// Leave the stat data of the index as they are, and do not look for unstaged changes.
    pub no_refresh: bool,
    /// Count every file as the index has it, without looking: the working tree was just made.
    pub trusts_index: bool,
    /// Whether submodules move along; `None`: as `submodule.recurse` says.
    pub recurse_submodules: Option<bool>,
    /// Who is written into the logs if nobody is configured, and not the account of this process.
    pub fallback: Option<Fallback>,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// How a reset ended.
#[derive(Debug)]
pub enum ResetOutcome {
    /// Done, apart from the failures it lists.
    Done(Box<Reset>),
    /// Files could not be written; HEAD and the index stay where they were.
    Incomplete(Box<Done>),
    /// Something would be lost; nothing was touched.
    Rejected(Rejects),
    /// HEAD has no commit whose files could be kept; nothing was touched.
    NoHead,
}

/// Result of a reset that was done.
#[derive(Debug, Default)]
pub struct Reset {
    /// What was done in the working tree, and its failures.
    pub done: Done,
    /// The commit that HEAD was moved to.
    pub commit: Option<ObjectId>,
    /// Files that differ from the index, and paths in conflict (`U`), if they were looked for.
    pub unstaged: Vec<LocalChange>,
    /// How long they were looked for.
    pub refreshed_in: Duration,
    /// The operations in progress that were ended.
    pub ended: Ended,
    /// Why HEAD could not be moved; the index and the working tree were.
    pub head_failure: Option<Error>,
}

/// Moves HEAD as requested, with the index and the working tree as `options` say; or sets paths of
/// the index.
///
/// # Errors
/// [`Error::Setup`], in git's words, if the request cannot be met: nothing was touched.
pub fn reset(
    repository: &Repository,
    request: &ResetRequest,
    options: &ResetOptions,
) -> Result<ResetOutcome> {
    refuse(repository, request, options)?;
    repository.with_promised(|| try_to_reset(repository, request, options))
}

fn try_to_reset(
    repository: &Repository,
    request: &ResetRequest,
    options: &ResetOptions,
) -> Result<ResetOutcome> {
    match &request.target {
        ResetTarget::Paths { tree, pathspecs } => {
            let job = MixedReset {
                tree: *tree,
                pathspecs,
                options,
            };
            let reset = job.run(repository, &mut || Ok(()))?;
            Ok(ResetOutcome::Done(Box::new(reset)))
        }
        ResetTarget::Commit(commit) => move_head(repository, request, Some(*commit), options),
        ResetTarget::Unborn => move_head(repository, request, None, options),
    }
}

/// Notes a reset to `HEAD` that had nothing to change, as one that had.
pub(crate) fn note_reset(repository: &Repository, execution: &Execution) -> Result<()> {
    let head = repository.head()?;
    let Some(commit) = head.id() else {
        return Ok(());
    };
    let is_cancelled = || execution.cancel.is_cancelled();
    let committer = repository.committer()?;
    let moved = HeadMove::prepare(repository, &head, commit, committer, &is_cancelled)?;
    moved.commit(repository, "HEAD".into())
}

/// Refuses what git refuses before it looks at anything.
fn refuse(repository: &Repository, request: &ResetRequest, options: &ResetOptions) -> Result<()> {
    let mode = options.mode;
    let is_of_paths = matches!(request.target, ResetTarget::Paths { .. });
    if is_of_paths && mode != ResetMode::Mixed {
        return Err(refused(format!(
            "Cannot do {} reset with paths.",
            mode.name()
        )));
    }
    if mode == ResetMode::Mixed && repository.is_bare() {
        let reason = "mixed reset is not allowed in a bare repository";
        return Err(refused(reason.into()));
    }
    // In the Git directory of a repository that is not bare, the index can still be reset.
    let is_about_index = mode == ResetMode::Mixed && !repository.lost_work_tree();
    if !is_about_index && mode != ResetMode::Soft {
        repository.require_work_tree()?;
    }
    if options.intent_to_add && mode != ResetMode::Mixed {
        return Err(refused("the option '-N' requires '--mixed'".into()));
    }
    if matches!(mode, ResetMode::Soft | ResetMode::Keep) {
        let loaded = repository.load_index()?;
        let is_unmerged = loaded.is_some_and(|(index, _)| index.is_unmerged());
        if is_unmerged || hedgerow_fs::is_there(&repository.git_dir().join("MERGE_HEAD"))? {
            let name = mode.name();
            let reason = format!("Cannot do a {name} reset in the middle of a merge.");
            return Err(refused(reason));
        }
    }
    Ok(())
}

/// Moves HEAD to `commit`; to the empty tree if HEAD has no commit yet.
fn move_head(
    repository: &Repository,
    request: &ResetRequest,
    commit: Option<ObjectId>,
    options: &ResetOptions,
) -> Result<ResetOutcome> {
    let head = repository.head()?;
    let tree = match &commit {
        Some(commit) => repository.commit(commit)?.tree,
        None => repository.hash_kind().empty_tree(),
    };
    let mut moved = None;
    let is_cancelled = || options.execution.cancel.is_cancelled();
    let mut prepare = || {
        if let Some(commit) = commit {
            let committer = match options.fallback {
                Some(fallback) => repository.committer_or(fallback)?,
                None => repository.committer()?,
            };
            let prepared = HeadMove::prepare(repository, &head, commit, committer, &is_cancelled)?;
            moved = Some(prepared);
        }
        Ok(())
    };
    let way = match options.mode {
        ResetMode::Soft | ResetMode::Mixed => None,
        ResetMode::Hard => Some(Way::Overwrite),
        ResetMode::Keep => Some(Way::Keep),
        ResetMode::Merge => Some(Way::Merge),
    };
    let mut reset = match (way, options.mode) {
        (Some(way), _) => {
            let old = tree_of_old(repository, &head, way)?;
            if way == Way::Keep && old.is_none() {
                return Ok(ResetOutcome::NoHead);
            }
            let job = Move {
                old,
                new: Some(tree),
                way,
                starts_anew: false,
                untracked: if way == Way::Overwrite {
                    Untracked::Overwrite
                } else {
                    Untracked::Keep
                },
                list_changes: false,
                writes_outside: &|_, _| false,
                needs_all: true,
                share: Share::All,
            };
            let mut session = Session::begin(repository, options.threshold, &options.execution)?;
            session.trusts_index = options.trusts_index;
            session.recurse(options.recurse_submodules);
            let source = request.branch(repository)?;
            session.set_source(source, Some(commit.unwrap_or(tree)));
            match update(&mut session, &job, &mut prepare)? {
                Outcome::Done(done) => Reset {
                    done,
                    ..Reset::default()
                },
                Outcome::Incomplete(done) => return Ok(ResetOutcome::Incomplete(Box::new(done))),
                Outcome::Rejected(rejects) => return Ok(ResetOutcome::Rejected(rejects)),
                Outcome::Unmerged(_) => {
                    return Err(Error::Internal {
                        reason: "a conflict was overlooked".into(),
                    })
                }
            }
        }
        (None, ResetMode::Soft) => {
            prepare()?;
            Reset::default()
        }
        (None, _) => {
            let job = MixedReset {
                tree,
                pathspecs: &[],
                options,
            };
            job.run(repository, &mut prepare)?
        }
    };
    reset.commit = commit;
    if let Some(mut moved) = moved {
        reset.done.remarks.extend(moved.remark.take());
        // The index has been written already, so a failure becomes part of the result.
        if let Err(error) = moved.commit(repository, request.revision.as_ref()) {
            reset.head_failure = Some(error);
        }
    }
    reset.ended = repository.remove_branch_state();
    Ok(ResetOutcome::Done(Box::new(reset)))
}

fn refused(reason: String) -> Error {
    Error::Setup { reason }
}

/// What `GIT_REFLOG_ACTION` makes of a message.
fn message(repository: &Repository, action: &str, revision: Option<&BStr>) -> BString {
    match (&repository.environment().reflog_action, revision) {
        (Some(given), _) => [&given[..], b": ", action.as_bytes()].concat().into(),
        (None, Some(revision)) => [b"reset: moving to ".as_slice(), revision].concat().into(),
        (None, None) => format!("reset: {action}").into(),
    }
}
