//! Merging by moving a branch forward: git-merge(1) where no commit has to be made. Whatever would
//! need one is found before anything is touched.

mod heads;

pub use heads::{MergeHead, MergeRequest, Unmergeable};

use crate::branches::{Ended, Relation};
use crate::checkout::{Done, Move, Outcome, Rejects, Session, Share, SparseWords, Untracked, Way};
use crate::config::boolean;
use crate::refs::{Expected, Head, Logged, RefChange, RefEdit, RefValue};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;

const ORIG_HEAD: &str = "ORIG_HEAD";

/// Which merges are wanted: `--ff`, `--no-ff`, `--ff-only`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastForward {
    /// A merge commit, where the branch cannot be moved forward.
    #[default]
    Allowed,
    /// Always a merge commit.
    Never,
    /// No merge commit.
    Only,
}

impl FastForward {
    /// `merge.ff`; git takes every other word for `only`.
    pub fn configured(repository: &Repository) -> Self {
        match repository.config().string("merge.ff") {
            None => FastForward::Allowed,
            Some(word) => match boolean(word.as_bstr()) {
                Some(true) => FastForward::Allowed,
                Some(false) => FastForward::Never,
                None if word == "only" => FastForward::Only,
                None => FastForward::Allowed,
            },
        }
    }
}

/// Options of a merge.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// Which merges are wanted.
    pub fast_forward: FastForward,
    /// Histories without a common commit are merged, too.
    pub unrelated: bool,
    /// Ignored files are as valuable as untracked ones.
    pub keep_ignored: bool,
    /// A message was given, which no commit gets.
    pub message: bool,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// How a merge ended.
#[derive(Debug)]
pub enum MergeOutcome {
    /// There is nothing that HEAD does not have.
    UpToDate(Ended),
    /// HEAD was moved.
    Done(Box<FastForwarded>),
    /// Files could not be written; HEAD and the index stay where they were.
    Incomplete {
        /// From where, if HEAD has a commit, to where.
        between: (Option<ObjectId>, ObjectId),
        /// What was done, and what could not be.
        done: Done,
    },
    /// Something would be lost in going from one commit to the other; nothing was touched.
    Rejected {
        /// From where to where.
        between: [ObjectId; 2],
        /// What.
        rejects: Rejects,
    },
    /// HEAD has no commit, and something would be lost; nothing was touched.
    NotBorn(Rejects),
    /// HEAD cannot be moved forward, and only that was wanted.
    Impossible,
    /// A commit would have to be made, which is not built here; nothing was touched.
    NeedsCommit,
}

/// A merge that moved HEAD.
#[derive(Debug)]
pub struct FastForwarded {
    /// The commit of HEAD before; `None` if there was none.
    pub old: Option<ObjectId>,
    /// The commit of HEAD now.
    pub new: ObjectId,
    /// What was done in the working tree, and its failures.
    pub done: Done,
    /// What was under way and is over.
    pub ended: Ended,
    /// Why HEAD could not be moved; the index and the working tree were.
    pub head_failure: Option<Error>,
}

/// What keeps git from merging at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeHindrance {
    /// The index has conflicts.
    Unmerged,
    /// A merge was not concluded.
    Merge,
    /// A cherry-pick was not concluded.
    CherryPick,
}

/// What keeps git from merging, if anything does.
pub fn merge_hindrance(repository: &Repository) -> Result<Option<MergeHindrance>> {
    let index = repository.load_index()?;
    if index.is_some_and(|(index, _)| index.is_unmerged()) {
        return Ok(Some(MergeHindrance::Unmerged));
    }
    if hedgerow_fs::is_there(&repository.git_dir().join("MERGE_HEAD"))? {
        return Ok(Some(MergeHindrance::Merge));
    }
    let picked = repository.refs().contains("CHERRY_PICK_HEAD".into())?;
    Ok(picked.then_some(MergeHindrance::CherryPick))
}

/// Moves HEAD, the index and the working tree forward to the commit of `request`, and runs the
/// post-merge hook. In a partial clone, what is missing is fetched before anything is touched.
pub fn merge(
    repository: &Repository,
    request: &MergeRequest,
    options: &MergeOptions,
) -> Result<MergeOutcome> {
    repository.with_promised(|| try_to_merge(repository, request, options))
}

