//! Moving the working tree and the index from one tree to another.

use super::carry_out::{act, check, Before, Checked};
use super::examine::{concerned, examine, examine_of, Examined};
use super::from_known::changes_from;
use super::obstacles::Untracked;
use super::outcome::{Done, LocalChange, Outcome};
use super::rejects::Reason;
use super::rows::kept_out;
use super::session::Session;
use super::shares::{
    adopt, forget_notes, is_finished, keep_share, lock_index, note_written, refuse_in_shares,
    Share, FINISHED,
};
use super::submodules::list_differing;
use super::transition::{transition, Effect, Rules, Start, Transition};
use crate::index::{Builder, CacheTree, Entry, EntryStat, Flags, Index, Mode, Stage};
use crate::tree::Difference;
use crate::worktree::sparse::SparsePatterns;
use crate::worktree::state::State;
use crate::worktree::{known_tree, OldIndex};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use std::collections::{BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

/// Whoever waits so long for a lock gives others the time to save a file.
pub(crate) const WAIT: Duration = Duration::from_millis(50);

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
    if job.share == Share::Finish && is_finished(session, job.new, &old)? {
        // Whoever did it may have ended before HEAD was written.
        prepare()?;
        let mut done = Done::default();
        done.warnings.push(FINISHED.into());
        done.warnings.extend(forget_notes(session));
        return Ok(Outcome::Done(done));
    }
    if job.share != Share::All {
        refuse_in_shares(session, &old)?;
    }
    if old.index.is_unmerged() && matches!(way, Way::Switch | Way::Keep) {
        return Ok(Outcome::Unmerged(unmerged_paths(&old.index)));
    }
    session.include_present(&mut old)?;
    let sparse = session.sparse_patterns()?;
    let mut decision = decide(session, job, &old, sparse.as_ref())?;
    let mut done = if job.share == Share::Finish {
        adopt(session, &old, &mut decision.next)?
    } else {
        let mut checked = decision.check(session, job, &old)?;
        let keeps_files = way != Way::Overwrite || session.keeps_assumed;
        if checked.is_some() && has_waited(session, prepare)? && keeps_files {
            // Files may have been saved meanwhile.
            session.end_filters();
            decision = decide(session, job, &old, sparse.as_ref())?;
            checked = decision.check(session, job, &old)?;
        }
        let Some(checked) = checked else {
            return Ok(Outcome::Rejected(decision.next.rejects));
        };
        // Everything above only reads.
        let (before, next) = decision.parts(job, &old);
        act(session, &before, next, checked)?
    };
    let Decision {
        found, mut next, ..
    } = decision;
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
        Share::Finish => {
            lock_index(session)?;
            if session.repository.load_index()?.is_some() {
                // Somebody else has finished meanwhile.
                return update_amending(session, job, prepare, amend);
            }
            prepare()?;
        }
    }
    if let (Way::Keep, Some(tree)) = (way, job.new) {
        next.index = exactly(session, &old.index, next.index, tree)?;
    }
    if let Some(amended) = amend(&next.index)? {
        next.index = amended;
    }
    finish(session, job, &old.index, &mut next, &found, &mut done)?;
    if job.share == Share::Finish {
        done.warnings.extend(forget_notes(session));
    }
    Ok(Outcome::Done(done))
}

/// What is to be done, from what was found.
struct Decision {
    found: Examined,
    rules: Rules,
    sparse: bool,
    next: Transition,
}

/// Looks at the files and the trees, and decides what becomes of them.
fn decide(
    session: &Session<'_>,
    job: &Move<'_>,
    old: &OldIndex,
    sparse: Option<&SparsePatterns>,
) -> Result<Decision> {
    let (rules, changes) = plan(session, job, old)?;
    let found = look(session, job.way, old, sparse, (rules, &changes))?;
    let states = &found.states;
    let written = changes.changes().iter().map(|change| changes.path(change));
    let written: BTreeSet<&BStr> = written
        .filter(|path| (job.writes_outside)(path, true))
        .collect();
    let top = session.repository.work_tree();
    let excludes = |path: &BStr| {
        let excludes = |sparse: &SparsePatterns| sparse.excludes_entry(path, top);
        sparse.is_some_and(excludes)
            && !written.contains(path)
            && !(job.writes_outside)(path, false)
    };
    let mut next = transition(&Start {
        index: &old.index,
        states,
        changes: &changes,
        rules,
        is_excluded: &excludes,
        is_free: &|path| Ok(!kept_out(&session.root, path)?),
        sparse: sparse.is_some(),
        effect: Effect::Both,
    })?;
    if old.is_new && job.starts_anew && job.way == Way::Switch {
        next.must_be_absent = gone(session, job)?;
    }
    if let (Way::Keep, Some(tree)) = (job.way, job.new) {
        refuse_held(session, tree, &old.index, states, &mut next)?;
    }
    if let Share::Of(shard) = job.share {
        keep_share(&mut next, shard);
    }
    Ok(Decision {
        found,
        rules,
        sparse: sparse.is_some(),
        next,
    })
}

