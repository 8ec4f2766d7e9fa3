//! Bringing back what was put aside.

use super::capture::{index_tree, unmerged_paths};
use super::entry::StashEntry;
use super::index_patch::patched;
use super::untracked;
use crate::checkout::{
    reset, update_amending, Done, Move, Outcome, Rejects, ResetOptions, ResetOutcome, ResetRequest,
    ResetTarget, Session, Share, SparseWords, Untracked, Way,
};
use crate::diff::check_algorithm;
use crate::index::{Builder, EntryStat, Flags, Index, Mode, Stage};
use crate::merge::{with_conflicts, ConflictStyle, Labels, MergedTree, TreeMerge};
use crate::objects::ObjectWriter;
use crate::refs::{Expected, Logged, RefChange, RefEdit, RefValue};
use crate::repository::Repository;
use crate::tree::Difference;
use crate::worktree::Filtering;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;

/// What is brought back, and how conflicts are shown.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// What was in the index is put there again.
    pub index: bool,
    /// The index was just written by a switch whose commit is not yet HEAD: nothing is staged.
    pub is_switching: bool,
    /// The names of the sides, where they are not git's.
    pub labels: ApplyLabels,
    /// How conflicts are shown, if not as `merge.conflictStyle` says.
    pub style: Option<ConflictStyle>,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// The names of the sides in conflict markers; git's if `None`.
#[derive(Clone, Debug, Default)]
pub struct ApplyLabels {
    /// Of what is there now.
    pub ours: Option<BString>,
    /// Of what was put aside.
    pub theirs: Option<BString>,
    /// Of what that was made from.
    pub base: Option<BString>,
}

/// What bringing back did.
#[derive(Debug)]
pub struct Applied {
    /// How the merge ended.
    pub outcome: ApplyOutcome,
    /// What git says of the merge, line by line.
    pub messages: Vec<BString>,
    /// What was done in the working tree, and its failures.
    pub done: Done,
    /// Why untracked files of the entry were not restored, in git's words: something is in their
    /// places, or in that of a directory above.
    pub in_the_way: Vec<String>,
    /// Changed files that stay out of the index, because something else takes their place there.
    pub not_unstaged: Vec<BString>,
}

impl Applied {
    /// Whether all came back.
    pub fn is_complete(&self) -> bool {
        matches!(self.outcome, ApplyOutcome::Clean)
            && self.in_the_way.is_empty()
            && self.done.failures.is_empty()
    }
}

/// How the merge of the entry with what is there ended.
#[derive(Debug)]
pub enum ApplyOutcome {
    /// Without conflicts.
    Clean,
    /// With conflicts, which are in the index and in the files.
    Conflicts,
    /// Files could not be written, and the index stays as it was.
    Incomplete,
    /// Something would be lost: no tracked file was touched.
    Rejected(Rejects),
    /// These paths are in conflict already; nothing was touched.
    Unmerged(Vec<BString>),
    /// The index has something at these paths that the merge would lose: what differs from HEAD where
    /// the index is to be put back, or files that are only to be added later. Nothing was touched.
    Staged(Vec<BString>),
    /// What was in the index does not fit, for these reasons; nothing was touched.
    IndexMisfits(Vec<String>),
}

impl From<ApplyOutcome> for Applied {
    fn from(outcome: ApplyOutcome) -> Self {
        Applied {
            outcome,
            messages: Vec::new(),
            done: Done::default(),
            in_the_way: Vec::new(),
            not_unstaged: Vec::new(),
        }
    }
}

