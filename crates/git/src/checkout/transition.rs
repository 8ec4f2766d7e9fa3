//! From the current state to the target: the new index, and what has to be done in the working
//! tree.

use super::merge::{one_way, two_way, Action, Current};
use super::rejects::{ancestors, new_ancestors, Reason, Rejects};
use crate::index::{Builder, Entry, EntryStat, Flags, Index, Mode, Stage};
use crate::tree::{Change, Difference, Side};
use crate::worktree::state::State;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_tree::EntryKind;
use std::collections::{BTreeMap, BTreeSet};

/// The rules that decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Keep the user's changes, or refuse. `initial`: there was no index.
    TwoWay { initial: bool },
    /// Overwrite the user's changes.
    OneWay {
        /// The changes list the whole new tree: a path that they do not name is not in it.
        complete: bool,
    },
    /// The index becomes the new tree. Keep the user's changes to files that are the same in both,
    /// or refuse.
    Keeping {
        /// As above.
        complete: bool,
    },
    /// Rules of the caller, who performs the actions; `overwrite`: the user's changes are
    /// overwritten; `one_way`: there is only one tree.
    Given { overwrite: bool, one_way: bool },
}

impl Rules {
    /// Whether the user's changes are overwritten.
    pub(crate) fn overwrite(self) -> bool {
        matches!(
            self,
            Rules::OneWay { .. }
                | Rules::Given {
                    overwrite: true,
                    ..
                }
        )
    }

    /// Whether the index becomes one tree, whatever it was made of.
    fn is_one_way(self) -> bool {
        let is_given = matches!(self, Rules::Given { one_way: true, .. });
        is_given || matches!(self, Rules::OneWay { .. } | Rules::Keeping { .. })
    }
}

/// What a transition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The index and the working tree.
    Both,
    /// The index; files that are lost from it must not be changed.
    Index,
    /// The index; the working tree does not matter.
    IndexOnly,
}

/// The state that the transition starts from.
pub(crate) struct Start<'a> {
    pub index: &'a Index,
    /// The state of each entry's file.
    pub states: &'a [State],
    /// The differences between the old tree and the new.
    pub changes: &'a Difference,
    pub rules: Rules,
    /// Whether a path is outside the sparse checkout.
    pub is_excluded: &'a dyn Fn(&BStr) -> bool,
    /// Whether nothing is at a path, nor in the place of a directory above it.
    pub is_free: &'a dyn Fn(&BStr) -> Result<bool>,
    /// Whether sparse checkout is on: it adds and removes files.
    pub sparse: bool,
    pub effect: Effect,
}

/// A file of the new index to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    /// Its row in the new index.
    pub row: u32,
    /// A removable file is in its place; it is replaced when the first of the content arrives.
    pub replaces: bool,
    /// The index had no entry in its place: whatever is there is untracked.
    pub untracked: bool,
}

/// A path of the old index to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remove {
    /// Its row in the old index.
    pub row: u32,
    /// It is the directory of a submodule.
    pub directory: bool,
}

/// The changes to make.
#[derive(Debug)]
pub(crate) struct Transition {
    /// The new index; entries to be written do not have stat data yet.
    pub index: Index,
    /// Ascending.
    pub writes: Vec<Write>,
    /// Ascending.
    pub removals: Vec<Remove>,
    /// Paths that must not exist though nothing is written to them.
    pub must_be_absent: Vec<BString>,
    /// The same for submodules, whose directories may stay, with the commits that the old tree has.
    pub absent_links: Vec<(BString, ObjectId)>,
    /// Files to be removed that are directories now.
    pub became_directories: Vec<BString>,
    /// For each row of the new index that is kept unchanged, the row of its state.
    pub kept_from: Vec<Option<u32>>,
    /// Changed files outside the sparse checkout, which stay because of their changes.
    pub left_despite_sparse: Vec<BString>,
    pub rejects: Rejects,
}

