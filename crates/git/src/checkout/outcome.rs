use super::rejects::Rejects;
use super::transition::Transition;
use crate::index::{Entry, Mode};
use crate::tree::Difference;
use crate::worktree::state::State;
use bstr::{BStr, BString};
use hedgerow_engine::Report;

/// How a checkout ended.
#[derive(Debug)]
pub enum Outcome {
    /// Done, apart from the failures it lists.
    Done(Done),
    /// Files could not be written, and index and references stay where they were, as the move asks.
    Incomplete(Done),
    /// Something would be lost; nothing was touched.
    Rejected(Rejects),
    /// These paths are unmerged in the index; nothing was touched.
    Unmerged(Vec<BString>),
}

/// Result of a checkout that was done.
#[derive(Debug, Default)]
pub struct Done {
    /// Files, links and submodule directories written.
    pub written: u64,
    /// How many of them are conflicts that were made again.
    pub recreated: u64,
    /// Total size of their content, in bytes.
    pub bytes: u64,
    /// Files removed.
    pub removed: u64,
    /// Entries that could not be written or removed; the others were.
    pub failures: Vec<Failure>,
    /// How many of them are files that are missing now, or submodules that were not moved; git only warns of
    /// those it cannot remove.
    pub unwritten: u64,
    /// What became of submodules, in git's words.
    pub said: Vec<String>,
    /// Warnings that did not prevent anything.
    pub warnings: Vec<String>,
    /// Requested paths that are unmerged and were left out.
    pub left_out: Vec<BString>,
    /// What git reports as an error but does not count as a failure: files that could not be
    /// converted, and were written unconverted; changed files that stay outside a sparse checkout.
    pub remarks: Vec<String>,
    /// Paths of which only one can exist on this file system, because it ignores case.
    pub collided: Vec<BString>,
    /// The local changes that were carried over; filled only if requested.
    pub local_changes: Vec<LocalChange>,
    /// The exit status of the post-checkout hook after a checkout of paths, if it failed.
    pub hook_failure: Option<hedgerow_fs::Exit>,
    /// Largest number of workers active at the same time.
    pub workers: usize,
}

impl Done {
    /// The error that ends the command, with the failures before it.
    pub(crate) fn ended_by(&self, error: crate::Error) -> crate::Error {
        if self.failures.is_empty() {
            return error;
        }
        let failures = self.failures.iter();
        crate::Error::AfterFailures {
            failures: failures.map(|failure| failure.reason.clone()).collect(),
            error: Box::new(error),
        }
    }

    pub(crate) fn note(&mut self, report: &Report) {
        self.workers = self.workers.max(report.workers_peak);
    }
}

/// An entry that could not be written or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its path in the tree.
    pub path: BString,
    /// The reason, as a sentence that names the path.
    pub reason: String,
}

/// A path that differs from the commit that was checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalChange {
    /// `A`, `D`, `M`, `T` or `U`, as in `git diff --name-status`.
    pub status: char,
    /// The path.
    pub path: BString,
}

/// Compares the files and the index with the tree that was checked out. `staged` lists that whole
/// tree; it is `None` if the index equals it.
pub(crate) fn local_changes(
    next: &Transition,
    states: &[State],
    staged: Option<&Difference>,
) -> Vec<LocalChange> {
    let mut changes = Vec::new();
    let mut tree = staged.map(|tree| tree.changes().iter().peekable());
    let path_in_tree = |change| staged.map(|tree| tree.path(change));
    for (row, entry) in next.index.entries().iter().enumerate() {
        let path = next.index.path(entry);
        let mut in_tree = Some((entry.mode, entry.id));
        if let Some(tree) = &mut tree {
            while let Some(change) = tree.next_if(|change| path_in_tree(change) < Some(path)) {
                push(&mut changes, 'D', path_in_tree(change));
            }
            let same = tree.next_if(|change| path_in_tree(change) == Some(path));
            let side = same.and_then(|change| change.new);
            in_tree = side.map(|side| (Mode::from(side.kind), side.id));
        }
        let state = next.kept_from[row].map_or(State::Clean, |from| states[from as usize]);
        let status = status(entry, in_tree, state);
        push(&mut changes, status.unwrap_or(' '), status.map(|_| path));
    }
    for change in tree.into_iter().flatten() {
        push(&mut changes, 'D', path_in_tree(change));
    }
    changes
}

fn push(changes: &mut Vec<LocalChange>, status: char, path: Option<&BStr>) {
    changes.extend(path.map(|path| LocalChange {
        status,
        path: path.to_owned(),
    }));
}

fn status(
    entry: &Entry,
    in_tree: Option<(Mode, gix_hash::ObjectId)>,
    state: State,
) -> Option<char> {
    // The index decides for such an entry; its file is not looked at.
    let is_held = entry.flags.skip_worktree || entry.flags.assume_valid;
    let state = if is_held { State::Clean } else { state };
    let gone = matches!(state, State::Absent | State::Blocked | State::Directory);
    let Some((mode, id)) = in_tree else {
        return (!gone).then_some('A');
    };
    let links = |mode| matches!(mode, Mode::Symlink | Mode::Gitlink);
    let is_of_another_type = links(mode) != links(entry.mode);
    match state {
        _ if gone => Some('D'),
        // The index has a link where the working tree has a file again.
        State::TypeChanged if is_of_another_type => Some('M'),
        State::TypeChanged => Some('T'),
        _ if is_of_another_type => Some('T'),
        State::Modified | State::Suspect | State::Touched => Some('M'),
        _ if (mode, id) != (entry.mode, entry.id) => Some('M'),
        _ => None,
    }
}
