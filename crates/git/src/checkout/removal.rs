use super::outcome::Failure;
use super::transition::Remove;
use crate::index::Index;
use bstr::{BStr, BString};
use hedgerow_writer::{Problem, Removal, Removed};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Result of removing files.
#[derive(Debug, Default)]
pub(crate) struct RemovalsResults {
    pub removed: u64,
    /// Files that could not be removed.
    pub failures: Vec<Failure>,
    /// Warnings about what was left in place, by path.
    pub warnings: BTreeMap<BString, String>,
}

/// The files of the old index to remove, for [`hedgerow_writer::remove_paths`].
pub(crate) struct Removals<'a> {
    index: &'a Index,
    removals: &'a [Remove],
    keep: Option<&'a BStr>,
    results: Mutex<RemovalsResults>,
}

impl<'a> Removals<'a> {
    /// `removals` refer to rows of `index`; the directory `keep` stays even when it becomes empty.
    pub(crate) fn new(index: &'a Index, removals: &'a [Remove], keep: Option<&'a BStr>) -> Self {
        Removals {
            index,
            removals,
            keep,
            results: Mutex::default(),
        }
    }

    /// The collected results.
    pub(crate) fn into_results(self) -> RemovalsResults {
        self.results
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn path_of(&self, row: u32) -> &BStr {
        let row = self.removals[row as usize].row;
        self.index.path(&self.index.entries()[row as usize])
    }
}

impl Removal for Removals<'_> {
    fn count(&self) -> usize {
        self.removals.len()
    }

    fn path(&self, row: u32) -> &[u8] {
        self.path_of(row)
    }

    fn is_directory(&self, row: u32) -> bool {
        self.removals[row as usize].directory
    }

    fn keep(&self) -> Option<&[u8]> {
        self.keep.map(|path| path.as_ref())
    }

    fn left(&self, directory: &[u8], reason: Problem) {
        let path = BStr::new(directory);
        let reason = format!("unable to rmdir '{path}': {}", reason.reason());
        let results = self.results.lock();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        results.failures.push(Failure {
            path: path.to_owned(),
            reason,
        });
    }

    fn removed(&self, batch: Vec<Removed>) {
        let Ok(mut results) = self.results.lock() else {
            return;
        };
        for Removed { row, outcome } in batch {
            match outcome {
                Ok(()) => results.removed += 1,
                // A submodule directory that is not empty stays, as with git: it may hold work.
                Err(problem) if self.is_directory(row) => {
                    let (path, reason) = (self.path_of(row), problem.reason());
                    let warning = format!("unable to rmdir '{path}': {reason}");
                    results.warnings.insert(path.to_owned(), warning);
                }
                // Untracked files took the place of the file to remove.
                Err(problem) if problem.is_directory() => {
                    let path = self.path_of(row);
                    let warning = format!("unable to unlink '{path}': Is a directory");
                    results.warnings.insert(path.to_owned(), warning);
                }
                Err(problem) => {
                    let reason = problem.to_string();
                    results.failures.push(Failure {
                        path: self.path_of(row).to_owned(),
                        reason,
                    });
                }
            }
        }
    }
}
