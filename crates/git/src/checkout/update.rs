//! Moving the working tree and the index from one tree to another.

use super::contents::{Contents, Results};
use super::folded::FoldedFiles;
use super::from_known::changes_from;
use super::obstacles::{clear, first_blocking, Inquiry, Untracked};
use super::outcome::{Done, Failure, LocalChange, Outcome};
use super::recursion::{Around, SubmoduleMoves};
use super::rejects::{ancestors, Reason};
use super::removal::Removals;
use super::session::{Session, SparseWords};
use super::shares::{adopt, forget_notes, keep_share, note_written, refuse_in_shares, Share};
use super::submodules::list_differing;
use super::supplies::{supplies, Supplies};
use super::transition::{transition, Effect, Rules, Start, Transition, Write};
use crate::ignore::Ignore;
use crate::index::{Builder, CacheTree, Entry, EntryStat, Flags, Index, Mode, Stage};
use crate::tree::Difference;
use crate::worktree::attribute_files::Direction;
use crate::worktree::compare::Refreshed;
use crate::worktree::sparse::SparsePatterns;
use crate::worktree::state::{states, states_of, State};
use crate::worktree::{known_tree, OldIndex};
use crate::{Error, Result};
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use hedgerow_fs::{Dir, FileKind, Timestamp};
use hedgerow_writer::{remove_paths, write_tree};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, OnceLock};

/// The trees to move between.
pub(crate) struct Move<'a> {
    /// The tree of the commit that is checked out; `None` if there is none yet.
    pub old: Option<ObjectId>,
    /// The tree to check out; `None` is the empty tree.
    pub new: Option<ObjectId>,
    /// What becomes of the user's changes.
    pub way: Way,
    /// Without an index, nothing is staged as deleted: all files are checked out for the first time.
    pub starts_anew: bool,
    /// What becomes of untracked files.
    pub untracked: Untracked,
    /// Compare the result with `new` and the working tree, to report what is still changed.
    pub list_changes: bool,
    /// Whether a file is written outside the sparse checkout, too, since nothing else has what it
    /// holds; told whether it changes.
    pub writes_outside: &'a dyn Fn(&BStr, bool) -> bool,
    /// The index is written only if every file was: a command that must not move a reference to a
    /// commit whose files are missing.
    pub needs_all: bool,
    /// Which part of the work is done.
    pub share: Share,
}

/// The way from one tree to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Carry the user's changes along, or refuse.
    Switch,
    /// Overwrite the user's changes.
    Overwrite,
    /// Keep the user's changes to files that are the same in the index and the new tree, or refuse.
    Merge,
    /// Carry changes of files along, or refuse; the index becomes the new tree.
    Keep,
}

/// Checks out a tree: reads the current state, decides, refuses or acts, and writes the index last.
/// `prepare` is called when every other check has passed and nothing has been touched; if it fails,
/// nothing is touched.
pub(crate) fn update(
    session: &mut Session<'_>,
    job: &Move<'_>,
    prepare: &mut dyn FnMut() -> Result<()>,
) -> Result<Outcome> {
    update_amending(session, job, prepare, &mut |_| Ok(None))
}

/// Makes another index of the new one before it is written, if it returns one.
pub(crate) type Amend<'a> = &'a mut dyn FnMut(&Index) -> Result<Option<Index>>;