impl Transition {
    /// Whether a file is to be written to `path`.
    pub(crate) fn writes_to(&self, path: &BStr) -> bool {
        let at = |write: &Write| self.index.path(&self.index.entries()[write.row as usize]);
        self.writes
            .binary_search_by(|write| at(write).cmp(path))
            .is_ok()
    }

    /// Takes out the removals that make no room for a file to be written.
    pub(crate) fn take_other_removals(&mut self, old: &Index) -> Vec<Remove> {
        let (first, others) = std::mem::take(&mut self.removals)
            .into_iter()
            .partition(|remove| self.needs_room_of(old.path(&old.entries()[remove.row as usize])));
        self.removals = first;
        others
    }

    /// Whether a file is to be written below `path`, or to a directory above it.
    fn needs_room_of(&self, path: &BStr) -> bool {
        let at = |write: &Write| self.index.path(&self.index.entries()[write.row as usize]);
        let directory = BString::from([path.as_bytes(), b"/"].concat());
        let next = self.writes.partition_point(|write| at(write) < directory);
        let mut below = self.writes.iter().skip(next).map(at);
        below
            .next()
            .is_some_and(|path| path.starts_with(&directory))
            || ancestors(path).any(|above| self.writes_to(above))
    }

    /// Whether the file of the index `old` at `path` is to be removed.
    pub(crate) fn removes(&self, old: &Index, path: &BStr) -> bool {
        self.removal_at(old, path).is_some()
    }

    /// The removal of the file of the index `old` at `path`, if it is to be removed.
    pub(crate) fn removal_at(&self, old: &Index, path: &BStr) -> Option<&Remove> {
        let at = |remove: &Remove| old.path(&old.entries()[remove.row as usize]);
        let found = self.removals.binary_search_by(|it| at(it).cmp(path)).ok();
        found.map(|position| &self.removals[position])
    }
}

/// Joins the index and the changes, path by path.
pub(crate) fn transition(start: &Start<'_>) -> Result<Transition> {
    if let Some(same) = same_paths(start) {
        return Ok(same);
    }
    let mut join = Join::new(start, clashes(start));
    join.keep_what_is_staged_below()?;
    let entries = start.index.entries();
    let mut changes = start.changes.changes().iter().peekable();
    let mut row = 0;
    loop {
        let current = entries.get(row).map(|entry| start.index.path(entry));
        let changed = changes.peek().map(|change| start.changes.path(change));
        let (path, stages, change) = match (current, changed) {
            (None, None) => break,
            (Some(path), Some(changed)) if path == changed => {
                (path, stages(start.index, row), changes.next())
            }
            (Some(path), changed) if changed.is_none_or(|changed| path < changed) => {
                (path, stages(start.index, row), None)
            }
            (_, Some(changed)) => (changed, 0, changes.next()),
            (Some(path), None) => (path, stages(start.index, row), None),
        };
        join.visit(path, row..row + stages, change)?;
        row += stages;
    }
    Ok(join.finish())
}

/// The transition if the index already equals the new tree: it consists only of files that differ
/// from the index and are to be overwritten. No entry has to be moved.
fn same_paths(start: &Start<'_>) -> Option<Transition> {
    let incomplete = start.rules == Rules::OneWay { complete: false };
    let unchanged = incomplete && start.changes.changes().is_empty();
    if !unchanged || start.sparse || start.index.is_unmerged() {
        return None;
    }
    let mut out = Outputs::default();
    let mut index = start.index.successor();
    out.kept_from = (0..start.states.len() as u32).map(Some).collect();
    for (row, entry) in index.entries_mut().iter_mut().enumerate() {
        let state = start.states[row];
        if state != State::Clean && !entry.flags.skip_worktree {
            entry.stat = EntryStat::default();
            out.kept_from[row] = None;
            let row = row as u32;
            let (replaces, untracked) = (state.is_file(), is_unknown_place(state));
            out.writes.push(Write {
                row,
                replaces,
                untracked,
            });
        }
    }
    Some(out.with(index))
}

/// Whether anything in the place of an entry's file is untracked: the file itself is not there.
fn is_unknown_place(state: State) -> bool {
    matches!(state, State::Directory | State::Blocked | State::Absent)
}