/// Merges what `entry` put aside into the working tree.
pub fn apply(
    repository: &Repository,
    entry: &StashEntry,
    options: &ApplyOptions,
) -> Result<Applied> {
    if !options.is_switching {
        check_algorithm(repository.config())?;
    }
    let mut session = Session::begin(repository, options.threshold, &options.execution)?;
    let mut old = session.read_index()?;
    session.include_present(&mut old)?;
    if old.index.is_unmerged() {
        let paths = unmerged_paths(&old.index);
        return Ok(ApplyOutcome::Unmerged(paths).into());
    }
    let writer = ObjectWriter::new(repository)?;
    let current = index_tree(&session, &writer, &old.index)?;
    let mut wanted_index = None;
    if options.index && entry.base_tree != entry.index_tree && current != entry.index_tree {
        let trees = (entry.base_tree, entry.index_tree);
        match patched(&session, &writer, &old.index, trees)? {
            Ok(tree) => wanted_index = Some(tree),
            Err(misfits) => return Ok(ApplyOutcome::IndexMisfits(misfits).into()),
        }
        let staged = if options.is_switching {
            Vec::new()
        } else {
            staged_paths(&session, &old.index)?
        };
        if !staged.is_empty() {
            drop(session);
            return with_untracked(
                repository,
                entry,
                options,
                ApplyOutcome::Staged(staged).into(),
            );
        }
    }
    let intents = intended_paths(&old.index);
    if wanted_index.is_none() && !intents.is_empty() {
        drop(session);
        let refused = ApplyOutcome::Staged(intents).into();
        return with_untracked(repository, entry, options, refused);
    }
    let labels = labels(entry, current, &options.labels);
    let merge = TreeMerge {
        worktree: &session,
        writer: &writer,
        ours: &old.index,
        our_tree: current,
        base: entry.base_tree,
        theirs: entry.tree,
        labels,
        style: crate::merge::style(repository, options.style)?,
        runs_programs: true,
    };
    let merged = merge.run()?;
    let has_changes = entry.base_tree != entry.tree;
    let mut remarks = Vec::new();
    if wanted_index.is_some() && !options.is_switching {
        // The index is as HEAD; but git resets it here, and logs that.
        drop(session);
        let options = ResetOptions {
            no_refresh: true,
            execution: options.execution.clone(),
            ..ResetOptions::default()
        };
        remarks = reset_index(repository, &[], &options)?;
        session = Session::begin(repository, options.threshold, &options.execution)?;
    }
    let job = Move {
        old: Some(current),
        new: Some(merged.tree),
        way: Way::Switch,
        starts_anew: true,
        untracked: Untracked::Keep,
        list_changes: false,
        // With conflicts, the index keeps the changes of other files.
        writes_outside: &|path, is_changed| {
            if merged.conflicts.is_empty() {
                is_changed
            } else {
                merged.conflicts.contains_key(path)
            }
        },
        needs_all: true,
        share: Share::All,
    };
    let wanted = match wanted_index {
        Some(tree) if merged.conflicts.is_empty() => Some(Difference::between(
            repository,
            None,
            Some(tree),
            session.names(),
            &session.engine(),
        )?),
        _ => None,
    };
    let mut not_unstaged = Vec::new();
    let mut amend = |index: &Index| match &wanted {
        _ if !merged.conflicts.is_empty() => with_conflicts(index, &merged.conflicts).map(Some),
        Some(tree) => like_tree(index, tree).map(Some),
        None => unstaged(index, &old.index, &merged, &mut not_unstaged).map(Some),
    };
    session.sparse_words = SparseWords::List;
    let outcome = update_amending(&mut session, &job, &mut || Ok(()), &mut amend)?;
    drop(session);
    let applied = match outcome {
        Outcome::Done(mut done) => {
            done.remarks.append(&mut remarks);
            if !merged.conflicts.is_empty() && records_conflicts(repository)? {
                done.warnings.push(NOT_RECORDED.into());
            }
            let mut messages = merged.messages;
            if has_changes {
                set_auto_merge(repository, merged.tree)?;
            } else {
                messages.push("Already up to date.".into());
            }
            let outcome = if merged.conflicts.is_empty() {
                ApplyOutcome::Clean
            } else {
                ApplyOutcome::Conflicts
            };
            Applied {
                outcome,
                messages,
                done,
                in_the_way: Vec::new(),
                not_unstaged,
            }
        }
        Outcome::Incomplete(done) => Applied {
            done,
            ..ApplyOutcome::Incomplete.into()
        },
        Outcome::Rejected(rejects) => ApplyOutcome::Rejected(rejects).into(),
        Outcome::Unmerged(paths) => return Ok(ApplyOutcome::Unmerged(paths).into()),
    };
    with_untracked(repository, entry, options, applied)
}

