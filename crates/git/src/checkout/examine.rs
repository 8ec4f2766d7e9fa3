//! Looking at the files of an index: their states before a move, and what the index after it has to remember.

use super::obstacles::first_blocking;
use super::paths::clashing;
use super::session::Session;
use super::transition::Transition;
use super::update::Way;
use crate::index::{Entry, Index, Stage};
use crate::worktree::compare::Refreshed;
use crate::worktree::state::{states_of, Found, State};
use crate::worktree::OldIndex;
use crate::Result;
use bstr::BStr;
use hedgerow_fs::{FileKind, Timestamp};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What was found of the files of an index.
#[derive(Default)]
pub(super) struct Examined {
    /// The state of each row.
    pub states: Vec<State>,
    /// The files that were read and found unchanged.
    pub refreshed: Vec<Refreshed>,
    /// Why files could not be examined; their states are unknown.
    pub unanswered: Vec<hedgerow_fs::Error>,
}

/// Looks at every file of the index. One that gives no answer counts as changed, as with git: it is in
/// nobody's way unless it is to be overwritten.
pub(super) fn examine(session: &Session<'_>, way: Way, old: &OldIndex) -> Result<Examined> {
    examine_of(session, way, old, |_| true)
}

/// The same for the files of the rows selected by `is_asked`; the states of others are unknown.
pub(super) fn examine_of(
    session: &Session<'_>,
    way: Way,
    old: &OldIndex,
    is_asked: impl Fn(usize) -> bool,
) -> Result<Examined> {
    if session.trusts_index {
        return Ok(Examined {
            states: trusted_states(&old.index),
            ..Examined::default()
        });
    }
    let mut rules = session.rules(old);
    // Git compares whole seconds, and refreshes the index only before a switch: elsewhere other
    // stat data are a change, whatever the file holds.
    rules.stat.nanoseconds &= matches!(way, Way::Switch | Way::Overwrite);
    let Found {
        mut states,
        unknown,
    } = states_of(session, &old.index, &rules, is_asked)?;
    trust_stat(&mut states, &old.index, |entry| {
        let flags = entry.flags;
        // What is only to be added later is a change, whatever the file holds.
        way != Way::Switch || flags.assume_valid || flags.skip_worktree || flags.intent_to_add
    });
    if session.keeps_assumed {
        let rows = states.iter_mut().zip(old.index.entries());
        for (state, entry) in rows {
            if entry.flags.assume_valid && !entry.flags.skip_worktree {
                *state = State::Clean;
            }
        }
    }
    let settled = session.settle(&mut states, &old.index, None)?;
    forget_behind_links(session, &mut states, &old.index)?;
    let mut unanswered = settled.unanswered;
    unanswered.extend(unknown.into_iter().map(|(_, error)| error));
    Ok(Examined {
        states,
        refreshed: settled.clean,
        unanswered,
    })
}

/// The rows whose files a move has to look at that changes the entries at `changed` alone: theirs, those that
/// cannot coexist with them, and those of which more must be known than whether they match.
pub(super) fn concerned<'p>(
    session: &Session<'_>,
    old: &OldIndex,
    changed: impl Iterator<Item = &'p BStr> + Clone,
) -> Vec<bool> {
    let index = &old.index;
    // A name in another case may lead to any file.
    let is_any = session.keeps_assumed || session.settings().ignore_case;
    let is_special = |(row, entry): (usize, &Entry)| {
        let flags = entry.flags;
        let is_held = flags.assume_valid || flags.skip_worktree || flags.intent_to_add;
        let is_file = entry.mode.is_file() && flags.stage == Stage::Merged;
        // The index is written, and racy files that changed must not look old then.
        is_any || is_held || !is_file || index.is_racy(row, old.mtime)
    };
    let rows = index.entries().iter().enumerate();
    let mut concerned: Vec<bool> = rows.map(is_special).collect();
    for path in changed.clone() {
        let (Ok(first) | Err(first)) = index.find(path, Stage::Merged);
        let entries = index.entries()[first..].iter();
        let stages = entries
            .take_while(|entry| index.path(entry) == path)
            .count();
        concerned[first..first + stages].fill(true);
    }
    for row in clashing(index, changed) {
        concerned[row] = true;
    }
    concerned
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

/// Marks racy files that were read and found changed, or could not be read. The new index file's timestamp
/// makes them look old, so they would never be read again.
pub(crate) fn smudge_racy(next: &mut Transition, old: &OldIndex, states: &[State]) {
    let kept_from = &next.kept_from;
    let is_modified =
        |row: usize| kept_from[row].is_some_and(|from| may_differ(states[from as usize]));
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
    let mut states = states_of(session, index, &rules, |row| racy[row])?.states;
    session.settle(&mut states, index, None)?;
    index.smudge_racily_clean(old_mtime, |row| racy[row] && may_differ(states[row]));
    Ok(())
}

/// Whether a file that was examined may differ from its entry although their stat data match: it does,
/// or could not be read.
pub(crate) fn may_differ(state: State) -> bool {
    matches!(state, State::Modified | State::Unknown) || state.may_be_read()
}
