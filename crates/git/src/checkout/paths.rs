//! Restoring single paths from the index or from a tree, in the working tree, in the index or in
//! both; HEAD stays: git-checkout(1) with paths, and git-restore(1).

use super::carry_out::{remove, write};
use super::conflicts::{without_both_sides, Recreated};
use super::examine::{settle, smudge_racy, smudge_unexamined, trust_stat};
use super::obstacles::{clear, holds_populated_submodule, Obstacle};
use super::outcome::Done;
use super::recursion::{Around, SubmoduleMoves};
use super::rejects::{new_ancestors, Reason, Rejects};
use super::session::Session;
use super::supplies::supplies;
use super::transition::{removal, Remove, Transition, Write};
use crate::index::{Builder, CacheTree, Entry, EntryStat, Flags, Index, Mode, Stage};
use crate::merge::ConflictStyle;
use crate::tree::{Difference, Enters};
use crate::worktree::attribute_files::Direction;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::present::is_there;
use crate::worktree::state::{states_of, State};
use crate::worktree::{Filtering, OldIndex};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::ops::{Bound, Range};

/// The paths to check out, their source, and what is updated.
#[derive(Clone, Debug)]
pub struct PathOptions {
    /// Pathspecs as the user gave them, relative to the user's current directory; all paths if empty.
    pub pathspecs: Vec<BString>,
    /// The tree to take the paths from; the index if `None`.
    pub tree: Option<ObjectId>,
    /// Whether the files are written.
    pub in_work_tree: bool,
    /// Whether the index gets what the tree has. Without a tree it gets the new stat data of the
    /// files that are written, in any case.
    pub in_index: bool,
    /// Paths that match and that the tree does not have stay; else they are removed.
    pub overlay: bool,
    /// What happens to paths that are unmerged.
    pub unmerged: Unmerged,
    /// Also write files outside the sparse checkout.
    pub beyond_sparse: bool,
    /// Of the paths that match, only these.
    pub only: Option<BTreeSet<BString>>,
    /// Pathspecs that match nothing are passed over.
    pub may_match_nothing: bool,
    /// Whether submodules move along; `None`: as `submodule.recurse` says.
    pub recurse_submodules: Option<bool>,
    /// Filters are asked as git-apply(1) asks them: they may delay no file, and are told only its path.
    pub like_patch: bool,
    /// Run the post-checkout hook.
    pub runs_hook: bool,
    /// With fewer files than this to write, a single worker writes them
    /// (`checkout.thresholdForParallelism`).
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

impl Default for PathOptions {
    /// As `git checkout -- <path>` does without options.
    fn default() -> Self {
        PathOptions {
            pathspecs: Vec::new(),
            tree: None,
            in_work_tree: true,
            in_index: true,
            overlay: true,
            unmerged: Unmerged::Refuse,
            beyond_sparse: false,
            only: None,
            may_match_nothing: false,
            recurse_submodules: None,
            like_patch: false,
            runs_hook: true,
            threshold: None,
            execution: Execution::default(),
        }
    }
}

/// What happens to paths that are unmerged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unmerged {
    /// Nothing is done, and they are named.
    #[default]
    Refuse,
    /// They are left out.
    LeaveOut,
    /// Their files get one side of the merge. The index stays in conflict.
    Take(MergeSide),
    /// Their files get the conflicts again, shown in this style or else as configured. So do paths whose
    /// conflicts were resolved, as far as the index remembers.
    Merge(Option<ConflictStyle>),
}

/// A side of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeSide {
    /// The branch that was merged into.
    Ours,
    /// The branch that was merged.
    Theirs,
}

impl MergeSide {
    fn stage(self) -> Stage {
        match self {
            MergeSide::Ours => Stage::Ours,
            MergeSide::Theirs => Stage::Theirs,
        }
    }
}

/// How a checkout of paths ended.
#[derive(Debug)]
pub enum PathOutcome {
    /// Done, apart from the failures it lists.
    Done(Done),
    /// Some pathspecs matched nothing; nothing was touched.
    Unmatched(Vec<BString>),
    /// These paths are unmerged; nothing was touched.
    Unmerged(Vec<BString>),
    /// These paths do not have the requested side of the merge, or not both; nothing was touched.
    WithoutSide(Vec<BString>),
    /// Submodules cannot move along; nothing was touched.
    Rejected(Rejects),
}

