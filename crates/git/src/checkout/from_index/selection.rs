//! Which entries of the index are copied.

use super::{is_of_stage, CheckoutIndexOptions};
use crate::checkout::session::Session;
use crate::index::{Entry, Stage};
use crate::worktree::pathspecs::join;
use crate::worktree::OldIndex;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};

/// The files to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All below the user's current directory.
    All,
    /// These, relative to the user's current directory.
    Paths(Vec<BString>),
}

impl Default for Selection {
    fn default() -> Self {
        Selection::Paths(Vec::new())
    }
}

/// The selected rows, and the paths that select none.
pub(super) struct Selected {
    /// Rows of the index, in order unless the files are temporary.
    pub rows: Vec<usize>,
    /// For each of the rows, its position among all rows in the order in which they were named.
    pub positions: Vec<usize>,
    /// Why paths were not selected; before the row at the position that comes with it.
    pub remarks: Vec<(usize, String)>,
}

pub(super) fn select(
    session: &Session<'_>,
    old: &OldIndex,
    options: &CheckoutIndexOptions,
) -> Result<Selected> {
    let index = &old.index;
    let mut selected = Selected {
        rows: Vec::new(),
        positions: Vec::new(),
        remarks: Vec::new(),
    };
    let repository = session.repository;
    let prefix = repository.prefix();
    match &options.selection {
        Selection::All => {
            let is_meant = |(path, entry): (&BStr, &Entry)| {
                let skipped = entry.flags.skip_worktree && !options.with_skipped;
                let is_below = path.len() > prefix.len() && path.starts_with(prefix);
                let of_stage = is_of_stage(entry.flags.stage, options.stage);
                !skipped && of_stage && is_below
            };
            let rows = index.iter().enumerate();
            let rows = rows.filter(|(_, entry)| is_meant(*entry));
            selected.rows = rows.map(|(row, _)| row).collect();
        }
        Selection::Paths(paths) => {
            let top = repository.require_work_tree()?;
            let directory = prefix.trim_end_with(|it| it == '/').as_bstr();
            for path in paths {
                let joined = join(directory, path.as_ref(), top);
                let (joined, _) = joined.ok_or_else(|| Error::Setup {
                    reason: format!("'{path}' is outside repository at '{}'", top.display()),
                })?;
                selected.add(old, joined.as_ref(), options);
            }
        }
    }
    let mut named: Vec<(usize, usize)> = selected.rows.iter().copied().zip(0..).collect();
    // Files are written in order of paths, each once.
    if !options.temporary {
        named.sort_unstable();
        named.dedup_by_key(|(row, _)| *row);
    }
    (selected.rows, selected.positions) = named.into_iter().unzip();
    Ok(selected)
}

impl Selected {
    fn add(&mut self, old: &OldIndex, path: &BStr, options: &CheckoutIndexOptions) {
        let index = &old.index;
        let first = index.find(path, Stage::Merged).unwrap_or_else(|at| at);
        let entries = index.entries().iter().enumerate().skip(first);
        let stages: Vec<(usize, &Entry)> = entries
            .take_while(|(_, entry)| index.path(entry) == path)
            .collect();
        let is_skipped =
            |(_, entry): &(usize, &Entry)| entry.flags.skip_worktree && !options.with_skipped;
        let of_stage =
            |(_, entry): &&(usize, &Entry)| is_of_stage(entry.flags.stage, options.stage);
        let before = self.rows.len();
        let kept = stages.iter().take_while(|entry| !is_skipped(entry));
        self.rows.extend(kept.filter(of_stage).map(|(row, _)| *row));
        // All stages of a path without a conflict are none.
        if self.rows.len() > before || !stages.is_empty() && options.stage.is_none() {
            return;
        }
        let reason = match (stages.first(), options.stage) {
            (None, _) if is_collapsed(old, path) => "is a sparse directory".to_owned(),
            (None, _) => "is not in the cache".to_owned(),
            (Some(first), _) if is_skipped(first) => "has skip-worktree enabled; use \
                '--ignore-skip-worktree-bits' to checkout"
                .to_owned(),
            (Some(_), Some(Stage::Merged) | None) => "is unmerged".to_owned(),
            (Some(_), Some(stage)) => format!("does not exist at stage {}", stage.number()),
        };
        let remark = format!("git checkout-index: {path} {reason}");
        self.remarks.push((before, remark));
    }
}

/// Whether the index file has one entry for the directory `path`, which ends with a slash.
fn is_collapsed(old: &OldIndex, path: &BStr) -> bool {
    let directories = old.sparse_directories.iter().flatten();
    let path = path.strip_suffix(b"/");
    path.is_some_and(|path| directories.into_iter().any(|it| it.path == path))
}