/// Brings back untracked files, however the rest went.
fn with_untracked(
    repository: &Repository,
    entry: &StashEntry,
    options: &ApplyOptions,
    mut applied: Applied,
) -> Result<Applied> {
    if let Some(tree) = entry.untracked_tree {
        let mut session = Session::begin(repository, options.threshold, &options.execution)?;
        session.set_filtering(Filtering::Copy);
        applied.in_the_way = untracked::restore(&session, tree, &mut applied.done)?;
    }
    Ok(applied)
}

fn labels(entry: &StashEntry, current: ObjectId, given: &ApplyLabels) -> Labels {
    let or = |given: &Option<BString>, usual: &str| given.clone().unwrap_or_else(|| usual.into());
    let ours = if entry.base_tree == current {
        "Version stash was based on".into()
    } else {
        or(&given.ours, "Updated upstream")
    };
    Labels {
        base: or(&given.base, "Stash base"),
        ours,
        theirs: or(&given.theirs, "Stashed changes"),
    }
}

/// The paths at which the index differs from HEAD.
fn staged_paths(session: &Session<'_>, index: &Index) -> Result<Vec<BString>> {
    let repository = session.repository;
    let head = repository.head()?.id();
    let head = head.map(|id| repository.commit(&id)).transpose()?;
    let head = head.map(|commit| commit.tree);
    let staged = crate::status::staged(repository, index, head, &session.engine())?;
    Ok(staged
        .changes
        .into_iter()
        .map(|change| change.path)
        .collect())
}

/// The paths that are only to be added later: no tree has them.
fn intended_paths(index: &Index) -> Vec<BString> {
    let intended = index.iter().filter(|(_, entry)| entry.flags.intent_to_add);
    intended.map(|(path, _)| path.to_owned()).collect()
}

/// Sets the index to HEAD, or only what the pathspecs match. Returns what git reports as an error, but does
/// not count as one.
pub(super) fn reset_index(
    repository: &Repository,
    pathspecs: &[BString],
    options: &ResetOptions,
) -> Result<Vec<String>> {
    let Some(head) = repository.head()?.id() else {
        return Ok(Vec::new());
    };
    let target = if pathspecs.is_empty() {
        ResetTarget::Commit(head)
    } else {
        ResetTarget::Paths {
            tree: repository.commit(&head)?.tree,
            pathspecs: pathspecs.to_vec(),
        }
    };
    let request = ResetRequest {
        revision: "HEAD".into(),
        target,
    };
    match reset(repository, &request, options)? {
        ResetOutcome::Done(reset) => match reset.head_failure {
            Some(error) => Err(error),
            None => Ok(reset.done.remarks),
        },
        ResetOutcome::Incomplete(_) | ResetOutcome::Rejected(_) | ResetOutcome::NoHead => {
            Ok(Vec::new())
        }
    }
}

