//! Putting local changes aside.

use super::adding::{Added, Adding, Outside};
use super::apply::reset_index;
use super::capture::{unmerged_paths, Changes, Files};
use super::list::{set, STASH};
use super::reversal::Reversal;
use super::taking::Taking;
use super::untracked::{self, UntrackedWish};
use super::STASHER;
use crate::checkout::{
    check_pathspecs, checkout_paths, reset, Done, Failure, PathOptions, PathOutcome, ResetMode,
    ResetOptions, ResetOutcome, ResetRequest, ResetTarget, Session, Unmerged,
};
use crate::convert::is_utf8;
use crate::index::{Index, Mode};
use crate::objects::{write_tree, NewCommit, ObjectWriter, TreeRow};
use crate::refs::Signature;
use crate::repository::Repository;
use crate::worktree::pathspecs::Pathspecs;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use std::collections::{BTreeMap, BTreeSet};

/// What is put aside, and what stays.
#[derive(Clone, Debug, Default)]
pub struct PushOptions {
    /// Only paths that match these pathspecs, relative to the user's current directory; all if empty.
    pub pathspecs: Vec<BString>,
    /// The message, if it is not to name the branch and its commit.
    pub message: Option<BString>,
    /// What is in the index stays, there and in the working tree.
    pub keep_index: bool,
    /// Only what is in the index is put aside.
    pub staged: bool,
    /// Which files that are not tracked are put aside.
    pub untracked: UntrackedWish,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// How it ended.
#[derive(Debug)]
pub enum PushOutcome {
    /// An entry was made, and the changes are gone from the working tree and the index, apart from
    /// the failures it lists.
    Pushed(Box<Pushed>),
    /// There are no changes, but git's warnings about directories that may not be read.
    NoChanges(Vec<String>),
    /// Nothing was staged, and only that was to be put aside.
    NothingStaged,
    /// There is no commit yet.
    NoCommit,
    /// These pathspecs match no tracked file.
    Unmatched(Vec<BString>),
    /// These paths are in conflict.
    Unmerged(Vec<BString>),
    /// What is in the working tree cannot be recorded.
    Unsaved {
        /// What failed before, a sentence each: a filter that is required.
        said: Vec<String>,
        /// The reason.
        error: Error,
        /// Git's warnings until then.
        warnings: Vec<String>,
    },
    /// What is staged cannot be recorded, for this reason.
    UnsavedIndex(String),
    /// The commits of the entry are there, but not its name, for this reason.
    Unnamed(Error),
}

/// What was put aside.
#[derive(Debug)]
pub struct Pushed {
    /// The commit that is the new entry.
    pub commit: ObjectId,
    /// The message of the entry.
    pub message: BString,
    /// Git's warnings about the files that were put aside.
    pub warnings: Vec<String>,
    /// What was done in the working tree, and its failures.
    pub done: Done,
    /// What git says while it takes the changes out of the working tree.
    pub said: Vec<Said>,
    /// The changes are still in the working tree, although the entry has them.
    pub is_left: bool,
    /// What was in the index was to stay, but these pathspecs match nothing of it, so that it is gone
    /// from there and the working tree, too.
    pub not_kept: Vec<BString>,
}

/// What git says of changes that are to go from the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// A line, or several.
    pub words: String,
    /// The key and the text of the advice that follows.
    pub advice: Option<(&'static str, String)>,
}

impl Said {
    pub(super) fn errors(reasons: &[String]) -> Vec<Said> {
        let words = reasons.iter().map(|reason| format!("error: {reason}"));
        words
            .map(|words| Said {
                words,
                advice: None,
            })
            .collect()
    }
}

/// What git says of a message that is not in the encoding of commits.
const NOT_UTF8: &str = "Warning: commit message did not conform to UTF-8.\n\
     You may want to amend it after fixing the message, or set the config\n\
     variable i18n.commitEncoding to the encoding your project uses.";

/// Puts local changes aside. In a partial clone, what is missing is fetched before anything is touched.
pub fn push(repository: &Repository, options: &PushOptions) -> Result<PushOutcome> {
    check_pathspecs(repository, &options.pathspecs)?;
    match repository.with_promised(|| try_to_push(repository, options)) {
        Err(error) if error.is_of_missing() => Ok(unsaved(error, Vec::new())),
        pushed => pushed,
    }
}

fn unsaved(error: Error, warnings: Vec<String>) -> PushOutcome {
    let (said, error) = error.apart();
    PushOutcome::Unsaved {
        said,
        error,
        warnings,
    }
}

fn try_to_push(repository: &Repository, options: &PushOptions) -> Result<PushOutcome> {
    let mut session = Session::begin(repository, options.threshold, &options.execution)?;
    let recorded = match record(&session, options) {
        Ok(Ok(recorded)) => recorded,
        Err(error) if is_of_contents(&error) && !error.is_of_missing() => {
            return Ok(unsaved(error, Vec::new()));
        }
        Err(error) => return Err(error),
        Ok(Err(Unrecorded { outcome, refreshed })) => {
            if let Some(index) = refreshed {
                session.write_index(&index, false)?;
            }
            return Ok(outcome);
        }
    };
    let takes_directories =
        options.untracked != UntrackedWish::None && options.pathspecs.is_empty();
    let directories = if takes_directories {
        untracked::directories(&session, options.untracked)?
    } else {
        Vec::new()
    };
    match name_entry(repository, &recorded) {
        Ok(()) => {}
        // git ends here, too: a hook has refused.
        Err(error @ Error::Setup { .. }) => return Err(error),
        Err(error) => return Ok(PushOutcome::Unnamed(error)),
    }
    let mut pushed = Pushed {
        commit: recorded.commit,
        message: recorded.message.clone(),
        warnings: recorded.warnings.clone(),
        done: Done::default(),
        said: Vec::new(),
        is_left: false,
        not_kept: Vec::new(),
    };
    match take_back(session, options, recorded, directories, &mut pushed) {
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(error) => pushed.done.failures.push(Failure {
            path: BString::default(),
            reason: error.to_string(),
        }),
        Ok(()) => {}
    }
    Ok(PushOutcome::Pushed(Box::new(pushed)))
}

/// Whether a file could not be read or converted, or an object not be read or written.
fn is_of_contents(error: &Error) -> bool {
    matches!(
        error,
        Error::Fs(_)
            | Error::Pack(_)
            | Error::MissingBlob { .. }
            | Error::MissingContent { .. }
            | Error::CorruptObject { .. }
            | Error::Content { .. }
            | Error::Convert { .. }
            | Error::Filter { .. }
            | Error::Setup { .. }
    )
}

/// Makes the commit the newest entry.
fn name_entry(repository: &Repository, recorded: &Recorded) -> Result<()> {
    if !repository.has_log(STASH.into()) {
        super::list::clear_stash(repository)?;
    }
    let message = recorded.message.as_ref();
    set(repository, recorded.commit, &recorded.committer, message)?;
    if recorded.is_durable {
        super::list::sync_stash(repository)?;
    }
    Ok(())
}

/// Takes what is in the entry out of the working tree and the index.
fn take_back(
    mut session: Session<'_>,
    options: &PushOptions,
    recorded: Recorded,
    directories: Vec<BString>,
    pushed: &mut Pushed,
) -> Result<()> {
    let (repository, done) = (session.repository, &mut pushed.done);
    pushed.said = recorded.added.said.clone();
    if recorded.added.is_left {
        pushed.is_left = true;
        let index = recorded.added.index.or(recorded.refreshed);
        return index.map_or(Ok(()), |index| session.write_index(&index, false).map(drop));
    }
    recorded.take_untracked(&session, done)?;
    untracked::remove_empty(&session, directories, done);
    // As in git, a file whose stat data alone are stale is not written anew.
    if let Some(index) = recorded.refreshed {
        session.write_index(&index, false)?;
    }
    if options.pathspecs.is_empty() && !done.failures.is_empty() {
        // As in git, which cleans first: what could not be removed is still there, and so is the rest.
        return Ok(());
    }
    // What follows locks the index itself.
    drop(session);
    if let Some(reversal) = recorded.reversal {
        return take_staged(repository, options, reversal, pushed);
    }
    if options.pathspecs.is_empty() {
        reset_hard(repository, options, recorded.head, done)?;
    } else {
        done.failures.extend(recorded.taking.in_the_way);
        let head = repository.commit(&recorded.head)?.tree;
        restore_paths(
            repository,
            options,
            recorded.taking.paths,
            (head, true),
            done,
        )?;
    }
    // An untracked file that stopped the step before would be overwritten by this one.
    let is_taken = done.failures.is_empty();
    if options.keep_index && is_taken && !recorded.index_tree.is_empty_tree() {
        pushed.not_kept = keep_index(repository, options, recorded.index_tree, done)?;
    }
    Ok(())
}

/// Takes what is staged out of the working tree, and out of the index as far as it is to go from there.
fn take_staged(
    repository: &Repository,
    options: &PushOptions,
    reversal: Reversal,
    pushed: &mut Pushed,
) -> Result<()> {
    let done = &mut pushed.done;
    done.warnings.extend(reversal.warnings);
    if !reversal.misfits.is_empty() {
        pushed.said = Said::errors(&reversal.misfits);
        pushed.is_left = true;
        return Ok(());
    }
    // If all goes back to HEAD, the index gets the stat data at once.
    let in_index = reversal.is_whole && options.pathspecs.is_empty() && !options.keep_index;
    restore_paths(
        repository,
        options,
        reversal.paths,
        (reversal.tree, in_index),
        done,
    )?;
    if options.keep_index {
        return Ok(());
    }
    // Git resets the index also where it is as HEAD already, and logs that.
    let reset = ResetOptions {
        no_refresh: in_index,
        fallback: Some(STASHER),
        execution: options.execution.clone(),
        ..ResetOptions::default()
    };
    let remarks = reset_index(repository, &options.pathspecs, &reset)?;
    done.remarks.extend(remarks);
    Ok(())
}

/// Makes the commits of an entry and changes nothing else. A partial clone fetches what it lacks for that.
pub fn create_entry(repository: &Repository, options: &PushOptions) -> Result<PushOutcome> {
    repository.with_promised(|| try_to_create(repository, options))
}

fn try_to_create(repository: &Repository, options: &PushOptions) -> Result<PushOutcome> {
    let mut session = Session::begin(repository, options.threshold, &options.execution)?;
    let (outcome, refreshed) = match record(&session, options)? {
        Err(unrecorded) => (unrecorded.outcome, unrecorded.refreshed),
        Ok(recorded) => {
            let pushed = Pushed {
                commit: recorded.commit,
                message: recorded.message,
                warnings: recorded.warnings,
                done: Done::default(),
                said: Vec::new(),
                is_left: false,
                not_kept: Vec::new(),
            };
            (PushOutcome::Pushed(Box::new(pushed)), recorded.refreshed)
        }
    };
    // As in git, the index knows then that files are as before.
    if let Some(index) = refreshed {
        session.write_index(&index, false)?;
    }
    Ok(outcome)
}

/// The commits of an entry.
pub(super) struct Recorded {
    head: ObjectId,
    pub commit: ObjectId,
    /// Its objects are on disk, and so must its name be before an edit is removed.
    is_durable: bool,
    index_tree: ObjectId,
    message: BString,
    committer: Signature,
    pub warnings: Vec<String>,
    /// What goes back to HEAD, if only some paths do.
    taking: Taking,
    /// What comes of adding the paths first.
    added: Added,
    /// What becomes of the working tree if only what is staged goes.
    reversal: Option<Reversal>,
    /// The untracked files that are in it.
    untracked: Vec<(BString, Mode, ObjectId)>,
    /// The index, if it knows more of the files now.
    pub refreshed: Option<Index>,
}

/// Why no entry was made.
pub(super) struct Unrecorded {
    pub outcome: PushOutcome,
    /// The index, if it is to be written because it knows more of the files now.
    refreshed: Option<Index>,
}

impl From<PushOutcome> for Unrecorded {
    fn from(outcome: PushOutcome) -> Self {
        Unrecorded {
            outcome,
            refreshed: None,
        }
    }
}

/// Writes the commits of an entry, unless there is nothing to record or it cannot be done.
pub(super) fn record(
    session: &Session<'_>,
    options: &PushOptions,
) -> Result<Result<Recorded, Unrecorded>> {
    let repository = session.repository;
    let mut old = session.read_index()?;
    session.include_present(&mut old)?;
    let specs = match options.pathspecs.as_slice() {
        [] => None,
        given => Some(Pathspecs::new(repository, given)?),
    };
    if let (Some(specs), UntrackedWish::None) = (specs.as_ref(), options.untracked) {
        let mut specs = specs.clone();
        for (path, entry) in old.index.iter() {
            specs.matches(path, entry.mode);
        }
        let unmatched = specs.unmatched();
        if !unmatched.is_empty() {
            return Ok(Err(PushOutcome::Unmatched(unmatched).into()));
        }
    }
    if old.index.is_unmerged() {
        return Ok(Err(PushOutcome::Unmerged(unmerged_paths(&old.index)).into()));
    }
    let head = repository.head()?;
    let Some(id) = head.id() else {
        let changes = Changes::find(session, old, None, specs.as_ref())?;
        return Ok(Err(Unrecorded {
            outcome: PushOutcome::NoCommit,
            refreshed: changes.refreshed_index(session)?,
        }));
    };
    let commit = repository.commit(&id)?;
    let head_tree = commit.tree;
    let changes = Changes::find(session, old, Some(commit.tree), specs.as_ref())?;
    let wish = options.untracked;
    let mut warnings = Vec::new();
    let (specs_given, execution) = (&options.pathspecs, session.execution());
    let untracked = untracked::list(repository, wish, specs_given, execution, &mut warnings)?;
    if !changes.are_there() && untracked.is_empty() {
        return Ok(Err(Unrecorded {
            outcome: PushOutcome::NoChanges(warnings),
            refreshed: changes.refreshed_index(session)?,
        }));
    }
    if options.staged && !changes.is_staged {
        return Ok(Err(Unrecorded {
            outcome: PushOutcome::NothingStaged,
            refreshed: changes.refreshed_index(session)?,
        }));
    }
    // What is staged goes as a whole, whatever the pathspecs match.
    let mut changes = if options.staged && specs.is_some() {
        changes.of_all(session, commit.tree)?
    } else {
        changes
    };
    if let Some(reason) = changes.without_object.take() {
        return Ok(Err(Unrecorded {
            outcome: PushOutcome::UnsavedIndex(reason),
            refreshed: changes.refreshed_index(session)?,
        }));
    }
    let writer = ObjectWriter::new(repository)?;
    let branch: BString = match head
        .branch()
        .and_then(|name| name.strip_prefix(b"refs/heads/"))
    {
        Some(name) => name.into(),
        None => "(no branch)".into(),
    };
    let subject = repository.subject(&commit);
    let short = repository.short_id(&id)?;
    let place = [&branch[..], b": ", short.as_bytes(), b" ", &subject];
    let place = BString::from(place.concat());
    let (author, committer) = repository.authors(STASHER)?;
    let write = |tree: ObjectId, parents: &[ObjectId], message: &BStr| {
        let new = NewCommit {
            tree,
            parents,
            author: &author,
            committer: &committer,
            message,
        };
        new.write(repository, &writer)
    };
    let index_tree = changes.index_tree(session, &writer)?;
    let message = BString::from([b"index on ", &place[..], b"\n"].concat());
    let index_commit = write(index_tree, &[id], message.as_bstr())?;
    let mut parents = vec![id, index_commit];
    let mut saved = Vec::new();
    if wish != UntrackedWish::None {
        saved = save_untracked(session, &writer, &changes, &untracked, &mut warnings)?;
        let rows = saved.iter().map(|(path, mode, id)| TreeRow {
            path: path.as_bstr(),
            mode: *mode,
            id: *id,
        });
        let tree = write_tree(repository, &writer, rows, &session.engine())?;
        let message = BString::from([b"untracked files on ", &place[..], b"\n"].concat());
        parents.push(write(tree, &[], message.as_bstr())?);
    }
    // Like git, which goes by what is recorded, whatever the stat data say.
    let stats = match specs {
        Some(_) if !options.staged => changes.stats(session)?,
        _ => Vec::new(),
    };
    let (tree, edits) = if options.staged {
        (index_tree, BTreeMap::new())
    } else {
        match changes.worktree_tree(session, &writer, &mut warnings) {
            Ok(found) => found,
            Err(error @ (Error::Usage { .. } | Error::Setup { .. })) => {
                return Ok(Err(Unrecorded {
                    outcome: unsaved(error, warnings),
                    refreshed: changes.refreshed_index(session)?,
                }))
            }
            Err(error) => return Err(error),
        }
    };
    session.end_filters();
    changes.settle_recorded(stats, &edits);
    let given = options.message.as_ref().filter(|text| !text.is_empty());
    let message: BString = match given {
        None => [b"WIP on ", &place[..]].concat().into(),
        Some(text) => [b"On ", &branch[..], b": ", text].concat().into(),
    };
    let commit = write(tree, &parents, message.as_bstr())?;
    let encoding = repository.config().string("i18n.commitEncoding");
    if message.to_str().is_err() && encoding.is_none_or(|name| is_utf8(name.as_ref())) {
        warnings.push(NOT_UTF8.into());
    }
    writer.sync_names()?;
    let (mut taking, mut added) = (Taking::default(), Added::default());
    if let Some(specs) = specs.as_ref().filter(|_| !options.staged) {
        let outside = Outside::of(session)?;
        taking = Taking::of(session, &changes, &outside, &saved)?;
        let adding = Adding {
            session,
            options,
            changes: &changes,
            outside: &outside,
            untracked: &untracked,
            saved: &saved,
            edits: &edits,
        };
        added = adding.outcome(&writer, specs, &taking.misfits)?;
    }
    let reversal = options
        .staged
        .then(|| Reversal::of(session, &writer, &changes, head_tree))
        .transpose()?;
    Ok(Ok(Recorded {
        head: id,
        commit,
        is_durable: writer.is_syncing(),
        index_tree,
        message,
        committer,
        warnings,
        taking,
        added,
        reversal,
        untracked: saved,
        refreshed: changes.refreshed_index(session)?,
    }))
}

fn save_untracked(
    session: &Session<'_>,
    writer: &ObjectWriter<'_>,
    changes: &Changes,
    paths: &[BString],
    warnings: &mut Vec<String>,
) -> Result<Vec<(BString, Mode, ObjectId)>> {
    let (files, others): (Vec<&BString>, Vec<&BString>) =
        paths.iter().partition(|path| !path.ends_with(b"/"));
    warnings.extend(others.iter().map(|path| format!("Ignoring path {path}")));
    let saver = Files {
        session,
        writer,
        index: &changes.old.index,
    };
    let wanted = files.into_iter().map(|path| (path.as_bstr(), None));
    let mut saved = Vec::new();
    for file in saver.save(wanted.collect())? {
        warnings.extend(file.warning);
        if let Some(side) = file.side {
            saved.push((file.path, Mode::from(side.kind), side.id));
        }
    }
    Ok(saved)
}

impl Recorded {
    /// Removes the untracked files that are in the entry now.
    fn take_untracked(&self, session: &Session<'_>, done: &mut Done) -> Result<()> {
        if self.untracked.is_empty() {
            return Ok(());
        }
        let files = self
            .untracked
            .iter()
            .map(|(path, mode, id)| (path, *mode, *id));
        let index = untracked::index_of(session.repository, files)?;
        untracked::remove(session, &index, done)
    }
}

/// Sets the index and the working tree to HEAD.
fn reset_hard(
    repository: &Repository,
    options: &PushOptions,
    head: ObjectId,
    done: &mut Done,
) -> Result<()> {
    let request = ResetRequest {
        target: ResetTarget::Commit(head),
        revision: "HEAD".into(),
    };
    let options = ResetOptions {
        mode: ResetMode::Hard,
        recurse_submodules: Some(false),
        fallback: Some(STASHER),
        threshold: options.threshold,
        execution: options.execution.clone(),
        ..ResetOptions::default()
    };
    match reset(repository, &request, &options)? {
        ResetOutcome::Done(reset) => {
            add(done, reset.done);
            reset.head_failure.map_or(Ok(()), Err)
        }
        ResetOutcome::Incomplete(unwritten) => {
            add(done, *unwritten);
            Ok(())
        }
        ResetOutcome::Rejected(rejects) => {
            let reason = match rejects.first() {
                Some((path, reason)) => reason.of_path(path.as_bstr()),
                None => "Could not reset index file to revision 'HEAD'.".into(),
            };
            Err(Error::Setup { reason })
        }
        ResetOutcome::NoHead => Err(Error::Internal {
            reason: "HEAD was there".into(),
        }),
    }
}

/// Sets paths in the working tree to what a tree has, and in the index, too, if that is wanted.
fn restore_paths(
    repository: &Repository,
    options: &PushOptions,
    paths: BTreeSet<BString>,
    (tree, in_index): (ObjectId, bool),
    done: &mut Done,
) -> Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let options = PathOptions {
        only: Some(paths),
        tree: Some(tree),
        recurse_submodules: Some(false),
        like_patch: true,
        may_match_nothing: true,
        runs_hook: false,
        in_index,
        ..path_options(options, Vec::new())
    };
    set_paths(repository, &options, done).map(drop)
}

