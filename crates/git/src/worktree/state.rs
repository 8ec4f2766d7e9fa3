//! The state of files of the working tree relative to their index entries.

use super::survey::{refuse_unanswered, survey, PathState, Unknown};
use super::Worktree;
use crate::index::{Entry, EntryStat, Index, Mode, StatRules};
use crate::monitor;
use crate::Result;
use hedgerow_engine::Options;
use hedgerow_fs::{Dir, FileKind, Stat, Timestamp};

/// The state of one index entry's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// It does not exist.
    Absent = 0,
    /// It does not exist, because an ancestor is not a directory.
    Blocked,
    /// It matches the index.
    Clean,
    /// Its content is unchanged, but conversion with the current attributes may give another
    /// result.
    Unchanged,
    /// Only reading it can tell: it may have changed within the clock tick in which the index was
    /// written.
    Suspect,
    /// Its stat data differ; only reading it can tell whether its content does. Where git does not
    /// read such a file, it counts as modified (`trust_stat`).
    Touched,
    /// It differs from the index.
    Modified,
    /// It is of another type; not a directory.
    TypeChanged,
    /// There is a directory instead.
    Directory,
    /// It was not examined, or could not be.
    Unknown,
}

impl State {
    const ALL: [State; 10] = [
        State::Absent,
        State::Blocked,
        State::Clean,
        State::Unchanged,
        State::Suspect,
        State::Touched,
        State::Modified,
        State::TypeChanged,
        State::Directory,
        State::Unknown,
    ];

    /// Converts a byte made by `as u8` back to a state.
    pub(crate) fn from_byte(byte: u8) -> State {
        State::ALL
            .get(usize::from(byte))
            .copied()
            .unwrap_or(State::Unknown)
    }

    /// Whether the file may have to be read to decide.
    pub(crate) fn may_be_read(self) -> bool {
        matches!(self, State::Unchanged | State::Suspect | State::Touched)
    }

    /// Whether something that is not a directory is at the path.
    pub(crate) fn is_file(self) -> bool {
        use State::*;
        !matches!(self, Absent | Blocked | Directory | Unknown)
    }
}

/// The repository settings that comparisons depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateRules {
    /// The stat fields to compare.
    pub stat: StatRules,
    /// `core.fileMode`.
    pub trust_mode: bool,
    /// `core.symlinks`; if it is off, links are written as files.
    pub symlinks: bool,
    /// When the index file was last written: files changed in that second or later may have changed
    /// since. If nanoseconds show that one has not, it is [`State::Unchanged`].
    pub index_mtime: Timestamp,
}

/// So many entries are looked at before it pays to ask what is as the image of a mounted working tree
/// has it: for that, the index of the image is read.
const WORTH_ASKING: usize = 1000;

/// What was found at the paths of an index.
pub(crate) struct Found {
    /// The state of each row.
    pub states: Vec<State>,
    /// Why states are unknown, ascending by row; of the stages of a path, the first.
    pub unknown: Unknown,
}

impl Found {
    /// For those who can do nothing without an answer.
    ///
    /// # Errors
    /// See [`refuse_unanswered`].
    pub(crate) fn answered(mut self) -> Result<Found> {
        refuse_unanswered(&mut self.unknown)?;
        Ok(self)
    }
}

/// The state of every entry of `index`, in index order.
pub(crate) fn states(worktree: &Worktree<'_>, index: &Index, rules: &StateRules) -> Result<Found> {
    states_of(worktree, index, rules, |_| true)
}

/// Like [`states`], but only for the rows selected by `is_asked`; the others are unknown.
pub(crate) fn states_of(
    worktree: &Worktree<'_>,
    index: &Index,
    rules: &StateRules,
    is_asked: impl Fn(usize) -> bool,
) -> Result<Found> {
    let asked = (0..index.entries().len()).filter(|row| is_asked(*row));
    let as_in_image = files_as_in_image(worktree, index, asked.count());
    let is_known = |row: usize| as_in_image.get(row) == Some(&true);
    let is_looked_at = |row: usize| is_asked(row) && !is_known(row);
    let mut found = states_at(
        &worktree.root,
        index,
        rules,
        is_looked_at,
        &worktree.engine(),
    )?;
    for (row, state) in found.states.iter_mut().enumerate() {
        if is_known(row) && is_asked(row) {
            *state = State::Clean;
        }
    }
    Ok(found)
}