/// The same; the index becomes what `amend` makes of it.
pub(crate) fn update_amending(
    session: &mut Session<'_>,
    job: &Move<'_>,
    prepare: &mut dyn FnMut() -> Result<()>,
    amend: Amend<'_>,
) -> Result<Outcome> {
    let way = job.way;
    let mut old = session.read_index()?;
    if job.share != Share::All {
        refuse_in_shares(session, &old)?;
    }
    if old.index.is_unmerged() && matches!(way, Way::Switch | Way::Keep) {
        return Ok(Outcome::Unmerged(unmerged_paths(&old.index)));
    }
    session.include_present(&mut old)?;
    let sparse = session.sparse_patterns()?;
    let (states, refreshed) = examine(session, way, &old)?;
    let (rules, changes) = plan(session, job, &old)?;
    let written = changes.changes().iter().map(|change| changes.path(change));
    let written: BTreeSet<&BStr> = written
        .filter(|path| (job.writes_outside)(path, true))
        .collect();
    let top = session.repository.work_tree();
    let excludes = |path: &BStr| {
        let excludes = |sparse: &SparsePatterns| sparse.excludes_entry(path, top);
        sparse.as_ref().is_some_and(excludes)
            && !written.contains(path)
            && !(job.writes_outside)(path, false)
    };
    let mut next = transition(&Start {
        index: &old.index,
        states: &states,
        changes: &changes,
        rules,
        is_excluded: &excludes,
        sparse: sparse.is_some(),
        effect: Effect::Both,
    })?;
    drop(changes);
    if old.is_new && job.starts_anew && way == Way::Switch {
        next.must_be_absent = gone(session, job)?;
    }
    if let (Way::Keep, Some(tree)) = (way, job.new) {
        refuse_held(session, tree, &old.index, &states, &mut next)?;
    }
    if let Share::Of(shard) = job.share {
        keep_share(&mut next, shard);
    }
    let before = Before {
        old: &old,
        states: &states,
        refreshed: &refreshed,
        rules,
        untracked: job.untracked,
        moves_submodules: matches!(way, Way::Overwrite | Way::Merge),
        only_tries_submodules: false,
        dry_run: false,
    };
    let carried_out = match job.share {
        Share::Finish => Some(adopt(session, &old, &mut next)?),
        Share::All | Share::Of(_) => carry_out(session, &before, &mut next, prepare)?,
    };
    let Some(mut done) = carried_out else {
        return Ok(Outcome::Rejected(next.rejects));
    };
    done.warnings.extend(session.sparse_warnings()?);
    if (job.needs_all || job.share == Share::Finish) && done.unwritten > 0 {
        return Ok(Outcome::Incomplete(done));
    }
    match job.share {
        Share::All => {}
        Share::Of(shard) => {
            if let Err(error) = note_written(session, &next, shard) {
                let because = format!(
                    "--finish will read what was written, because it cannot be noted: {error}"
                );
                done.warnings.push(because);
            }
            return Ok(Outcome::Done(done));
        }
        Share::Finish => prepare()?,
    }
    if let (Way::Keep, Some(tree)) = (way, job.new) {
        next.index = exactly(session, &next.index, tree)?;
    }
    if let Some(amended) = amend(&next.index)? {
        next.index = amended;
    }
    finish(session, job, &old.index, &mut next, &states, &mut done)?;
    if job.share == Share::Finish {
        if let Err(error) = forget_notes(session) {
            let because = format!("the notes of the shares are left: {error}");
            done.warnings.push(because);
        }
    }
    Ok(Outcome::Done(done))
}

/// What was found before a move, and the rules that decided.
pub(crate) struct Before<'a> {
    pub old: &'a OldIndex,
    pub states: &'a [State],
    pub refreshed: &'a [Refreshed],
    pub rules: Rules,
    pub untracked: Untracked,
    /// Submodules move to their commits even where the index had the same.
    pub moves_submodules: bool,
    /// Those that differ must be able to move; none does.
    pub only_tries_submodules: bool,
    /// Only check; change nothing.
    pub dry_run: bool,
}