fn try_to_merge(
    repository: &Repository,
    request: &MergeRequest,
    options: &MergeOptions,
) -> Result<MergeOutcome> {
    let head = repository.head()?;
    // To git, a HEAD of only zeros has no commit.
    let Some(old) = head.id().filter(|id| !id.is_null()) else {
        return begin(repository, request, &head, options);
    };
    let heads = request.reduced(repository, Some(old))?;
    let plan = plan(repository, old, &heads, options)?;
    if plan == Plan::Commit {
        return Ok(MergeOutcome::NeedsCommit);
    }
    remember(repository, old)?;
    let new = match plan {
        Plan::UpToDate => return Ok(MergeOutcome::UpToDate(repository.remove_merge_state())),
        Plan::Commit | Plan::Impossible => return Ok(MergeOutcome::Impossible),
        Plan::Unrelated => {
            return Err(Error::Setup {
                reason: "refusing to merge unrelated histories".into(),
            })
        }
        Plan::Forward(new) => new,
    };
    let told = if options.message {
        "Fast-forward (no commit created; -m option ignored)"
    } else {
        "Fast-forward"
    };
    let message = [&action(repository, &heads)[..], b": ", told.as_bytes()].concat();
    let journey = Journey {
        head: &head,
        old: Some(old),
        new,
        message: message.into(),
    };
    let (done, head_failure) = match journey.run(repository, options)? {
        Arrival::Moved(done, head_failure) => (done, head_failure),
        Arrival::Incomplete(done) => return Ok(journey.incomplete(done)),
        Arrival::Rejected(rejects) => {
            return Ok(MergeOutcome::Rejected {
                between: [old, new],
                rejects,
            })
        }
    };
    let mut ended = Ended::default();
    if head_failure.is_none() {
        // Like git's, the result does not depend on how the hook ends.
        repository.run_hook("post-merge", vec!["0".into()], &[])?;
        ended = repository.remove_merge_state();
    }
    Ok(MergeOutcome::Done(Box::new(FastForwarded {
        old: Some(old),
        new,
        done,
        ended,
        head_failure,
    })))
}

/// A branch that is not born yet begins with what is merged.
fn begin(
    repository: &Repository,
    request: &MergeRequest,
    head: &Head,
    options: &MergeOptions,
) -> Result<MergeOutcome> {
    let refused = |reason: &str| Error::Setup {
        reason: reason.into(),
    };
    if options.fast_forward == FastForward::Never {
        return Err(refused(
            "Non-fast-forward commit does not make sense into an empty head",
        ));
    }
    let heads = request.reduced(repository, None)?;
    let [only] = heads.as_slice() else {
        return Err(refused("Can merge only exactly one commit into empty head"));
    };
    let journey = Journey {
        head,
        old: None,
        new: only.commit,
        message: "initial pull".into(),
    };
    match journey.run(repository, options)? {
        Arrival::Rejected(rejects) => Ok(MergeOutcome::NotBorn(rejects)),
        Arrival::Incomplete(done) => Ok(journey.incomplete(done)),
        Arrival::Moved(done, head_failure) => Ok(MergeOutcome::Done(Box::new(FastForwarded {
            old: None,
            new: only.commit,
            done,
            ended: Ended::default(),
            head_failure,
        }))),
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    UpToDate,
    Forward(ObjectId),
    Unrelated,
    Impossible,
    Commit,
}

fn plan(
    repository: &Repository,
    old: ObjectId,
    heads: &[&MergeHead],
    options: &MergeOptions,
) -> Result<Plan> {
    let only = options.fast_forward == FastForward::Only;
    let diverged = if only { Plan::Impossible } else { Plan::Commit };
    let head = match heads {
        [] => return Ok(Plan::UpToDate),
        [head] => head,
        _ => return Ok(diverged),
    };
    Ok(match repository.relation(&old, &head.commit)? {
        Relation::Ahead | Relation::Same => Plan::UpToDate,
        Relation::Behind => {
            let is_kept = only || head.is_kept_by_fast_forward;
            if options.fast_forward == FastForward::Never || !is_kept {
                Plan::Commit
            } else {
                Plan::Forward(head.commit)
            }
        }
        Relation::Diverged => diverged,
        Relation::Unrelated if options.unrelated => diverged,
        Relation::Unrelated => Plan::Unrelated,
    })
}

/// Sets `ORIG_HEAD`, as git does before it knows whether anything will move.
fn remember(repository: &Repository, old: ObjectId) -> Result<()> {
    let name: &BStr = ORIG_HEAD.into();
    let edit = RefEdit {
        name,
        change: RefChange::Set(RefValue::Direct(old)),
        expected: Expected::Anything,
        log: Some(Logged {
            old: None,
            new: old,
            create: repository.settings().log_ref_updates.covers(name),
        }),
        message: None,
    };
    let committer = repository.committer()?;
    repository
        .prepare_reference(edit, &|| false)?
        .commit("updating ORIG_HEAD".into(), &committer)
}

/// What the logs say that was done.
fn action(repository: &Repository, heads: &[&MergeHead]) -> BString {
    if let Some(given) = &repository.environment().reflog_action {
        return given.clone();
    }
    let mut words = vec![b"merge".as_slice()];
    words.extend(heads.iter().map(|head| head.name.as_slice()));
    bstr::join(" ", words).into()
}

/// A move of HEAD from one commit to another.
struct Journey<'a> {
    head: &'a Head,
    old: Option<ObjectId>,
    new: ObjectId,
    message: BString,
}