/// Checks that the pathspecs can be parsed.
///
/// # Errors
/// [`crate::Error::Setup`] or [`crate::Error::Pathspec`], in git's words, if one cannot be parsed.
pub fn check_pathspecs(
    repository: &crate::repository::Repository,
    pathspecs: &[BString],
) -> Result<()> {
    Pathspecs::new(repository, pathspecs).map(drop)
}

/// Checks out the paths that match. In a partial clone, what is missing is fetched before anything
/// is touched.
pub fn checkout_paths(
    repository: &crate::repository::Repository,
    options: &PathOptions,
) -> Result<PathOutcome> {
    repository.with_promised(|| try_to_check_out(repository, options))
}

fn try_to_check_out(
    repository: &crate::repository::Repository,
    options: &PathOptions,
) -> Result<PathOutcome> {
    let mut matcher = Pathspecs::new(repository, &options.pathspecs)?;
    let mut session = Session::begin(repository, options.threshold, &options.execution)?;
    if options.like_patch {
        session.set_filtering(Filtering::Patch);
    } else {
        session.set_source(None, options.tree);
    }
    session.recurse(options.recurse_submodules);
    let mut old = session.read_index()?;
    let is_present_looked_for = session.include_present(&mut old)?;
    if let Unmerged::Merge(_) = options.unmerged {
        let is_meant = |path: &BStr, mode| matcher.fits(path, mode);
        if let Some(index) = old.index.unresolved(is_meant)? {
            old.index = index;
        }
    }
    let mut plan = Plan {
        old: &old,
        options,
        collapsed: collapsed(&session, &old, options, is_present_looked_for)?,
        chosen: Vec::new(),
        removals: Vec::new(),
        unmerged: Vec::new(),
        builder: Builder::replacing(&old.index),
    };
    match options.tree {
        Some(tree) => {
            let tree = plan.read_tree(&session, tree, &matcher)?;
            plan.choose_from_tree(&tree, &mut matcher)?;
        }
        None => plan.choose_from_index(&mut matcher)?,
    }
    let unmatched = matcher.unmatched();
    if !unmatched.is_empty() && !options.may_match_nothing {
        return Ok(PathOutcome::Unmatched(unmatched));
    }
    let unmerged = plan.take_unmerged();
    let mut done = Done::default();
    match options.unmerged {
        Unmerged::Refuse if !unmerged.is_empty() => return Ok(PathOutcome::Unmerged(unmerged)),
        Unmerged::Refuse | Unmerged::LeaveOut => done.left_out = unmerged,
        Unmerged::Take(side) => {
            let lacking = plan.take_side(side, &unmerged);
            if !lacking.is_empty() {
                return Ok(PathOutcome::WithoutSide(lacking));
            }
        }
        Unmerged::Merge(_) => {
            let paths = unmerged.iter().map(|path| path.as_bstr());
            let lacking = without_both_sides(&old.index, paths);
            if !lacking.is_empty() {
                let lacking = lacking.into_iter().map(BStr::to_owned);
                return Ok(PathOutcome::WithoutSide(lacking.collect()));
            }
        }
    }
    if options.in_work_tree {
        done = match carry_out(&mut session, plan, done)? {
            Ok(done) => done,
            Err(rejects) => return Ok(PathOutcome::Rejected(rejects)),
        };
    } else {
        let Plan { builder, .. } = plan;
        let mut index = builder.finish_replacing(&old.index);
        index.keep_resolve_undo(&old.index);
        index.set_cache_tree(restored_cache_tree(&session, &old, &index));
        smudge_unexamined(&session, old.mtime, &mut index, |_| true)?;
        done.warnings.extend(session.write_index(&index, false)?);
    }
    drop(session);
    if options.runs_hook {
        done.hook_failure = run_hook(repository)?;
    }
    Ok(PathOutcome::Done(done))
}