/// For each entry of `index` whether its file is known to be unchanged because the image of a mounted
/// working tree has it; empty if of none, or if `asked`, the number of files in question, is small.
pub(crate) fn files_as_in_image(worktree: &Worktree<'_>, index: &Index, asked: usize) -> Vec<bool> {
    let is_worth_it = asked >= WORTH_ASKING && worktree.is_own();
    let known = is_worth_it.then(|| monitor::as_in_image(worktree.repository, index));
    known.flatten().map_or(Vec::new(), |known| known.entries)
}

/// The state below `root` of the entries selected by `is_asked`. The stages of a path share its state,
/// so it is statted once.
pub(crate) fn states_at(
    root: &Dir,
    index: &Index,
    rules: &StateRules,
    is_asked: impl Fn(usize) -> bool,
    options: &Options,
) -> Result<Found> {
    let entries = index.entries();
    let path_of = |row: usize| index.path(&entries[row]);
    let mut firsts: Vec<usize> = (0..entries.len()).filter(|row| is_asked(*row)).collect();
    // Every entry is looked at to tell.
    let is_unmerged = index.is_unmerged();
    if is_unmerged {
        firsts.dedup_by_key(|row| path_of(*row));
    }
    let judge = |at: usize, found: PathState<'_>| match found {
        PathState::Absent => State::Absent as u8,
        PathState::Blocked => State::Blocked as u8,
        PathState::Unknown => State::Unknown as u8,
        PathState::Present(stat) => state(&entries[firsts[at]], stat, rules) as u8,
    };
    let path = |at: usize| path_of(firsts[at]).as_ref();
    let surveyed = survey(root, firsts.len(), path, judge, options)?;
    let mut states = vec![State::Unknown; entries.len()];
    for (first, verdict) in firsts.iter().zip(surveyed.verdicts) {
        states[*first] = State::from_byte(verdict);
        let mut row = first + 1;
        while is_unmerged && row < entries.len() && path_of(row) == path_of(*first) {
            states[row] = states[*first];
            row += 1;
        }
    }
    let unknown = surveyed.unknown.into_iter();
    Ok(Found {
        states,
        unknown: unknown.map(|(at, error)| (firsts[at], error)).collect(),
    })
}

/// The state of an entry whose file was found with this `stat`.
pub(crate) fn state(entry: &Entry, stat: &Stat, rules: &StateRules) -> State {
    match (entry.mode, stat.kind) {
        (Mode::Gitlink | Mode::SparseDirectory, FileKind::Directory) => State::Clean,
        (_, FileKind::Directory) => State::Directory,
        (Mode::File | Mode::Executable, FileKind::File) => {
            let executable = entry.mode == Mode::Executable;
            if rules.trust_mode && stat.is_executable() != executable {
                return State::Modified;
            }
            content_state(entry, stat, rules)
        }
        (Mode::Symlink, FileKind::Symlink) => content_state(entry, stat, rules),
        (Mode::Symlink, FileKind::File) if !rules.symlinks => content_state(entry, stat, rules),
        _ => State::TypeChanged,
    }
}

fn content_state(entry: &Entry, stat: &Stat, rules: &StateRules) -> State {
    let now = EntryStat::from(stat);
    if entry.matches(&now, &rules.stat) {
        let [by_seconds, precise] = [false, true].map(|nanoseconds| StatRules {
            nanoseconds,
            ..rules.stat
        });
        let is_racy = |rules_of_stat| entry.stat.is_racy(rules.index_mtime, rules_of_stat);
        let is_proven = !is_racy(&precise) && entry.matches(&now, &precise);
        return match is_racy(&by_seconds) {
            false => State::Clean,
            true if is_proven => State::Unchanged,
            true => State::Suspect,
        };
    }
    let by_seconds = StatRules {
        nanoseconds: false,
        ..rules.stat
    };
    if entry.stat.size != now.size && entry.stat.size != 0 {
        State::Modified
    } else if entry.matches(&now, &by_seconds) {
        // Git does not see the difference.
        State::Suspect
    } else {
        State::Touched
    }
}