/// Does what a transition plans, unless something is in the way; the result is then `None`, and the
/// transition has the rejects. The index is not written yet.
pub(crate) fn carry_out(
    session: &Session<'_>,
    before: &Before<'_>,
    next: &mut Transition,
    prepare: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<Done>> {
    let old = &before.old.index;
    let around = Around {
        old,
        force: before.rules.overwrite(),
        restores_paths: false,
        only_tries: before.only_tries_submodules,
        moves_kept: &|_| before.moves_submodules,
    };
    let submodules = SubmoduleMoves::plan(session, &around, next)?;
    let ignore = match before.untracked {
        Untracked::KeepIgnored => Ignore::nothing(),
        Untracked::Keep | Untracked::KeepBeside | Untracked::Overwrite => session.ignore()?,
    };
    let inquiry = Inquiry {
        root: &session.root,
        old,
        states: before.states,
        overwrites: before.rules.overwrite(),
        untracked: before.untracked,
        leaving: &submodules.left,
        ignore: &ignore,
        folded: FoldedFiles::new(
            &session.root,
            (old, before.states),
            session.repository.settings().ignore_case,
        ),
        current_directory: session.current_directory(),
        options: &session.engine(),
    };
    let obstacles = inquiry.obstacles(next)?;
    if !next.rejects.is_empty() {
        session.end_filters();
        return Ok(None);
    }
    // As in git, what would be written is not looked at then, and a partial clone need not have it.
    if before.dry_run {
        session.end_filters();
        return Ok(Some(Done::default()));
    }
    let is_removed = |path: &BStr| next.removes(old, path);
    let direction = Direction::CheckOut {
        is_removed: &is_removed,
    };
    let supplies = supplies(session, next, &direction)?;
    // Everything above only reads; `prepare` is the last step that may refuse.
    prepare()?;
    let mut done = Done::default();
    // Removing comes first: it makes room for the files to write.
    submodules.depart(session, &mut done)?;
    clear(&session.root, &obstacles)?;
    match session.sparse_words {
        SparseWords::None => {}
        SparseWords::List => done.warnings.extend(left_despite_sparse(next)),
        SparseWords::Lines => {
            let paths = next.left_despite_sparse.iter();
            let words = "not uptodate; will not remove from working tree.";
            let line = |path| format!("Path '{path}' {words}");
            done.remarks.extend(paths.map(line));
        }
    }
    remove(session, old, next, &mut done)?;
    write(session, next, supplies, &mut done)?;
    submodules.arrive(session, &mut done)?;
    refresh(next, before.refreshed);
    smudge_racy(next, before.old, before.states);
    Ok(Some(done))
}

/// Rejects files marked skip-worktree or assume-unchanged whose staged content is neither in `tree` nor
/// in the file: it would be lost.
fn refuse_held(
    session: &Session<'_>,
    tree: ObjectId,
    old: &Index,
    states: &[State],
    next: &mut Transition,
) -> Result<()> {
    let held = next.kept_from.iter().flatten().map(|row| *row as usize);
    let held = held.filter(|row| {
        let flags = old.entries()[*row].flags;
        let is_same = matches!(states[*row], State::Clean | State::Absent);
        (flags.assume_valid || flags.skip_worktree) && !is_same
    });
    let held: Vec<usize> = held.collect();
    if held.is_empty() {
        return Ok(());
    }
    let (names, engine) = (session.names(), session.engine());
    let tree = Difference::between(session.repository, None, Some(tree), names, &engine)?;
    let sides = tree.changes().iter();
    let sides: HashMap<&BStr, _> = sides.map(|it| (tree.path(it), it.new)).collect();
    for row in held {
        let entry = &old.entries()[row];
        let path = old.path(entry);
        let side = sides.get(path).copied().flatten();
        if side.is_none_or(|side| (side.id, Mode::from(side.kind)) != (entry.id, entry.mode)) {
            next.rejects.add(Reason::NotUpToDate, path);
        }
    }
    Ok(())
}

/// The index whose content is `tree`, with what `index` knows of the same files.
fn exactly(session: &Session<'_>, index: &Index, tree: ObjectId) -> Result<Index> {
    let (names, engine) = (session.names(), session.engine());
    let tree = Difference::between(session.repository, None, Some(tree), names, &engine)?;
    let mut builder = Builder::replacing(index);
    for change in tree.changes() {
        let Some(side) = change.new else { continue };
        let (path, mode) = (tree.path(change), Mode::from(side.kind));
        let known = index.find(path, Stage::Merged).ok();
        let known = known.map(|row| index.entries()[row]);
        let (stat, flags) = match known {
            Some(entry) if (entry.id, entry.mode) == (side.id, mode) => (entry.stat, entry.flags),
            other => {
                let skip_worktree = other.is_some_and(|entry| entry.flags.skip_worktree);
                let flags = Flags {
                    skip_worktree,
                    ..Flags::default()
                };
                (EntryStat::default(), flags)
            }
        };
        builder.push(path, side.id, mode, stat, flags)?;
    }
    Ok(builder.finish_replacing(index))
}

/// The state of every file of the index, and the files that were read and found unchanged.
pub(crate) fn examine(
    session: &Session<'_>,
    way: Way,
    old: &OldIndex,
) -> Result<(Vec<State>, Vec<Refreshed>)> {
    if session.trusts_index {
        return Ok((trusted_states(&old.index), Vec::new()));
    }
    let mut rules = session.rules(old);
    // Git compares whole seconds, and refreshes the index only before a switch: elsewhere other
    // stat data are a change, whatever the file holds.
    rules.stat.nanoseconds &= matches!(way, Way::Switch | Way::Overwrite);
    let mut states = states(session, &old.index, &rules)?;
    trust_stat(&mut states, &old.index, |entry| {
        let flags = entry.flags;
        // What is only to be added later is a change, whatever the file holds.
        way != Way::Switch || flags.assume_valid || flags.skip_worktree || flags.intent_to_add
    });
    let refreshed = settle(session, &mut states, &old.index)?;
    forget_behind_links(session, &mut states, &old.index)?;
    Ok((states, refreshed))
}

/// The states of files that are as the index has them.
pub(super) fn trusted_states(index: &Index) -> Vec<State> {
    let state = |entry: &Entry| {
        if entry.flags.skip_worktree {
            State::Absent
        } else {
            State::Clean
        }
    };
    index.entries().iter().map(state).collect()
}

/// Counts files as gone if a link took the place of a directory above, and there is nothing where it
/// leads. What a link leads to, or a file in that place, is a change.
fn forget_behind_links(session: &Session<'_>, states: &mut [State], index: &Index) -> Result<()> {
    let blocked = states.iter_mut().zip(index.entries());
    for (state, entry) in blocked.filter(|(state, _)| **state == State::Blocked) {
        let top = session.repository.require_work_tree()?;
        let place = |path: &BStr| top.join(OsStr::from_bytes(path));
        let path = index.path(entry);
        let Some(above) = first_blocking(&session.root, path)? else {
            continue;
        };
        let leads_on = match hedgerow_fs::stat(&place(above)) {
            Ok(Some(found)) => found.kind == FileKind::Directory,
            Ok(None) => true,
            // Git does not know what is behind a link that leads in circles.
            Err(error) if error.is_absent() => false,
            Err(error) => return Err(error.into()),
        };
        if leads_on && hedgerow_fs::lstat(&place(path))?.is_none() {
            *state = State::Absent;
        }
    }
    Ok(())
}

/// Reads the files that stat data cannot judge. A file that cannot be read must not be overwritten.
pub(crate) fn settle(
    session: &Session<'_>,
    states: &mut [State],
    index: &Index,
) -> Result<Vec<Refreshed>> {
    let mut settled = session.settle(states, index, None)?;
    match settled.unanswered.pop() {
        Some(error) => Err(error.into()),
        None => Ok(settled.clean),
    }
}

/// Writes the index, and lists the remaining changes.
fn finish(
    session: &mut Session<'_>,
    job: &Move<'_>,
    old: &Index,
    next: &mut Transition,
    states: &[State],
    done: &mut Done,
) -> Result<()> {
    next.index
        .set_cache_tree(cache_tree(session, old, &next.index));
    if job.list_changes {
        if let Some(new) = job.new {
            done.local_changes = local_changes(session, next, states, new)?;
        }
        done.warnings.extend(unknown(next, states));
    }
    let warning = session
        .write_index(&next.index, true)
        .map_err(|error| done.ended_by(error))?;
    done.warnings.extend(warning);
    if job.list_changes {
        list_differing(session, &next.index, done);
    }
    Ok(())
}

/// Warnings about kept files whose state could not be determined.
fn unknown(next: &Transition, states: &[State]) -> Vec<String> {
    let rows = next.index.entries().iter().zip(&next.kept_from);
    let unknown =
        rows.filter(|(_, from)| from.is_some_and(|from| states[from as usize] == State::Unknown));
    let warning = |(entry, _): (&Entry, _)| {
        let path = next.index.path(entry);
        format!("'{path}' could not be asked whether it is changed")
    };
    unknown.map(warning).collect()
}

fn left_despite_sparse(next: &Transition) -> Option<String> {
    let paths = next.left_despite_sparse.iter();
    let list: String = paths.map(|path| format!("\t{path}\n")).collect();
    (!list.is_empty()).then(|| {
        format!(
            "The following paths are not up to date and were left despite sparse \
             patterns:\n{list}\nAfter fixing the above paths, you may want to run `git \
             sparse-checkout reapply`."
        )
    })
}

/// If there is no index, the files of the old tree that the new one does not have: none of them is
/// known to exist.
fn gone(session: &Session<'_>, job: &Move<'_>) -> Result<Vec<BString>> {
    let Some(old) = job.old else {
        return Ok(Vec::new());
    };
    let names = session.names();
    let (old, new) = (Some(old), job.new);
    let changes = Difference::between(session.repository, old, new, names, &session.engine())?;
    let gone = changes
        .changes()
        .iter()
        .filter(|change| change.new.is_none());
    Ok(gone.map(|change| changes.path(change).to_owned()).collect())
}

/// Counts a file whose stat data differ as modified without reading it, as git does for a file that
/// is overwritten anyway or that the user told git not to look at; only files that match and are
/// racy are read. `holds` selects the entries.
pub(crate) fn trust_stat(states: &mut [State], index: &Index, holds: impl Fn(&Entry) -> bool) {
    for (state, entry) in states.iter_mut().zip(index.entries()) {
        if *state == State::Touched && holds(entry) {
            *state = State::Modified;
        }
    }
}

/// The rules that decide, and the changes. If the index is known to equal a tree, only what differs
/// from the new one is needed.
fn plan(session: &Session<'_>, job: &Move<'_>, old: &OldIndex) -> Result<(Rules, Difference)> {
    let is_new = old.is_new && job.starts_anew;
    if matches!(job.way, Way::Switch | Way::Keep) {
        let from = if is_new { None } else { job.old };
        let (names, engine) = (session.names(), session.engine());
        let changes = Difference::between(session.repository, from, job.new, names, &engine)?;
        return Ok((Rules::TwoWay { initial: is_new }, changes));
    }
    let (changes, complete) = changes_from(session, &old.index, job.new)?;
    let rules = match job.way {
        Way::Merge => Rules::Keeping { complete },
        _ => Rules::OneWay { complete },
    };
    Ok((rules, changes))
}

fn unmerged_paths(index: &Index) -> Vec<BString> {
    let unmerged = index
        .entries()
        .iter()
        .filter(|entry| entry.flags.stage != Stage::Merged);
    let mut paths: Vec<BString> = unmerged.map(|entry| index.path(entry).to_owned()).collect();
    paths.dedup();
    paths
}

/// Removes files, and directories that become empty.
pub(crate) fn remove(
    session: &Session<'_>,
    old: &Index,
    next: &Transition,
    done: &mut Done,
) -> Result<()> {
    if next.removals.is_empty() {
        return Ok(());
    }
    let keep = session.current_directory().filter(|place| {
        let taken = |path: &BStr| next.writes_to(path);
        !taken(place) && !ancestors(place).any(taken)
    });
    let removals = Removals::new(old, &next.removals, keep);
    let report = remove_paths(&session.root, &removals, &session.engine()).map_err(stopped)?;
    done.note(&report);
    session.learn(&report);
    let results = removals.into_results();
    done.removed += results.removed;
    done.failures.extend(results.failures);
    done.warnings.extend(results.warnings.into_values());
    Ok(())
}

/// Writes all files, then again, one after the other, those whose place was taken.
///
/// # Errors
/// A required filter that failed: git stops there, too. Files that were not written yet keep their
/// old content.
pub(crate) fn write(
    session: &Session<'_>,
    next: &mut Transition,
    supplies: Supplies,
    done: &mut Done,
) -> Result<()> {
    write_to(session, (&session.root, None), next, supplies, done)
}

/// The same below another directory, and to other places there: an entry for each write.
pub(crate) fn write_to(
    session: &Session<'_>,
    (root, places): (&Dir, Option<&Index>),
    next: &mut Transition,
    supplies: Supplies,
    done: &mut Done,
) -> Result<()> {
    done.warnings.extend(supplies.warnings);
    if next.writes.is_empty() {
        return Ok(());
    }
    let execution = session.execution();
    let progress = execution.progress.stage(hedgerow_engine::Stage::Files);
    progress.expect(next.writes.len() as u64);
    let contents = Contents {
        objects: session.repository.shared_objects(),
        index: &next.index,
        writes: &next.writes,
        places,
        converter: &supplies.converter,
        located: supplies.located,
        bases: supplies.bases,
        big_file_bytes: session.settings().big_file_bytes,
        large: Mutex::default(),
        symlinks: session.settings().symlinks,
        progress,
        lanes: supplies.lanes,
        cancel: execution.cancel.clone(),
        fatal: OnceLock::new(),
        results: Mutex::default(),
    };
    let engine = session.engine_for(next.writes.len());
    let report = write_tree(root, &&contents, &engine).map_err(stopped)?;
    done.note(&report);
    // After a fatal error nothing more is written.
    if contents.fatal.get().is_none() {
        contents.retry_collided(root, done);
    }
    if let Some(error) = contents.fatal.into_inner() {
        return Err(error);
    }
    let results = contents.results.into_inner();
    let results = results.map_err(|_| Error::Internal {
        reason: "a lock was poisoned".into(),
    })?;
    settle_results(next, results, done);
    Ok(())
}

fn settle_results(next: &mut Transition, results: Results, done: &mut Done) {
    done.written += results.written.len() as u64;
    done.bytes += results.bytes;
    done.unwritten += results.failed.len() as u64;
    done.remarks.extend(results.unconverted);
    for (at, reason) in results.failed {
        let entry = &next.index.entries()[next.writes[at as usize].row as usize];
        done.failures.push(Failure {
            path: next.index.path(entry).to_owned(),
            reason,
        });
    }
    done.failures.sort_by(|a, b| a.path.cmp(&b.path));
    let entries = next.index.entries_mut();
    for (at, stat) in results.written {
        let Write { row, .. } = next.writes[at as usize];
        let entry = &mut entries[row as usize];
        entry.stat = stat;
        // The file system monitor vouched for the previous file.
        entry.flags.fsmonitor_valid = false;
    }
}

/// Refreshes the stat data of files that were read and found unchanged.
fn refresh(next: &mut Transition, refreshed: &[Refreshed]) {
    if refreshed.is_empty() {
        return;
    }
    for (row, from) in next.kept_from.iter().enumerate() {
        let Some(from) = from else { continue };
        if let Ok(at) = refreshed.binary_search_by_key(from, |(row, _)| *row) {
            next.index.entries_mut()[row].stat = refreshed[at].1;
        }
    }
}

/// Marks racy files that were read and found changed. The new index file's timestamp makes them
/// look old, so they would never be read again.
pub(crate) fn smudge_racy(next: &mut Transition, old: &OldIndex, states: &[State]) {
    let kept_from = &next.kept_from;
    let is_modified =
        |row: usize| kept_from[row].is_some_and(|from| states[from as usize] == State::Modified);
    next.index.smudge_racily_clean(old.mtime, is_modified);
}

/// The same for an index that is written without looking at its files: those of racy entries that
/// `is_kept` are read now.
pub(crate) fn smudge_unexamined(
    session: &Session<'_>,
    old_mtime: Timestamp,
    index: &mut Index,
    is_kept: impl Fn(usize) -> bool,
) -> Result<()> {
    let is_racy = |row: usize| {
        let is_skipped = index.entries()[row].flags.skip_worktree;
        !is_skipped && is_kept(row) && index.is_racy(row, old_mtime)
    };
    let racy: Vec<bool> = (0..index.entries().len()).map(is_racy).collect();
    if !racy.contains(&true) {
        return Ok(());
    }
    let rules = session.rules_since(old_mtime);
    let mut states = states_of(session, index, &rules, |row| racy[row])?;
    // What cannot be read stays suspect.
    session.settle(&mut states, index, None)?;
    let is_modified = |state: State| state == State::Modified || state.may_be_read();
    index.smudge_racily_clean(old_mtime, |row| racy[row] && is_modified(states[row]));
    Ok(())
}

/// The cache tree of the new index. A file that was only rewritten leaves its directories' trees
/// valid.
pub(crate) fn cache_tree(session: &Session<'_>, old: &Index, index: &Index) -> Option<CacheTree> {
    let exists = |id: &ObjectId| session.repository.has_tree(id);
    match known_tree(session.repository, old) {
        Some(known) if index.has_content_of(old) => Some(known.clone()),
        Some(known) => CacheTree::rebuild(index, (old, known), exists),
        None => CacheTree::build(index, exists),
    }
}

fn stopped(error: hedgerow_writer::Error) -> Error {
    match error {
        hedgerow_writer::Error::Cancelled => Error::Interrupted,
        hedgerow_writer::Error::Panicked(reason) => Error::Internal { reason },
    }
}

/// The local changes that the checkout carried over, as `git checkout` lists them.
fn local_changes(
    session: &Session<'_>,
    next: &Transition,
    states: &[State],
    tree: ObjectId,
) -> Result<Vec<LocalChange>> {
    let staged = match next.index.cache_tree().and_then(CacheTree::root_id) {
        Some(root) if *root == tree => None,
        _ => Some(Difference::between(
            session.repository,
            None,
            Some(tree),
            session.names(),
            &session.engine(),
        )?),
    };
    Ok(super::outcome::local_changes(next, states, staged.as_ref()))
}