/// Brings the working tree to what is planned, and the index if it is to be written.
fn carry_out(
    session: &mut Session<'_>,
    mut plan: Plan<'_>,
    mut done: Done,
) -> Result<std::result::Result<Done, Rejects>> {
    let (old, options) = (plan.old, plan.options);
    let chosen = std::mem::take(&mut plan.chosen);
    let Planned {
        transition: mut next,
        states,
        replaced_attributes,
    } = plan.transition(session, &chosen)?;
    let around = Around {
        old: &old.index,
        force: true,
        restores_paths: true,
        only_tries: false,
        moves_kept: &|row| chosen[row].1,
    };
    let submodules = SubmoduleMoves::plan(session, &around, &mut next)?;
    let obstacles = in_the_way(session, &next, &states)?;
    // Only where submodules move along does one go that has files.
    if session.recursion.is_none() {
        for obstacle in &obstacles {
            let path = obstacle.path.as_bstr();
            if obstacle.directory
                && holds_populated_submodule(&session.root, &old.index, path, &|_| false)?
            {
                let said = format!("error: cannot create '{path}': a submodule is there");
                next.rejects.say(path, vec![said]);
                next.rejects.add(Reason::Submodule, path);
            }
        }
    }
    if !next.rejects.is_empty() {
        return Ok(Err(next.rejects));
    }
    // A patch is taken back by removing first.
    let removed = next.removals.iter().filter(|_| options.like_patch);
    let removed: BTreeSet<&BStr> = removed
        .map(|removal| old.index.path(&old.index.entries()[removal.row as usize]))
        .collect();
    let direction = Direction::CheckIn {
        listed: None,
        is_gone: &|path| replaced_attributes.contains(path) || removed.contains(path),
    };
    let recreated = match options.unmerged {
        Unmerged::Merge(style) => Some(Recreated::stand_in(session, &mut next, style, &mut done)?),
        _ => None,
    };
    let supplies = supplies(session, &next, &direction)?;
    submodules.depart(session, &mut done)?;
    clear(&session.root, &obstacles)?;
    // What is removed may have changes, and a filter that fails ends the command: only what is in the way
    // goes first. That may be a file of the same name in another case.
    let later = if session.settings().ignore_case {
        Vec::new()
    } else {
        next.take_other_removals(&old.index)
    };
    remove(session, &old.index, &next, &mut done)?;
    write(session, &mut next, supplies, &mut done)?;
    next.removals = later;
    remove(session, &old.index, &next, &mut done)?;
    submodules.arrive(session, &mut done)?;
    if let Some(recreated) = recreated {
        recreated.step_aside(&mut next);
    }
    if options.in_index || options.tree.is_none() {
        smudge_racy(&mut next, old, &states);
        let tree = restored_cache_tree(session, old, &next.index);
        next.index.set_cache_tree(tree);
        done.warnings.extend(
            session
                .write_index(&next.index, false)
                .map_err(|error| done.ended_by(error))?,
        );
    }
    Ok(Ok(done))
}

/// The cache tree of the index after some paths were restored.
fn restored_cache_tree(session: &Session<'_>, old: &OldIndex, new: &Index) -> Option<CacheTree> {
    match old.sparse_directories {
        // Expanding the sparse index read all its trees; git knows all of them then, too.
        Some(_) => CacheTree::build(new, |id| session.repository.has_tree(id)),
        None => cache_tree(&old.index, new),
    }
}

/// The part of the old cache tree that is still valid for the new index.
pub(crate) fn cache_tree(old: &Index, new: &Index) -> Option<CacheTree> {
    let mut tree = old.cache_tree().filter(|tree| tree.fits(old))?.clone();
    let content = |entry: &Entry| (entry.id, entry.mode, entry.flags.intent_to_add);
    let (mut olds, mut news) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let order = match (olds.peek(), news.peek()) {
            (None, None) => return Some(tree),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old_path, old)), Some((new_path, new))) => {
                (old_path, old.flags.stage).cmp(&(new_path, new.flags.stage))
            }
        };
        let gone = olds.next_if(|_| order.is_le());
        let come = news.next_if(|_| order.is_ge());
        if gone.map(|(_, entry)| content(entry)) != come.map(|(_, entry)| content(entry)) {
            let changed = gone.or(come);
            changed
                .into_iter()
                .for_each(|(path, _)| tree.invalidate_path(path));
        }
    }
}

/// Runs the post-checkout hook. Returns its exit status if it ran and failed.
fn run_hook(repository: &crate::repository::Repository) -> Result<Option<hedgerow_fs::Exit>> {
    let head = repository
        .head()?
        .id()
        .unwrap_or_else(|| repository.null_id());
    let hook = repository.run_post_checkout(&head, &head, false)?;
    Ok(hook.filter(|exit| *exit != hedgerow_fs::Exit::Status(0)))
}