/// Sets the working tree and the index to what was in the index. Returns pathspecs that match nothing
/// of it; then nothing is done.
fn keep_index(
    repository: &Repository,
    options: &PushOptions,
    tree: ObjectId,
    done: &mut Done,
) -> Result<Vec<BString>> {
    let options = PathOptions {
        tree: Some(tree),
        ..path_options(options, options.pathspecs.clone())
    };
    set_paths(repository, &options, done)
}

/// To set paths without overlay, and the index with them; all paths if there are no pathspecs.
fn path_options(options: &PushOptions, pathspecs: Vec<BString>) -> PathOptions {
    PathOptions {
        pathspecs,
        overlay: false,
        unmerged: Unmerged::LeaveOut,
        threshold: options.threshold,
        execution: options.execution.clone(),
        ..PathOptions::default()
    }
}

fn set_paths(
    repository: &Repository,
    options: &PathOptions,
    done: &mut Done,
) -> Result<Vec<BString>> {
    match checkout_paths(repository, options)? {
        PathOutcome::Done(restored) => {
            add(done, restored);
            Ok(Vec::new())
        }
        PathOutcome::Unmatched(specs) => Ok(specs),
        PathOutcome::Unmerged(_) | PathOutcome::WithoutSide(_) => Err(Error::Internal {
            reason: "there are no conflicts".into(),
        }),
        PathOutcome::Rejected(rejects) => Err(Error::Setup {
            reason: rejects.said().cloned().collect::<Vec<_>>().join("\n"),
        }),
    }
}

fn add(done: &mut Done, more: Done) {
    done.written += more.written;
    done.recreated += more.recreated;
    done.bytes += more.bytes;
    done.removed += more.removed;
    done.workers = done.workers.max(more.workers);
    done.failures.extend(more.failures);
    done.unwritten += more.unwritten;
    done.said.extend(more.said);
    done.warnings.extend(more.warnings);
    done.remarks.extend(more.remarks);
    done.collided.extend(more.collided);
    done.hook_failure = done.hook_failure.take().or(more.hook_failure);
}