/// Whether something is known to exist at the path of an entry.
fn is_present(state: State) -> bool {
    !matches!(state, State::Absent | State::Blocked | State::Unknown)
}

/// Number of entries with the path of the entry at `row`, counted from `row`.
fn stages(index: &Index, row: usize) -> usize {
    let path = index.path(&index.entries()[row]);
    index.entries()[row..]
        .iter()
        .take_while(|entry| index.path(entry) == path)
        .count()
}

#[derive(Default)]
struct Outputs {
    writes: Vec<Write>,
    removals: Vec<Remove>,
    must_be_absent: Vec<BString>,
    absent_links: Vec<(BString, ObjectId)>,
    became_directories: Vec<BString>,
    kept_from: Vec<Option<u32>>,
    left_despite_sparse: Vec<BString>,
    rejects: Rejects,
}

impl Outputs {
    fn with(self, index: Index) -> Transition {
        Transition {
            index,
            writes: self.writes,
            removals: self.removals,
            must_be_absent: self.must_be_absent,
            absent_links: self.absent_links,
            became_directories: self.became_directories,
            kept_from: self.kept_from,
            left_despite_sparse: self.left_despite_sparse,
            rejects: self.rejects,
        }
    }
}

/// A transition in the making: paths are to be visited in ascending order.
pub(crate) struct Join<'a> {
    start: &'a Start<'a>,
    clashes: BTreeMap<usize, Clash>,
    builder: Builder,
    out: Outputs,
    /// Files of the index that are directories now, refused because the new tree has a file in them.
    over_directories: Vec<BString>,
    /// Files of the new tree that the index does not get.
    given_up: BTreeSet<BString>,
}

impl<'a> Join<'a> {
    pub(crate) fn new(start: &'a Start<'a>, clashes: BTreeMap<usize, Clash>) -> Self {
        Join {
            start,
            clashes,
            builder: Builder::replacing(start.index),
            out: Outputs::default(),
            over_directories: Vec::new(),
            given_up: BTreeSet::new(),
        }
    }

    pub(crate) fn finish(mut self) -> Transition {
        let index = self.builder.finish_replacing(self.start.index);
        // If all files in it are refused, they alone are what prevents the move.
        let is_free = |path: &&BString| index.range_under(path.as_bstr()).is_empty();
        for path in self.over_directories.iter().filter(is_free) {
            let rejects = &mut self.out.rejects;
            rejects.forget(Reason::UntrackedOverwritten, path.as_bstr());
        }
        self.out.with(index)
    }
}