/// An entry of the new index, without its path.
#[derive(Clone, Copy)]
struct Row {
    id: ObjectId,
    mode: Mode,
    stat: EntryStat,
    flags: Flags,
}

impl Row {
    fn new(id: ObjectId, mode: Mode) -> Self {
        Row {
            id,
            mode,
            stat: EntryStat::default(),
            flags: Flags::default(),
        }
    }
}

impl From<&Entry> for Row {
    fn from(entry: &Entry) -> Self {
        Row {
            id: entry.id,
            mode: entry.mode,
            stat: entry.stat,
            flags: entry.flags,
        }
    }
}

/// The new index, entry by entry, and which entries were requested.
struct Plan<'a> {
    old: &'a OldIndex,
    options: &'a PathOptions,
    /// Directories of a sparse index that git replaces as a whole if it takes anything of them.
    collapsed: HashSet<&'a BStr>,
    /// For each entry: the row of the old index that it comes from, and whether it is to be
    /// written.
    chosen: Vec<(Option<u32>, bool)>,
    /// Files to remove, by their rows in the old index.
    removals: Vec<Remove>,
    /// Requested paths that are unmerged.
    unmerged: Vec<BString>,
    builder: Builder,
}

impl Plan<'_> {
    fn choose_from_index(&mut self, matcher: &mut Pathspecs) -> Result<()> {
        let old = &self.old.index;
        let meant = matcher.rows(old);
        self.leave(0..meant.start)?;
        for row in meant.clone() {
            let entry = &old.entries()[row];
            let path = old.path(entry);
            let chosen = match self.chosen_stage(row) {
                Some(chosen) => chosen,
                None => self.is_within(path, entry.flags) && matcher.matches(path, entry.mode),
            };
            self.push(path, Some(row), Row::from(entry), chosen)?;
        }
        self.leave(meant.end..old.entries().len())
    }

    /// Whether the last row was chosen, if it is another stage of the same path: they go together.
    fn chosen_stage(&self, row: usize) -> Option<bool> {
        let entries = self.old.index.entries();
        let before = &entries[row.checked_sub(1)?];
        let is_same = self.old.index.path(before) == self.old.index.path(&entries[row]);
        let last = self.chosen.last().filter(|_| is_same)?;
        Some(last.1)
    }

    /// Whether an entry with these flags is looked at: outside the sparse checkout nothing is, if
    /// not asked for.
    fn is_within(&self, path: &BStr, flags: Flags) -> bool {
        self.is_named(path) && (self.options.beyond_sparse || !flags.skip_worktree)
    }

    /// Whether a path is one of those that alone are looked at.
    fn is_named(&self, path: &BStr) -> bool {
        let only = self.options.only.as_ref();
        only.is_none_or(|only| only.contains(path))
    }

    /// What the tree has where something may be taken from it; other directories are not read.
    fn read_tree(
        &self,
        session: &Session<'_>,
        tree: ObjectId,
        matcher: &Pathspecs,
    ) -> Result<Difference> {
        let leads = |path: &BStr| matcher.lead_into(path) && self.leads_to_named(path);
        // Of a directory that is replaced as a whole, all is read.
        let enters = |path: &BStr| match directory_of(&self.collapsed, path) {
            Some(directory) => leads(path[..=directory.len()].as_bstr()),
            None => leads(path),
        };
        let takes_all = matcher.mean_all() && self.options.only.is_none();
        let enters: Option<Enters<'_>> = (!takes_all).then_some(&enters);
        let (repository, rules) = (session.repository, (session.names(), enters));
        Difference::within(repository, None, Some(tree), rules, &session.engine())
    }

    /// Whether one of the paths that alone are looked at is in a directory.
    fn leads_to_named(&self, directory: &BStr) -> bool {
        self.options.only.as_ref().is_none_or(|only| {
            let from = (Bound::Included(directory), Bound::Unbounded);
            let mut after = only.range::<BStr, _>(from);
            after.next().is_some_and(|path| path.starts_with(directory))
        })
    }

    /// Chooses rows: paths that are in the tree and match are taken from the tree. All others stay,
    /// except files where the taken paths need a directory, entries below a path that becomes a file,
    /// and, without overlay, paths that match.
    fn choose_from_tree(&mut self, tree: &Difference, matcher: &mut Pathspecs) -> Result<()> {
        let changes = tree.changes().iter();
        let all = changes.filter_map(|change| {
            let path = tree.path(change);
            let side = change.new?;
            let mode = Mode::from(side.kind);
            let is_taken = matcher.fits(path, mode) && self.is_named(path);
            Some((path, Row::new(side.id, mode), is_taken))
        });
        let all: Vec<(&BStr, Row, bool)> = all.collect();
        let taken = all.iter().filter(|(_, _, is_taken)| *is_taken);
        let within = taken.filter_map(|(path, _, _)| directory_of(&self.collapsed, path));
        let replaced: HashSet<&BStr> = within.collect();
        let files = all.iter().filter_map(|(path, row, is_taken)| {
            let mut row = *row;
            row.flags.skip_worktree = directory_of(&replaced, path).is_some();
            (*is_taken || row.flags.skip_worktree).then_some((*path, row))
        });
        let files: Vec<(&BStr, Row)> = files.collect();
        let old = &self.old.index;
        let clashing = clashing(old, files.iter().map(|(path, _)| *path));
        let entries = old.entries();
        let mut files = files.into_iter().peekable();
        let some_stay = replaced.is_empty() && clashing.is_empty();
        let meant = if self.options.overlay {
            0..0
        } else {
            matcher.rows(old)
        };
        let mut row = 0;
        // Joins the tree's files with the rows of the old index; both are ascending by path.
        loop {
            if some_stay {
                let certain = if row < meant.start {
                    row..meant.start
                } else {
                    row.max(meant.end)..entries.len()
                };
                if certain.start == row {
                    let staying = old.rows_before(certain, files.peek().map(|(path, _)| *path));
                    row = staying.end;
                    self.leave(staying)?;
                }
            }
            let current = entries.get(row).map(|entry| old.path(entry));
            match (files.peek(), current) {
                (None, None) => return Ok(()),
                (Some((path, _)), current) if current.is_none_or(|current| current >= *path) => {
                    let (path, file) = (*path, files.next().map(|(_, file)| file));
                    // A file of the tree replaces all stages of its path.
                    let stages = entries[row..].iter().take_while(|e| old.path(e) == path);
                    let stages = stages.count();
                    if let Some(file) = file {
                        self.take(path, row..row + stages, file, matcher)?;
                    }
                    row += stages;
                }
                (_, current) => {
                    // Only an entry of the same stage gives way to a file of the tree.
                    let is_unmerged = entries[row].flags.stage != Stage::Merged;
                    let path = current.expect("where no file comes first, there is a row");
                    let is_replaced = directory_of(&replaced, path).is_some();
                    if !is_replaced && (is_unmerged || !clashing.contains(&row)) {
                        self.stay(path, row, matcher)?;
                    }
                    row += 1;
                }
            }
        }
    }

    /// Keeps rows as they are.
    fn leave(&mut self, rows: Range<usize>) -> Result<()> {
        self.builder.extend_from(&self.old.index, rows.clone())?;
        self.chosen
            .extend(rows.map(|row| (Some(row as u32), false)));
        Ok(())
    }

    /// Keeps a row that the tree does not have, or removes it if it matches and there is no overlay.
    fn stay(&mut self, path: &BStr, row: usize, matcher: &mut Pathspecs) -> Result<()> {
        let entry = &self.old.index.entries()[row];
        let is_removed = !self.options.overlay
            && self.is_within(path, entry.flags)
            && matcher.matches(path, entry.mode);
        if !is_removed {
            return self.push(path, Some(row), Row::from(entry), false);
        }
        if entry.flags.stage == Stage::Merged {
            self.removals.push(removal(row, entry));
        } else {
            self.unmerged.push(path.to_owned());
        }
        Ok(())
    }

    /// Replaces the old index's rows of a path by the file of the tree. An entry with the same
    /// content keeps everything that the index knows about it.
    fn take(
        &mut self,
        path: &BStr,
        rows: Range<usize>,
        file: Row,
        matcher: &mut Pathspecs,
    ) -> Result<()> {
        let last = rows.end.checked_sub(1).filter(|row| rows.contains(row));
        let same = last.map(|row| self.old.index.entries()[row]).filter(|old| {
            old.flags.stage == Stage::Merged
                && !old.flags.intent_to_add
                && (old.id, old.mode) == (file.id, file.mode)
        });
        let entry = same.map_or(file, |old| Row::from(&old));
        let chosen = self.is_within(path, entry.flags) && matcher.matches(path, entry.mode);
        self.push(path, last, entry, chosen)
    }

    fn push(&mut self, path: &BStr, row: Option<usize>, entry: Row, chosen: bool) -> Result<()> {
        if chosen && entry.flags.stage != Stage::Merged {
            self.unmerged.push(path.to_owned());
        }
        self.builder
            .push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
        self.chosen.push((row.map(|row| row as u32), chosen));
        Ok(())
    }

    fn take_unmerged(&mut self) -> Vec<BString> {
        let mut paths = std::mem::take(&mut self.unmerged);
        paths.dedup();
        paths
    }

    /// Lets the files of unmerged `paths` become `side`. Where a path does not have that side, its
    /// file is removed, or with overlay the path is returned.
    fn take_side(&mut self, side: MergeSide, paths: &[BString]) -> Vec<BString> {
        let mut lacking = Vec::new();
        let old = &self.old.index;
        for path in paths {
            let (Ok(first) | Err(first)) = old.find(path.as_ref(), Stage::Merged);
            let entries = old.entries()[first..].iter().enumerate();
            let mut stages = entries.take_while(|(_, entry)| old.path(entry) == path);
            let has_side = stages.any(|(_, entry)| entry.flags.stage == side.stage());
            if !has_side && self.options.overlay {
                lacking.push(path.clone());
            } else if !has_side {
                self.removals.push(removal(first, &old.entries()[first]));
            }
        }
        lacking
    }

    /// Plans the writes. Files that match their entries are not written again.
    fn transition(self, session: &Session<'_>, chosen: &[(Option<u32>, bool)]) -> Result<Planned> {
        let unmerged = self.options.unmerged;
        let mut index = self.builder.finish_replacing(&self.old.index);
        index.keep_resolve_undo(&self.old.index);
        let rules = session.rules(self.old);
        // Racy entries get new stat data, so it must be known whether their files changed.
        let is_asked = |row: usize| chosen[row].1 || index.is_racy(row, self.old.mtime);
        let found = states_of(session, &index, &rules, is_asked)?;
        let mut states = found.answered()?.states;
        trust_stat(&mut states, &index, |_| true);
        let is_read = |row: &usize| chosen[*row].1 && states[*row].may_be_read();
        let read: Vec<usize> = (0..states.len()).filter(is_read).collect();
        settle(session, &mut states, &index)?;
        let mut writes = Vec::new();
        let mut kept_from = Vec::with_capacity(states.len());
        for (row, (from, chosen)) in chosen.iter().enumerate() {
            let entry = &index.entries()[row];
            let write = *chosen
                && match (entry.flags.stage, unmerged) {
                    (Stage::Merged, _) => states[row] != State::Clean,
                    (stage, Unmerged::Take(side)) => stage == side.stage(),
                    (stage, Unmerged::Merge(_)) => stage == Stage::Ours,
                    (_, Unmerged::Refuse | Unmerged::LeaveOut) => false,
                };
            kept_from.push((!write && from.is_some()).then_some(row as u32));
            if write {
                let replaces = states[row].is_file();
                let untracked = !replaces && entry.mode != Mode::Gitlink;
                writes.push(Write {
                    row: row as u32,
                    replaces,
                    untracked,
                });
            }
        }
        let replaced_attributes = replaced_attributes(&index, &writes, &read);
        let transition = Transition {
            index,
            writes,
            removals: self.removals,
            must_be_absent: Vec::new(),
            absent_links: Vec::new(),
            became_directories: Vec::new(),
            kept_from,
            left_despite_sparse: Vec::new(),
            rejects: Rejects::default(),
        };
        Ok(Planned {
            transition,
            states,
            replaced_attributes,
        })
    }
}