/// The index after a merge without conflicts: as before, but for new files. A path that cannot be in
/// it again, since a new file takes its place, is added to `not_unstaged`.
fn unstaged(
    index: &Index,
    before: &Index,
    merged: &MergedTree,
    not_unstaged: &mut Vec<BString>,
) -> Result<Index> {
    let mut builder = Builder::replacing(index);
    let original = |path: &BStr| {
        let row = before.find(path, Stage::Merged).ok()?;
        Some(before.entries()[row])
    };
    let edited = merged.edits.keys().filter_map(|path| {
        let is_gone = index.find(path.as_bstr(), Stage::Merged).is_err();
        let entry = original(path.as_bstr())?;
        is_gone.then_some((path, entry))
    });
    let (clashing, gone): (Vec<_>, Vec<_>) =
        edited.partition(|(path, _)| clashes(index, path.as_bstr()));
    not_unstaged.extend(clashing.into_iter().map(|(path, _)| path.clone()));
    let mut gone = gone.into_iter().peekable();
    let unseen = (EntryStat::default(), Flags::default());
    for (path, entry) in index.iter() {
        while let Some((path, entry)) = gone.next_if(|(gone, _)| gone.as_bstr() < path) {
            builder.push(path.as_bstr(), entry.id, entry.mode, unseen.0, unseen.1)?;
        }
        match original(path).filter(|_| merged.edits.contains_key(path)) {
            Some(old) => builder.push(path, old.id, old.mode, unseen.0, unseen.1)?,
            None => builder.push(path, entry.id, entry.mode, entry.stat, entry.flags)?,
        }
    }
    for (path, entry) in gone {
        builder.push(path.as_bstr(), entry.id, entry.mode, unseen.0, unseen.1)?;
    }
    Ok(builder.finish_replacing(index))
}

/// Whether `index` has a file above `path`, or a directory in its place.
fn clashes(index: &Index, path: &BStr) -> bool {
    let mut above = path.find_iter(b"/").map(|at| path[..at].as_bstr());
    !index.range_under(path).is_empty()
        || above.any(|above| index.find(above, Stage::Merged).is_ok())
}

/// An index of the files of `tree`, with what `index` knows of the same ones.
pub(super) fn like_tree(index: &Index, tree: &Difference) -> Result<Index> {
    let mut builder = Builder::replacing(index);
    for change in tree.changes() {
        let Some(side) = change.new else { continue };
        let (path, mode) = (tree.path(change), Mode::from(side.kind));
        let known = index.find(path, Stage::Merged).ok();
        let known = known.map(|row| index.entries()[row]);
        let known = known.filter(|entry| (entry.id, entry.mode) == (side.id, mode));
        let (stat, flags) = known.map_or_else(Default::default, |it| (it.stat, it.flags));
        builder.push(path, side.id, mode, stat, flags)?;
    }
    Ok(builder.finish_replacing(index))
}

/// Git would record the conflict, and resolve it if it knows how.
const NOT_RECORDED: &str =
    "rerere is enabled, and conflicts are not recorded here: run 'git rerere' before you resolve them";

/// Whether resolutions of conflicts are to be recorded: `rerere.enabled`, or else that it was done
/// before.
fn records_conflicts(repository: &Repository) -> Result<bool> {
    Ok(match repository.config().bool("rerere.enabled")? {
        Some(wanted) => wanted,
        None => hedgerow_fs::exists(&repository.common_dir().join("rr-cache")),
    })
}

/// An index of the files of `tree`, none of which has been looked at.
pub(super) fn new_index(session: &Session<'_>, tree: Option<ObjectId>) -> Result<Index> {
    let repository = session.repository;
    let (names, engine) = (session.names(), session.engine());
    let tree = Difference::between(repository, None, tree, names, &engine)?;
    like_tree(&Index::empty(repository.hash_kind()), &tree)
}

/// Lets `AUTO_MERGE` name the tree with the conflicts as they were written.
fn set_auto_merge(repository: &Repository, tree: ObjectId) -> Result<()> {
    let name: &BStr = "AUTO_MERGE".into();
    let edit = RefEdit {
        name,
        change: RefChange::Set(RefValue::Direct(tree)),
        expected: Expected::Anything,
        log: Some(Logged {
            old: None,
            new: tree,
            create: repository.settings().log_ref_updates.covers(name),
        }),
        message: None,
    };
    let committer = repository.committer()?;
    repository
        .prepare_reference(edit, &|| false)?
        .commit("".into(), &committer)
}
