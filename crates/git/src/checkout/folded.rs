//! Tracked files that a name in another case leads to, on a file system that ignores case.

use super::transition::Transition;
use crate::index::{Index, Mode, Stage};
use crate::worktree::state::State;
use bstr::{BStr, BString};
use hedgerow_fs::{Dir, Stat};
use hedgerow_tree::split_path;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The files of an index by their names in lower case (git-config(1), `core.ignoreCase`).
pub(super) struct FoldedFiles<'a> {
    root: &'a Dir,
    index: &'a Index,
    states: &'a [State],
    ignores_case: bool,
    /// Made when the first is looked for.
    rows: OnceLock<HashMap<BString, Vec<usize>>>,
}

impl<'a> FoldedFiles<'a> {
    /// `states` has the state of each file of `index` below `root`. If case is not ignored, none is
    /// found.
    pub(super) fn new(
        root: &'a Dir,
        (index, states): (&'a Index, &'a [State]),
        ignores_case: bool,
    ) -> Self {
        FoldedFiles {
            root,
            index,
            states,
            ignores_case,
            rows: OnceLock::new(),
        }
    }

    /// Whether the file at `path` belongs to an entry whose name differs in case, and has the content of
    /// that entry, so that nothing is lost with it.
    pub(super) fn is_unchanged(&self, path: &BStr) -> bool {
        self.is_file_of(path, &|row| {
            let flags = self.index.entries()[row].flags;
            let is_examined = !flags.assume_valid && !flags.skip_worktree;
            is_examined && self.states[row] == State::Clean
        })
    }

    /// Whether the file at `path` belongs to an entry whose name differs in case, and `transition` removes
    /// it.
    pub(super) fn is_removed(&self, path: &BStr, transition: &Transition) -> bool {
        self.is_file_of(path, &|row| transition.removes(self.index, self.path(row)))
    }

    /// Whether the file at `path` belongs to an entry whose name differs in case, and `is_meant` says
    /// yes to its row. If the file system does tell cases apart, those are different files.
    fn is_file_of(&self, path: &BStr, is_meant: &dyn Fn(usize) -> bool) -> bool {
        if !self.ignores_case {
            return false;
        }
        let rows = self.rows.get_or_init(|| by_lower_case(self.index));
        let rows = rows.get(&lower(path)).map_or(&[][..], Vec::as_slice);
        let mut meant = rows.iter().filter(|row| is_meant(**row)).peekable();
        if meant.peek().is_none() {
            return false;
        }
        let same = self.stat(path);
        same.is_some() && meant.any(|row| self.stat(self.path(*row)) == same)
    }

    /// Device and inode.
    fn stat(&self, path: &BStr) -> Option<(u64, u64)> {
        let (parent, name) = split_path(path);
        let found = self.root.open_dir(parent).and_then(|at| at.stat(name));
        found.ok().map(|stat: Stat| (stat.dev, stat.ino))
    }

    fn path(&self, row: usize) -> &'a BStr {
        self.index.path(&self.index.entries()[row])
    }
}

fn by_lower_case(index: &Index) -> HashMap<BString, Vec<usize>> {
    let mut rows: HashMap<BString, Vec<usize>> = HashMap::new();
    for (row, entry) in index.entries().iter().enumerate() {
        if entry.flags.stage == Stage::Merged && entry.mode != Mode::Gitlink {
            rows.entry(lower(index.path(entry))).or_default().push(row);
        }
    }
    rows
}

fn lower(path: &BStr) -> BString {
    path.to_ascii_lowercase().into()
}