/// What to do, and the data that it is based on.
struct Planned {
    transition: Transition,
    /// The state of each entry's file.
    states: Vec<State>,
    /// Attribute files whose old content does not count.
    replaced_attributes: BTreeSet<BString>,
}

/// The attribute files that git has removed, in order to rewrite them, by the time it reads them.
/// Git reads the attribute files of a directory at the first file there, in index order, that it
/// writes or has to read.
fn replaced_attributes(index: &Index, writes: &[Write], read: &[usize]) -> BTreeSet<BString> {
    let is_file = |row: usize| matches!(index.entries()[row].mode, Mode::File | Mode::Executable);
    let written = writes.iter().map(|write| write.row as usize);
    let asking: Vec<usize> = written.filter(|row| is_file(*row)).collect();
    let mut replaced = BTreeSet::new();
    for write in writes.iter().filter(|write| write.replaces) {
        let row = write.row as usize;
        let path = index.path(&index.entries()[row]);
        let (directory, name) = hedgerow_tree::split_path(path);
        if name != b".gitattributes" {
            continue;
        }
        let first = if directory.is_empty() {
            0
        } else {
            index.range_under(directory.as_bstr()).start
        };
        let next_from = |rows: &[usize]| {
            let at = rows.partition_point(|row| *row < first);
            rows.get(at).copied().unwrap_or(usize::MAX)
        };
        if next_from(&asking) >= row && next_from(read) > row {
            replaced.insert(path.to_owned());
        }
    }
    replaced
}

