//! The index against the working tree: what was found at each row becomes a change.

use super::model::{ChangeKind, SubmoduleState};
use super::scan::Scanned;
use crate::index::{Entry, Index, Mode, Stage};
use crate::worktree::state::{State, StateRules};
use std::collections::HashMap;

/// A row of the index whose file is not what the index says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnstagedChange {
    /// The row; of several stages, the first.
    pub row: u32,
    /// Added, deleted, modified or of another type; `None` for a path in conflict.
    pub kind: Option<ChangeKind>,
    /// What is there now.
    pub worktree: Option<Mode>,
    pub submodule: Option<SubmoduleState>,
}

/// The changes of all rows, ascending. `submodules` are the rows of those that differ; `is_link`
/// says whether the directory at a row's path is the top of a repository that has commits.
pub(super) fn unstaged(
    index: &Index,
    scanned: &Scanned,
    rules: &StateRules,
    submodules: &HashMap<u32, SubmoduleState>,
    is_link: impl Fn(&Entry) -> bool,
) -> Vec<UnstagedChange> {
    let mut changes = Vec::new();
    let mut modes = scanned.modes.iter().peekable();
    let mut before: Option<&Entry> = None;
    for (row, entry) in index.entries().iter().enumerate() {
        let (row, state) = (row as u32, scanned.states[row]);
        let is_first = before.is_none_or(|before| index.path(before) != index.path(entry));
        before = Some(entry);
        while modes.next_if(|(at, _)| *at < row).is_some() {}
        let mode = modes
            .peek()
            .filter(|(at, _)| *at == row)
            .map(|(_, mode)| *mode);
        if !is_first || state == State::Unknown {
            continue;
        }
        let worktree = match state {
            State::Absent | State::Blocked => None,
            State::Directory if is_link(entry) => Some(Mode::Gitlink),
            State::Directory => None,
            State::Clean => Some(entry.mode),
            _ => mode.and_then(|mode| recorded(mode, entry.mode, rules)),
        };
        let submodule = submodules.get(&row).copied();
        let kind = match entry.flags.stage {
            Stage::Merged => kind(entry, state, worktree, submodule.is_some()),
            _ => None,
        };
        if kind.is_some() || entry.flags.stage != Stage::Merged {
            changes.push(UnstagedChange {
                row,
                kind,
                worktree,
                submodule,
            });
        }
    }
    changes
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
    match type_of(worktree) == type_of(entry.mode) {
        true => Some(ChangeKind::Modified),
        false => Some(ChangeKind::TypeChanged),
    }
}

fn type_of(mode: Mode) -> u32 {
    mode.to_u32() & 0o170000
}

/// The mode that git would record for a file of `st_mode`, in the place of an entry of `old`.
/// What is neither a file nor a link counts as a file.
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