/// Looks at the files: at all of them if they may be overwritten or are told about, or if the sparse checkout
/// may take or bring any; else at those alone whose entries may change.
fn look(
    session: &Session<'_>,
    way: Way,
    old: &OldIndex,
    sparse: Option<&SparsePatterns>,
    (rules, changes): (Rules, &Difference),
) -> Result<Examined> {
    let is_partial = matches!(
        rules,
        Rules::TwoWay { .. } | Rules::Keeping { complete: false }
    );
    if matches!(way, Way::Switch | Way::Overwrite) || sparse.is_some() || !is_partial {
        return examine(session, way, old);
    }
    let changed = changes.changes().iter().map(|change| changes.path(change));
    let concerned = concerned(session, old, changed);
    examine_of(session, way, old, |row| concerned[row])
}

impl Decision {
    /// What was found, and what is to be done.
    fn parts<'d>(
        &'d mut self,
        job: &Move<'_>,
        old: &'d OldIndex,
    ) -> (Before<'d>, &'d mut Transition) {
        let before = Before {
            old,
            states: &self.found.states,
            refreshed: &self.found.refreshed,
            rules: self.rules,
            untracked: job.untracked,
            sparse: self.sparse,
            moves_submodules: matches!(job.way, Way::Overwrite | Way::Merge),
            only_tries_submodules: false,
            dry_run: false,
        };
        (before, &mut self.next)
    }

    /// Whether that can be done: see [`check`].
    fn check(
        &mut self,
        session: &Session<'_>,
        job: &Move<'_>,
        old: &OldIndex,
    ) -> Result<Option<Checked>> {
        let (before, next) = self.parts(job, old);
        check(session, &before, next)
    }
}

/// Calls `prepare`. Returns whether that may have taken so long that somebody has saved files: it waited for
/// a lock, or a hook ran.
fn has_waited(session: &Session<'_>, prepare: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
    let has_hook = session.repository.has_hook("reference-transaction")?;
    let start = Instant::now();
    prepare()?;
    Ok(has_hook || start.elapsed() > WAIT)
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

/// The index whose content is `tree`, with what `index` knows of the same files; it was made from `old`. Only
/// trees of directories are read whose entries differ.
fn exactly(session: &Session<'_>, old: &Index, mut index: Index, tree: ObjectId) -> Result<Index> {
    index.set_cache_tree(cache_tree(session, old, &index));
    let (changes, complete) = changes_from(session, &index, Some(tree), None)?;
    let is_kept = |entry: &Entry| !complete && !entry.flags.intent_to_add;
    if changes.changes().is_empty() && index.entries().iter().all(is_kept) {
        return Ok(index);
    }
    let mut builder = Builder::replacing(&index);
    let mut listed = changes.changes().iter().peekable();
    let mut entries = index.entries().iter().peekable();
    loop {
        let next = listed.peek().map(|change| changes.path(change));
        let at = |path: &BStr| next.is_none_or(|next| path < next);
        if let Some(entry) = entries.next_if(|entry| at(index.path(entry))) {
            if is_kept(entry) {
                let path = index.path(entry);
                builder.push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
            }
            continue;
        }
        let Some(change) = listed.next() else { break };
        let path = changes.path(change);
        let known = entries.next_if(|entry| index.path(entry) == path);
        let Some(side) = change.new else { continue };
        let mode = Mode::from(side.kind);
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
    Ok(builder.finish_replacing(&index))
}

/// Writes the index, and lists the remaining changes.
fn finish(
    session: &mut Session<'_>,
    job: &Move<'_>,
    old: &Index,
    next: &mut Transition,
    found: &Examined,
    done: &mut Done,
) -> Result<()> {
    next.index
        .set_cache_tree(cache_tree(session, old, &next.index));
    if job.list_changes {
        if let Some(new) = job.new {
            done.local_changes = local_changes(session, next, &found.states, new)?;
        }
        done.warnings.extend(unknown(next, found));
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
fn unknown(next: &Transition, found: &Examined) -> Vec<String> {
    let reasons = found.unanswered.iter();
    let reasons: HashMap<_, _> = reasons
        .map(|error| (error.path.as_os_str().as_bytes(), error))
        .collect();
    let rows = next.index.entries().iter().zip(&next.kept_from);
    let is_unknown = |from: u32| found.states[from as usize] == State::Unknown;
    let unknown = rows.filter(|(_, from)| from.is_some_and(is_unknown));
    let warning = |(entry, _): (&Entry, _)| {
        let path = next.index.path(entry);
        let reason = reasons.get(path.as_bytes()).map(|error| error.reason());
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        format!("'{path}' could not be asked whether it is changed{reason}")
    };
    unknown.map(warning).collect()
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
    let (changes, complete) = changes_from(session, &old.index, job.new, None)?;
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