/// The directories of a sparse index that git replaces as a whole, without looking into them, if it takes
/// any of their paths: those there are without overlay. No file is written or removed there. One that is
/// there in the working tree makes git look at all files, if it looks for such.
fn collapsed<'o>(
    session: &Session<'_>,
    old: &'o OldIndex,
    options: &PathOptions,
    is_present_looked_for: bool,
) -> Result<HashSet<&'o BStr>> {
    // Git cannot write a directory as a file, and says so.
    let is_file = options.beyond_sparse && options.in_work_tree;
    let directories = old.sparse_directories.iter().flatten();
    let directories: HashSet<&BStr> = directories
        .filter(|_| !options.overlay && !is_file)
        .map(|directory| directory.path.as_bstr())
        .collect();
    if !is_present_looked_for || directories.is_empty() {
        return Ok(directories);
    }
    let top = session.repository.require_work_tree()?;
    let is_opened = directories.iter().any(|path| is_there(top, path, b""));
    Ok(if is_opened {
        HashSet::new()
    } else {
        directories
    })
}

/// The one of `directories` that `path` is in.
fn directory_of<'d>(directories: &HashSet<&'d BStr>, path: &BStr) -> Option<&'d BStr> {
    if directories.is_empty() {
        return None;
    }
    let mut above = path.find_iter(b"/").map(|at| path[..at].as_bstr());
    above.find_map(|above| directories.get(above).copied())
}