impl Join<'_> {
    /// Keeps what is staged below a path where the new tree has a file, which the index does not get then,
    /// if nothing is at that path. In a sparse checkout, whatever is there: git looks at the places of
    /// new files after all trees there, and by then the index has what was staged.
    fn keep_what_is_staged_below(&mut self) -> Result<()> {
        let (start, rules) = (self.start, self.start.rules);
        if !matches!(rules, Rules::TwoWay { .. }) || start.effect != Effect::Both {
            return Ok(());
        }
        let path = |row: usize| start.index.path(&start.index.entries()[row]);
        let is_in_a_tree = |row: usize| start.changes.find(path(row)).is_some();
        let is_below = |clash: &Clash| matches!(clash, Clash::BelowFile | Clash::BelowSubmodule);
        let clashes = self.clashes.iter();
        let staged = clashes.filter(|(row, clash)| is_below(clash) && !is_in_a_tree(**row));
        let staged: Vec<usize> = staged.map(|(row, _)| *row).collect();
        for row in staged {
            let is_new = |above: &&BStr| {
                let change = start.changes.find(above);
                change.is_some_and(|change| change.new.is_some())
            };
            let Some(above) = ancestors(path(row)).find(is_new) else {
                continue;
            };
            if start.sparse || self.given_up.contains(above) || (start.is_free)(above)? {
                self.clashes.remove(&row);
                self.given_up.insert(above.to_owned());
            }
        }
        Ok(())
    }

    fn visit(
        &mut self,
        path: &BStr,
        rows: std::ops::Range<usize>,
        change: Option<&Change>,
    ) -> Result<()> {
        let row = (!rows.is_empty()).then_some(rows.start);
        let before = (self.out.rejects.len(), self.out.became_directories.len());
        self.act(path, row, change)?;
        let after = (self.out.rejects.len(), self.out.became_directories.len());
        if before != after && self.is_late(row, change) {
            self.out.rejects.set_late(path);
        }
        Ok(())
    }

    /// Whether git comes to a path only after all paths of the trees. Where a tree has a directory,
    /// git looks at the file of the index together with it.
    fn is_late(&self, row: Option<usize>, change: Option<&Change>) -> bool {
        if self.is_above(row) {
            return false;
        }
        match self.start.rules {
            Rules::TwoWay { .. } | Rules::Given { .. } => change.is_none(),
            Rules::OneWay { complete } | Rules::Keeping { complete } => {
                change.map_or(complete, |change| change.new.is_none())
            }
        }
    }

    /// Whether the new tree has files below the file in this row.
    fn is_above(&self, row: Option<usize>) -> bool {
        row.is_some_and(|row| self.clashes.get(&row) == Some(&Clash::AboveFile))
    }

    fn act(&mut self, path: &BStr, row: Option<usize>, change: Option<&Change>) -> Result<()> {
        let action = self.action(row, change);
        if matches!(action, Action::Write(_)) && self.given_up.contains(path) {
            return Ok(());
        }
        self.perform(path, row, action)
    }

    /// Visits a path, with the first of its rows if the index has it. `is_late`: no tree has it.
    pub(crate) fn take(
        &mut self,
        path: &BStr,
        row: Option<usize>,
        action: Action,
        is_late: bool,
    ) -> Result<()> {
        let before = (self.out.rejects.len(), self.out.became_directories.len());
        self.perform(path, row, action)?;
        let after = (self.out.rejects.len(), self.out.became_directories.len());
        if before != after && is_late && !self.is_above(row) {
            self.out.rejects.set_late(path);
        }
        Ok(())
    }

    /// Visits a path that becomes one in conflict.
    pub(crate) fn leave_stages(
        &mut self,
        path: &BStr,
        row: Option<usize>,
        sides: [Option<Side>; 3],
    ) -> Result<()> {
        if let Some(row) = row {
            self.may_replace(row, path);
        }
        let stages = [Stage::Base, Stage::Ours, Stage::Theirs];
        for (stage, side) in stages.into_iter().zip(sides) {
            let Some(side) = side else { continue };
            let flags = Flags {
                stage,
                ..Flags::default()
            };
            let mode = Mode::from(side.kind);
            self.push(path, None, side.id, mode, EntryStat::default(), flags)?;
        }
        Ok(())
    }

    fn perform(&mut self, path: &BStr, row: Option<usize>, action: Action) -> Result<()> {
        let writes = self.start.effect == Effect::Both;
        match (action, row) {
            (Action::Keep, Some(row)) => match self.clashes.get(&row) {
                Some(clash) => self.give_way(row, path, *clash),
                None => self.keep(path, row)?,
            },
            (Action::Write(side), _) => self.write(path, row, side)?,
            (Action::Remove, Some(row)) => self.remove(path, row),
            (Action::StayAbsent(_), _) if !writes || self.forces() => {}
            (Action::StayAbsent(old), _) if old.kind == EntryKind::Gitlink => {
                self.out.absent_links.push((path.to_owned(), old.id));
            }
            (Action::StayAbsent(_), _) => self.out.must_be_absent.push(path.to_owned()),
            (Action::Reject(reason), _) => self.out.rejects.add(reason, path),
            (Action::Keep | Action::Remove | Action::Ignore, _) => {}
        }
        Ok(())
    }

    fn action(&self, row: Option<usize>, change: Option<&Change>) -> Action {
        let current = row.map_or(Current::Absent, |row| {
            current(&self.start.index.entries()[row])
        });
        let (old, new) = change.map_or((None, None), |change| (change.old, change.new));
        match self.start.rules {
            // Paths that are equal in both trees are not listed; to the rules they are equal sides.
            Rules::TwoWay { .. } if change.is_none() => match current {
                Current::Unmerged => Action::Reject(Reason::WouldOverwrite),
                _ => Action::Keep,
            },
            Rules::TwoWay { initial } => two_way(current, old, new, initial),
            Rules::Given { .. } => Action::Ignore,
            Rules::OneWay { complete } | Rules::Keeping { complete } => {
                let new = match (change, current) {
                    (None, Current::Merged(side)) if !complete => Some(side),
                    _ => new,
                };
                let dirty = self.forces()
                    && row.is_some_and(|row| {
                        let skipped = self.start.index.entries()[row].flags.skip_worktree;
                        !skipped && self.start.states[row] != State::Clean
                    });
                one_way(current, new, dirty)
            }
        }
    }

    fn keep(&mut self, path: &BStr, row: usize) -> Result<()> {
        let entry = self.start.index.entries()[row];
        let mut flags = entry.flags;
        if self.start.sparse {
            flags.skip_worktree = (self.start.is_excluded)(path);
        }
        let state = self.start.states[row];
        match (entry.flags.skip_worktree, flags.skip_worktree) {
            // It leaves the sparse checkout, but only if nothing is lost.
            (false, true) => match state {
                // Where there is no file, its directories go if they are empty.
                _ if matches!(state, State::Clean | State::Absent)
                    // Of a submodule, git takes the directory if it is empty.
                    || entry.mode == Mode::Gitlink && state != State::Blocked =>
                {
                    self.out.removals.push(removal(row, &entry));
                }
                _ => {
                    flags.skip_worktree = false;
                    self.out.left_despite_sparse.push(path.to_owned());
                }
            },
            // It enters the sparse checkout; a file that already exists stays as it is.
            (true, false) if state == State::Absent => {
                let write = Write {
                    row: self.row(),
                    replaces: false,
                    untracked: false,
                };
                self.out.writes.push(write);
            }
            _ => {}
        }
        self.push(path, Some(row), entry.id, entry.mode, entry.stat, flags)
    }

    fn write(&mut self, path: &BStr, row: Option<usize>, side: Side) -> Result<()> {
        let mode = Mode::from(side.kind);
        let old = row.map(|row| self.start.index.entries()[row]);
        let merged = old.filter(|entry| entry.flags.stage == Stage::Merged);
        if let (Some(row), Some(_)) = (row, merged) {
            let same = merged.is_some_and(|old| (old.id, old.mode) == (side.id, mode));
            if !same && !self.may_replace(row, path) {
                return Ok(());
            }
        }
        let mut flags = Flags::default();
        if let Some(old) = merged {
            flags.skip_worktree = old.flags.skip_worktree;
            // A file that is only rewritten keeps the flags of its entry.
            if (old.id, old.mode) == (side.id, mode) {
                flags = old.flags;
            }
        }
        // A file that was in conflict exists, and stays even outside the sparse checkout.
        let was_unmerged = old.is_some() && merged.is_none();
        if self.start.sparse {
            flags.skip_worktree = !was_unmerged && (self.start.is_excluded)(path);
        }
        let state = row.map(|row| self.start.states[row]);
        let was_directory = old.is_some_and(|entry| entry.mode == Mode::Gitlink);
        if self.start.sparse && flags.skip_worktree {
            // It leaves the sparse checkout. Files with changes were refused above.
            let may_go = state.is_some_and(|it| is_present(it) || it == State::Absent);
            if let (Some(row), Some(old)) = (row, merged) {
                // Where there is no file, its directories go if they are empty.
                if may_go && !old.flags.skip_worktree {
                    // It is removed as what it is to be.
                    self.out.removals.push(Remove {
                        row: row as u32,
                        directory: mode == Mode::Gitlink,
                    });
                }
            }
        } else if self.start.effect == Effect::Both {
            let is_module = was_directory && state == Some(State::Clean);
            let replaces = state.is_some_and(State::is_file) && !is_module;
            let untracked = is_module || state.is_none_or(is_unknown_place);
            self.out.writes.push(Write {
                row: self.row(),
                replaces,
                untracked,
            });
        }
        self.push(path, None, side.id, mode, EntryStat::default(), flags)
    }

    fn remove(&mut self, path: &BStr, row: usize) {
        let (state, rules) = (self.start.states[row], self.start.rules);
        let entry = self.start.index.entries()[row];
        let writes = self.start.effect == Effect::Both;
        if self.stays_outside(row, path) {
            // There is no file, but a switch takes the directories that held it if they are empty.
            let is_switch = matches!(rules, Rules::TwoWay { .. });
            if is_switch && writes && state == State::Absent {
                self.out.removals.push(removal(row, &entry));
            }
            return;
        }
        let is_outside = self.start.sparse && (self.start.is_excluded)(path);
        // A file of a conflict is nobody's work.
        let is_unmerged = entry.flags.stage != Stage::Merged;
        let clash = self.clashes.get(&row);
        let is_below_file = matches!(clash, Some(Clash::BelowFile | Clash::BelowSubmodule));
        if is_unmerged && is_below_file && !self.forces() && state != State::Absent {
            // It would go for a file in the place of its directory; that file could wait.
            self.out.rejects.add(Reason::NotUpToDate, path);
        } else if !writes {
            if !is_unmerged {
                self.may_replace(row, path);
            }
        } else if state == State::Directory && !rules.overwrite() {
            if rules.is_one_way() && is_outside {
                // Git does not look into it.
                self.out.rejects.add(Reason::NotUpToDate, path);
            } else {
                self.out.became_directories.push(path.to_owned());
            }
        } else if state == State::Directory && entry.mode != Mode::Gitlink {
            if self.may_replace(row, path) {
                // It goes if untracked files may be overwritten, or if there are none in it. Outside, it
                // stays.
                if !is_outside {
                    self.out.became_directories.push(path.to_owned());
                }
                self.out.removals.push(removal(row, &entry));
            }
        } else if is_unmerged || self.may_replace(row, path) {
            self.out.removals.push(removal(row, &entry));
        }
    }

    /// Handles an entry that neither tree has, in a place where the new tree needs a directory or a
    /// file.
    fn give_way(&mut self, row: usize, path: &BStr, clash: Clash) {
        let (entry, state) = (self.start.index.entries()[row], self.start.states[row]);
        let is_above = clash == Clash::AboveFile;
        let is_in_index_alone = matches!(state, State::Absent | State::Blocked);
        if self.start.effect != Effect::Both || is_in_index_alone {
            // What was staged would be nowhere. Git keeps it, and takes nothing from the tree.
            if !is_above {
                self.out.rejects.add(Reason::NotUpToDate, path);
            }
            return;
        }
        match (state, clash) {
            // Only in a sparse checkout, and in a reset to one of several trees, does git keep it, and
            // then it does not make the file.
            (State::Clean, Clash::BelowFile) if !self.start.sparse && !self.forces() => {
                self.out.removals.push(removal(row, &entry))
            }
            (_, Clash::BelowFile | Clash::BelowSubmodule) => {
                self.out.rejects.add(Reason::NotUpToDate, path)
            }
            // Where it is a file, each file below it is refused because of it (`obstacles`).
            (State::Directory, _) => {
                // Git overlooks it.
                self.over_directories.push(path.to_owned());
                self.out.rejects.set_late(path);
                self.out.rejects.add(Reason::UntrackedOverwritten, path);
            }
            _ if entry.mode == Mode::Gitlink => {
                self.out.rejects.add(Reason::UntrackedOverwritten, path);
            }
            (_, Clash::AboveFile) if self.forces() => {
                self.out.removals.push(removal(row, &entry));
            }
            (_, Clash::AboveFile) => {}
        }
    }

    /// Whether the entry's file may be overwritten or removed; if not, it is rejected.
    fn may_replace(&mut self, row: usize, path: &BStr) -> bool {
        let entry = &self.start.index.entries()[row];
        if self.start.effect == Effect::IndexOnly {
            return true;
        }
        let is_held = entry.flags.assume_valid || entry.flags.skip_worktree;
        // Force does not apply to files that the user told git to leave alone.
        if self.forces() && !is_held {
            return true;
        }
        if self.stays_outside(row, path) {
            return true;
        }
        let gitlink = entry.mode == Mode::Gitlink;
        match self.start.states[row] {
            State::Clean | State::Absent => true,
            // Git asks for the file below a file, too.
            state if gitlink && state != State::Blocked => true,
            _ => {
                self.out.rejects.add(Reason::NotUpToDate, path);
                false
            }
        }
    }

    /// Whether the entry is and stays outside the sparse checkout; its place is then not examined.
    fn stays_outside(&self, row: usize, path: &BStr) -> bool {
        let entry = &self.start.index.entries()[row];
        self.start.sparse && entry.flags.skip_worktree && (self.start.is_excluded)(path)
    }

    fn forces(&self) -> bool {
        self.start.rules.overwrite()
    }

    fn row(&self) -> u32 {
        self.out.kept_from.len() as u32
    }

    fn push(
        &mut self,
        path: &BStr,
        from: Option<usize>,
        id: gix_hash::ObjectId,
        mode: Mode,
        stat: EntryStat,
        flags: Flags,
    ) -> Result<()> {
        self.builder.push(path, id, mode, stat, flags)?;
        self.out.kept_from.push(from.map(|row| row as u32));
        Ok(())
    }
}

