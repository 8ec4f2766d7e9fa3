//! Lookup of tracked paths where case is ignored: git-config(1) under `core.ignoreCase`.

use crate::index::{Index, Mode};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;

/// The paths of an index in lower case.
#[derive(Debug)]
pub(crate) struct FoldedPaths {
    files: HashSet<BString>,
    submodules: HashSet<BString>,
    /// The directories above them.
    directories: HashSet<BString>,
}

impl FoldedPaths {
    pub(crate) fn of(index: &Index) -> Self {
        let mut folded = FoldedPaths {
            files: HashSet::new(),
            submodules: HashSet::new(),
            directories: HashSet::new(),
        };
        for entry in index.entries() {
            let path = lower(index.path(entry));
            let slashes: Vec<usize> = path.rfind_iter("/").collect();
            for at in slashes {
                // If a directory is known, those above it are, too.
                if !folded.directories.insert(path[..at].into()) {
                    break;
                }
            }
            match entry.mode {
                Mode::Gitlink => folded.submodules.insert(path),
                _ => folded.files.insert(path),
            };
        }
        folded
    }

    /// Whether the entry `path` of the working tree, a directory or not, is tracked.
    pub(crate) fn is_tracked(&self, path: &BStr, is_directory: bool) -> bool {
        let path = lower(path);
        self.submodules.contains(&path) || !is_directory && self.files.contains(&path)
    }

    /// Whether something in the directory `path` is tracked.
    pub(crate) fn has_directory(&self, path: &BStr) -> bool {
        self.directories.contains(&lower(path))
    }
}

fn lower(path: &BStr) -> BString {
    path.to_ascii_lowercase().into()
}