/// The rows of the index that cannot coexist with `paths`: files above them and entries below them.
pub(crate) fn clashing<'a>(
    index: &Index,
    paths: impl Iterator<Item = &'a BStr>,
) -> BTreeSet<usize> {
    let mut rows = BTreeSet::new();
    let mut previous = BStr::new("");
    for path in paths {
        rows.extend(index.range_under(path));
        for above in new_ancestors(previous, path) {
            let (Ok(first) | Err(first)) = index.find(above, Stage::Merged);
            let entries = index.entries()[first..].iter();
            let stages = entries.take_while(|entry| index.path(entry) == above);
            rows.extend(first..first + stages.count());
        }
        previous = path;
    }
    rows
}

/// What the files to write replace: git overwrites whatever is there.
fn in_the_way(session: &Session<'_>, next: &Transition, states: &[State]) -> Result<Vec<Obstacle>> {
    let mut obstacles = Vec::new();
    for write in &next.writes {
        let path = next.index.path(&next.index.entries()[write.row as usize]);
        match states[write.row as usize] {
            State::Directory => {
                obstacles.push(Obstacle {
                    path: path.to_owned(),
                    directory: true,
                });
            }
            State::Blocked => {
                let blocking = super::obstacles::first_blocking(&session.root, path)?;
                obstacles.extend(blocking.map(|path| Obstacle {
                    path: path.to_owned(),
                    directory: false,
                }));
            }
            _ => {}
        }
    }
    obstacles.dedup();
    Ok(obstacles)
}