/// The removal of the file of an entry of the old index.
pub(super) fn removal(row: usize, entry: &Entry) -> Remove {
    Remove {
        row: row as u32,
        directory: entry.mode == Mode::Gitlink,
    }
}

pub(crate) fn current(entry: &Entry) -> Current {
    if entry.flags.stage != Stage::Merged {
        return Current::Unmerged;
    }
    Current::Merged(Side {
        kind: kind(entry.mode),
        id: entry.id,
    })
}

/// The mode of an index entry as a tree entry kind.
pub(crate) fn kind(mode: Mode) -> EntryKind {
    match mode {
        Mode::File => EntryKind::File,
        Mode::Executable => EntryKind::Executable,
        Mode::Symlink => EntryKind::Symlink,
        Mode::Gitlink => EntryKind::Gitlink,
        Mode::SparseDirectory => EntryKind::Directory,
    }
}

/// Why a row of the index cannot coexist with an addition of the new tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    /// It is below a path where the new tree has a file.
    BelowFile,
    /// It is below a path where the new tree has a submodule.
    BelowSubmodule,
    /// It is a file where the new tree has a directory.
    AboveFile,
}

fn clashes(start: &Start<'_>) -> BTreeMap<usize, Clash> {
    let changes = start.changes.changes().iter();
    let added = changes.filter_map(|change| Some((start.changes.path(change), change.new?.kind)));
    clashes_with(start.index, added)
}

/// The rows that cannot coexist with `added` paths, which are in ascending order, each with what the
/// new tree has there.
pub(crate) fn clashes_with<'a>(
    index: &Index,
    added: impl Iterator<Item = (&'a BStr, EntryKind)>,
) -> BTreeMap<usize, Clash> {
    let mut clashes = BTreeMap::new();
    if index.entries().is_empty() {
        return clashes;
    }
    let mut previous = BStr::new("");
    for (path, kind) in added {
        let clash = match kind {
            EntryKind::Gitlink => Clash::BelowSubmodule,
            _ => Clash::BelowFile,
        };
        let below = index.range_under(path);
        clashes.extend(below.map(|row| (row, clash)));
        let at = |above: &BStr| index.find(above, Stage::Merged).ok();
        let above = new_ancestors(previous, path).filter_map(at);
        clashes.extend(above.map(|row| (row, Clash::AboveFile)));
        previous = path;
    }
    clashes
}
