//! Reading trees into the index, with or without a merge: git-read-tree(1).

mod join;

use super::carry_out::{carry_out, Before};
use super::examine::{smudge_unexamined, Examined};
use super::obstacles::Untracked;
use super::outcome::Done;
use super::recursion::Recursion;
use super::rejects::Rejects;
use super::session::Session;
use super::transition::{Effect, Rules, Transition};
use super::update::cache_tree;
use crate::index::Index;
use crate::repository::Repository;
use crate::worktree::OldIndex;
use crate::{Error, Result};
use bstr::BString;
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{LockFile, Timestamp};
use join::{joined, overlaid, Joined, Merge};
use std::path::PathBuf;

/// Git reads no more trees at a time.
const TREES_LIMIT: usize = 8;

/// How trees are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReadTreeMode {
    /// The index is replaced; of several trees, the last that has a path counts.
    #[default]
    Plain,
    /// One tree replaces the index, of which the stat data are kept; two are merged with the index;
    /// of three and more, the last two are merged with each other and the index.
    Merge,
    /// The same; conflicts in the index, local changes and untracked files are overwritten.
    Reset,
    /// A single tree is added below this directory; several are merged there, as by `Merge`.
    Prefix(BString),
}

/// Options of reading trees.
#[derive(Clone, Debug, Default)]
pub struct ReadTreeOptions {
    /// Trees, or what leads to them.
    pub trees: Vec<ObjectId>,
    /// How they are read.
    pub mode: ReadTreeMode,
    /// Update the working tree, too.
    pub update: bool,
    /// Do not look at the working tree at all.
    pub index_only: bool,
    /// Refuse a merge that leaves conflicts.
    pub trivial: bool,
    /// The index begins anew, whatever is in its place.
    pub anew: bool,
    /// Resolve deletions in a merge of three trees.
    pub aggressive: bool,
    /// Change nothing.
    pub dry_run: bool,
    /// Whether submodules move along; `None`: as `submodule.recurse` says.
    pub recurse_submodules: Option<bool>,
    /// Do not apply the patterns of a sparse checkout.
    pub no_sparse_checkout: bool,
    /// Write the index to this file instead.
    pub index_output: Option<PathBuf>,
    /// What filters are told of where the files come from: the branch, and the commit.
    pub source: (Option<BString>, Option<ObjectId>),
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

impl ReadTreeOptions {
    /// Whether a single tree is added below a directory where the index has none of its files.
    fn is_bound(&self) -> bool {
        matches!(self.mode, ReadTreeMode::Prefix(_)) && self.trees.len() == 1
    }
}

/// How reading trees ended.
#[derive(Debug)]
pub enum ReadTreeOutcome {
    /// Done, apart from the failures it lists.
    Done(Done),
    /// Files could not be written; the index stays as it was.
    Incomplete(Done),
    /// Something would be lost, or is in conflict; nothing was touched.
    Rejected(Rejects),
    /// The merge is not trivial; nothing was touched.
    NotTrivial,
    /// The index has this path of the tree already; nothing was touched.
    Overlap(BString),
}

/// Reads trees into the index. In a partial clone, what is missing is fetched before anything is
/// touched.
///
/// # Errors
/// [`Error::Setup`], in git's words, if that makes no sense; nothing was touched then.
pub fn read_tree(repository: &Repository, options: &ReadTreeOptions) -> Result<ReadTreeOutcome> {
    repository.with_promised(|| try_to_read(repository, options, None))
}

/// The same in a submodule that moves along with the repository around it.
pub(super) fn read_within(
    submodule: &Repository,
    options: &ReadTreeOptions,
    recursion: Recursion,
) -> Result<ReadTreeOutcome> {
    submodule.with_promised(|| try_to_read(submodule, options, Some(recursion.clone())))
}

fn try_to_read(
    repository: &Repository,
    options: &ReadTreeOptions,
    within: Option<Recursion>,
) -> Result<ReadTreeOutcome> {
    if options.trees.len() > TREES_LIMIT {
        let reason = format!("I cannot read more than {TREES_LIMIT} trees");
        return Err(refused(reason));
    }
    let merges = options.mode != ReadTreeMode::Plain;
    let uses_worktree = merges && !options.index_only;
    if uses_worktree {
        repository.require_work_tree()?;
    }
    let mut session = Session::of_index(
        repository,
        options.threshold,
        &options.execution,
        uses_worktree,
    )?;
    let (branch, commit) = options.source.clone();
    session.set_source(branch, commit);
    let keeps_untracked = within.as_ref().is_some_and(|it| it.keeps_untracked);
    match within {
        Some(_) => session.recursion = within,
        None => session.recurse(options.recurse_submodules),
    }
    let mut old = match (merges, options.anew) {
        (true, false) => session.read_index()?,
        (true, true) => session.new_index()?,
        (false, _) => nothing(repository),
    };
    if uses_worktree {
        session.include_present(&mut old)?;
    }
    if old.index.is_unmerged() && options.mode != ReadTreeMode::Reset {
        return Err(refused(
            "You need to resolve your current index first".into(),
        ));
    }
    refuse(options, merges)?;
    let sparse = if options.update && !options.no_sparse_checkout {
        session.sparse_patterns()?
    } else {
        None
    };
    let rules = Rules::Given {
        overwrite: options.mode == ReadTreeMode::Reset,
        one_way: options.trees.len() == 1,
    };
    let merge = Merge {
        options,
        old: &old,
        sparse: sparse.as_ref(),
        rules,
        effect: match (options.update, uses_worktree) {
            (true, _) => Effect::Both,
            (false, true) => Effect::Index,
            (false, false) => Effect::IndexOnly,
        },
    };
    let joined = if merges {
        match joined(&session, &merge)? {
            Ok(joined) => joined,
            Err(outcome) => return Ok(outcome),
        }
    } else {
        Joined {
            next: overlaid(&session, options)?,
            is_trivial: true,
            found: Examined::default(),
        }
    };
    let Joined {
        mut next,
        is_trivial,
        found,
    } = joined;
    let refuses = options.trivial && !is_trivial;
    let mut done = if uses_worktree {
        let before = Before {
            old: &old,
            states: &found.states,
            refreshed: &found.refreshed,
            rules,
            untracked: if rules.overwrite() && !keeps_untracked {
                Untracked::Overwrite
            } else {
                Untracked::Keep
            },
            sparse: sparse.is_some(),
            moves_submodules: options.update && options.trees.len() == 1,
            only_tries_submodules: !options.update,
            dry_run: options.dry_run || refuses,
        };
        match carry_out(&session, &before, &mut next)? {
            Some(done) => done,
            None => return Ok(ReadTreeOutcome::Rejected(next.rejects)),
        }
    } else if next.rejects.is_empty() {
        if repository.work_tree().is_some() {
            let kept_from = &next.kept_from;
            let is_kept = |row: usize| kept_from.get(row).is_some_and(Option::is_some);
            smudge_unexamined(&session, old.mtime, &mut next.index, is_kept)?;
        }
        Done::default()
    } else {
        return Ok(ReadTreeOutcome::Rejected(next.rejects));
    };
    if refuses {
        return Ok(ReadTreeOutcome::NotTrivial);
    }
    if sparse.is_some() {
        done.warnings.extend(session.sparse_warnings()?);
    }
    if done.unwritten > 0 {
        return Ok(ReadTreeOutcome::Incomplete(done));
    }
    finish(&mut session, options, &old.index, next, done)
}

fn finish(
    session: &mut Session<'_>,
    options: &ReadTreeOptions,
    old: &Index,
    mut next: Transition,
    mut done: Done,
) -> Result<ReadTreeOutcome> {
    if options.dry_run {
        return Ok(ReadTreeOutcome::Done(done));
    }
    let repository = session.repository;
    let tree = cache_tree(session, old, &next.index);
    next.index.set_cache_tree(tree);
    if let Some(output) = &options.index_output {
        let base = repository.work_tree().unwrap_or(repository.git_dir());
        session.redirect(LockFile::acquire(&base.join(output))?);
        // Git splits no index that it writes elsewhere.
        next.index.set_split(None);
    }
    let warning = session
        .write_index(&next.index, true)
        .map_err(|error| done.ended_by(error))?;
    done.warnings.extend(warning);
    Ok(ReadTreeOutcome::Done(done))
}

/// Refuses what makes no sense.
fn refuse(options: &ReadTreeOptions, merges: bool) -> Result<()> {
    if options.index_only && options.update {
        return Err(refused("-u and -i at the same time makes no sense".into()));
    }
    if (options.update || options.index_only) && !merges {
        let option = if options.update { "-u" } else { "-i" };
        return Err(refused(format!(
            "{option} is meaningless without -m, --reset, or --prefix"
        )));
    }
    if merges && options.trees.is_empty() {
        let reason = "you must specify at least one tree to merge";
        return Err(refused(reason.into()));
    }
    Ok(())
}

/// The index that is not read because it is replaced.
fn nothing(repository: &Repository) -> OldIndex {
    OldIndex {
        is_adjusted: false,
        index: Index::empty(repository.hash_kind()),
        is_new: true,
        mtime: Timestamp::default(),
        stat: None,
        sparse_directories: None,
    }
}

fn refused(reason: String) -> Error {
    Error::Setup { reason }
}
