use crate::index::{Entry, Index, Mode};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use std::path::PathBuf;

/// The options of a listing. Without a kind of paths, the entries of the index are listed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The entries of the index.
    pub cached: bool,
    /// Those whose files are gone.
    pub deleted: bool,
    /// Those whose files differ.
    pub modified: bool,
    /// Untracked paths.
    pub others: bool,
    /// Untracked paths in the way of tracked ones.
    pub killed: bool,
    /// The entries of the index, for a list that shows their objects.
    pub stage: bool,
    /// Only entries in conflict.
    pub unmerged: bool,
    /// The sides of resolved conflicts.
    pub resolve_undo: bool,
    /// Only what the patterns ignore.
    pub ignored: bool,
    /// A directory without tracked files is one path.
    pub directory: bool,
    /// It is not listed if it is empty.
    pub no_empty_directory: bool,
    /// Paths are listed once.
    pub deduplicate: bool,
    /// The monitor of the file system is asked which files it vouches for.
    pub asks_monitor: bool,
    /// Directories of a sparse index are listed in place of their files.
    pub sparse: bool,
    /// Pathspecs that match nothing are told.
    pub error_unmatch: bool,
    /// Patterns of ignored paths.
    pub excludes: Vec<BString>,
    /// Files with such patterns, by their paths from the top of the working tree.
    pub exclude_from: Vec<PathBuf>,
    /// The name of the files in directories that have such patterns.
    pub exclude_per_directory: Option<BString>,
    /// Git's standard patterns of ignored paths.
    pub exclude_standard: bool,
    /// Only paths that match these pathspecs, relative to the user's current directory; all paths
    /// in that directory if empty.
    pub pathspecs: Vec<BString>,
    /// How to run.
    pub execution: Execution,
}

/// The result of a listing.
#[derive(Debug, Default)]
pub struct Listed {
    /// What could not be examined, in git's words.
    pub warnings: Vec<String>,
    /// Failed system calls: the files count as gone.
    pub failures: Vec<String>,
    /// The sides of resolved conflicts, after everything else.
    pub undone: Vec<Undone>,
    /// The pathspecs that match nothing, as given.
    pub unmatched: Vec<BString>,
    pub(super) index: Option<Index>,
    pub(super) rows: Vec<Row>,
}

/// A listed path, compact.
#[derive(Debug)]
pub(super) enum Row {
    Other(BString),
    Killed(BString),
    Entry(u32, Reason),
}

/// A listed path.
#[derive(Clone, Copy, Debug)]
pub struct Line<'l> {
    /// The path from the top of the working tree; an untracked directory has a slash at its end.
    pub path: &'l BStr,
    /// Why it is listed.
    pub reason: Reason,
    /// Its entry in the index, if it has one.
    pub entry: Option<&'l Entry>,
}

/// Why a path is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is in the index.
    Cached,
    /// Its file is gone.
    Deleted,
    /// Its file differs.
    Modified,
    /// It is not tracked.
    Other,
    /// It is in the way of a tracked path.
    Killed,
}

/// A side of a conflict that was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Its path.
    pub path: BString,
    /// Its mode, as in an index.
    pub mode: u32,
    /// Its object.
    pub id: ObjectId,
    /// Its stage.
    pub stage: u8,
}

impl Reason {
    /// The word for it in JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Reason::Cached => "cached",
            Reason::Deleted => "deleted",
            Reason::Modified => "modified",
            Reason::Other => "untracked",
            Reason::Killed => "killed",
        }
    }
}

impl Listed {
    /// The listed paths, in git's order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let line = |row| match row {
            &Row::Entry(number, reason) => {
                let index = self.index.as_ref()?;
                let entry = index.entries().get(number as usize)?;
                Some(Line {
                    path: index.path(entry),
                    reason,
                    entry: Some(entry),
                })
            }
            Row::Other(path) => Some(Line::of(path, Reason::Other)),
            Row::Killed(path) => Some(Line::of(path, Reason::Killed)),
        };
        self.rows.iter().filter_map(line)
    }
}

impl<'l> Line<'l> {
    fn of(path: &'l BString, reason: Reason) -> Self {
        Line {
            path: path.as_bstr(),
            reason,
            entry: None,
        }
    }

    /// The mode of its entry.
    pub fn mode(&self) -> Option<Mode> {
        self.entry.map(|entry| entry.mode)
    }
}
