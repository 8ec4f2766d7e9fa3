//! The index against the working tree: turns the state found for each row into a change.

use super::model::{ChangeKind, SubmoduleState};
use super::scan::Scanned;
use crate::index::{Entry, Index, Mode, Stage};
use crate::worktree::state::{State, StateRules};
use std::collections::HashMap;

/// A row of the index whose file differs from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnstagedChange {
    /// The row; if there are several stages, the first.
    pub row: u32,
    /// The row that the file is compared with: if there are several stages, that of one side, if any.
    pub compared: u32,
    /// Added, deleted, modified or of another type; `None` for a path in conflict that this side
    /// does not have, or for a submodule there that equals this side's.
    pub kind: Option<ChangeKind>,
    /// The file's mode now.
    pub worktree: Option<Mode>,
    pub submodule: Option<SubmoduleState>,
}

/// The changes of all rows, ascending. Files in conflict are compared with `side`. `submodules` are
/// the rows of the submodules that differ; `is_link` tells whether the directory at a row's path is
/// the top of a repository that has commits.
pub(super) fn unstaged(
    index: &Index,
    scanned: &Scanned,
    rules: &StateRules,
    submodules: &HashMap<u32, SubmoduleState>,
    side: Stage,
    is_link: impl Fn(&Entry) -> bool,
) -> Vec<UnstagedChange> {
    let entries = index.entries();
    let mut changes = Vec::new();
    let mut modes = scanned.modes.iter().peekable();
    for (row, compared) in compared_rows(index, side) {
        let state = scanned.states[row as usize];
        while modes.next_if(|(at, _)| *at < row).is_some() {}
        let mode = modes.peek().filter(|(at, _)| *at == row);
        let found = ScannedState {
            state,
            mode: mode.map(|(_, mode)| *mode),
        };
        if state == State::Unknown {
            continue;
        }
        let (first, entry) = (&entries[row as usize], &entries[compared as usize]);
        let mut worktree = found.recorded(entry, rules, &is_link);
        let mut submodule = submodules.get(&row).copied();
        let kind = match entry.flags.stage {
            Stage::Merged => kind(entry, state, worktree, submodule.is_some()),
            stage if stage == side => kind_of_side(entry, worktree, submodule.is_some()),
            _ => None,
        };
        if kind == Some(ChangeKind::TypeChanged) && worktree == Some(Mode::Gitlink) {
            // There was no submodule before, so any commit is a new one.
            submodule.get_or_insert_default().new_commits = true;
        }
        let is_conflict = first.flags.stage != Stage::Merged;
        if is_conflict && matches!(kind, None | Some(ChangeKind::Deleted)) {
            worktree = found.recorded(first, rules, &is_link);
        }
        if kind.is_some() || is_conflict {
            changes.push(UnstagedChange {
                row,
                compared,
                kind,
                worktree,
                submodule,
            });
        }
    }
    changes
}

/// The first row of each path, and the row that its file is compared with: if there are several
/// stages, that of `side`, or the first if there is none.
pub(super) fn compared_rows(index: &Index, side: Stage) -> impl Iterator<Item = (u32, u32)> + '_ {
    let entries = index.entries();
    let mut row = 0;
    std::iter::from_fn(move || {
        let first = entries.get(row)?;
        let start = row;
        row += 1;
        if first.flags.stage == Stage::Merged {
            return Some((start as u32, start as u32));
        }
        let is_same = |entry: &&Entry| index.path(entry) == index.path(first);
        row += entries[row..].iter().take_while(is_same).count();
        let mut stages = start..row;
        let found = stages.find(|stage| entries[*stage].flags.stage == side);
        Some((start as u32, found.unwrap_or(start) as u32))
    })
}

/// What the scan found at a path.
struct ScannedState {
    state: State,
    /// `st_mode`, unless the file is clean.
    mode: Option<u32>,
}

impl ScannedState {
    /// The mode that git would record for it in place of `entry`.
    fn recorded(
        &self,
        entry: &Entry,
        rules: &StateRules,
        is_link: impl Fn(&Entry) -> bool,
    ) -> Option<Mode> {
        match self.state {
            State::Absent | State::Blocked => None,
            State::Directory if entry.mode == Mode::Gitlink || is_link(entry) => {
                Some(Mode::Gitlink)
            }
            State::Directory => None,
            State::Clean => Some(entry.mode),
            _ => self.mode.and_then(|mode| recorded(mode, entry.mode, rules)),
        }
    }
}

fn kind(
    entry: &Entry,
    state: State,
    worktree: Option<Mode>,
    differs_inside: bool,
) -> Option<ChangeKind> {
    let flags = entry.flags;
    if flags.assume_valid || flags.skip_worktree {
        return None;
    }
    let Some(worktree) = worktree else {
        return Some(ChangeKind::Deleted);
    };
    if flags.intent_to_add {
        return Some(ChangeKind::Added);
    }
    if state == State::Clean {
        return differs_inside.then_some(ChangeKind::Modified);
    }
    Some(ChangeKind::between(Some(entry.mode), Some(worktree)))
}

/// How the file of a path in conflict differs from one side. Stages have no stat data, so git
/// reports files as modified without reading them.
fn kind_of_side(entry: &Entry, worktree: Option<Mode>, differs_inside: bool) -> Option<ChangeKind> {
    match worktree {
        None => Some(ChangeKind::Deleted),
        Some(Mode::Gitlink) if entry.mode == Mode::Gitlink => {
            differs_inside.then_some(ChangeKind::Modified)
        }
        Some(worktree) => Some(ChangeKind::between(Some(entry.mode), Some(worktree))),
    }
}

/// The mode that git would record for a file of `st_mode` in place of an entry of mode `old`.
/// Anything that is neither a directory nor a link counts as a file.
fn recorded(st_mode: u32, old: Mode, rules: &StateRules) -> Option<Mode> {
    let mode = match st_mode & 0o170000 {
        0o120000 => return Some(Mode::Symlink),
        0o040000 => return Some(Mode::Gitlink),
        _ if st_mode & 0o100 != 0 => Mode::Executable,
        _ => Mode::File,
    };
    let is_regular = st_mode & 0o170000 == 0o100000;
    Some(match old {
        _ if !is_regular => mode,
        Mode::Symlink if !rules.symlinks => Mode::Symlink,
        Mode::File | Mode::Executable if !rules.trust_mode => old,
        _ if !rules.trust_mode => Mode::File,
        _ => mode,
    })
}