/// How a move ended.
enum Arrival {
    /// It was done, perhaps without HEAD.
    Moved(Done, Option<Error>),
    Incomplete(Done),
    /// Something would be lost by it.
    Rejected(Rejects),
}

impl Journey<'_> {
    /// References are locked when every other check has passed, and moved when the working tree
    /// was; a failure to move them then is part of the result.
    fn run(&self, repository: &Repository, options: &MergeOptions) -> Result<Arrival> {
        let tree_of = |id: &ObjectId| Ok::<_, Error>(repository.commit(id)?.tree);
        let job = Move {
            old: self.old.as_ref().map(tree_of).transpose()?,
            new: Some(tree_of(&self.new)?),
            way: Way::Switch,
            starts_anew: false,
            untracked: if options.keep_ignored {
                Untracked::KeepIgnored
            } else {
                Untracked::Keep
            },
            list_changes: false,
            writes_outside: &|_, _| false,
            needs_all: true,
            share: Share::All,
        };
        let mut session = Session::begin(repository, options.threshold, &options.execution)?;
        session.sparse_words = SparseWords::List;
        let branch = self.head.branch().map(ToOwned::to_owned);
        session.set_source(branch, Some(self.new));
        let committer = repository.committer()?;
        let is_cancelled = || options.execution.cancel.is_cancelled();
        let mut update = None;
        let mut prepare = || {
            let edits = repository.head_edits(self.head, self.new)?;
            update = Some(repository.prepare_references(&edits, &is_cancelled)?);
            Ok(())
        };
        let outcome = crate::checkout::update(&mut session, &job, &mut prepare)?;
        // Releases the lock on the index: the hook may need it.
        drop(session);
        let done = match outcome {
            Outcome::Done(done) => done,
            Outcome::Incomplete(done) => return Ok(Arrival::Incomplete(done)),
            Outcome::Rejected(rejects) => return Ok(Arrival::Rejected(rejects)),
            Outcome::Unmerged(_) => {
                return Err(Error::Setup {
                    reason: "Exiting because of an unresolved conflict.".into(),
                })
            }
        };
        let update = update.ok_or_else(|| Error::Internal {
            reason: "references were not prepared".into(),
        })?;
        let moved = update.commit(self.message.as_ref(), &committer);
        Ok(Arrival::Moved(done, moved.err()))
    }

    fn incomplete(&self, done: Done) -> MergeOutcome {
        MergeOutcome::Incomplete {
            between: (self.old, self.new),
            done,
        }
    }
}
