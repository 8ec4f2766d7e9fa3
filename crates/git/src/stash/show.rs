//! What an entry changes: git-stash(1) under `show`.

use super::entry::StashEntry;
use crate::diff::tree_pairs;
use crate::repository::Repository;
use crate::status::rename::Filepair;
use crate::{Error, Result};
use bstr::BString;
use hedgerow_engine::Execution;
use std::collections::BTreeMap;

/// Which untracked files are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShownUntracked {
    /// None.
    #[default]
    None,
    /// All, besides the changes of tracked files.
    Included,
    /// All, and nothing else.
    Only,
}

/// The changes of an entry, ascending by path.
///
/// # Errors
/// An object cannot be read; [`Error::Usage`] if a path is both tracked and untracked.
pub fn entry_changes(
    repository: &Repository,
    entry: &StashEntry,
    shown: ShownUntracked,
    execution: &Execution,
) -> Result<Vec<Filepair>> {
    let untracked = match (shown, entry.untracked_tree) {
        (ShownUntracked::None, _) | (_, None) => Vec::new(),
        (_, Some(tree)) => tree_pairs(repository, None, tree, execution)?,
    };
    if shown == ShownUntracked::Only {
        return Ok(untracked);
    }
    let tracked = tree_pairs(repository, Some(entry.base_tree), entry.tree, execution)?;
    let path = |pair: &Filepair| pair.path().unwrap_or_default().to_owned();
    let mut all: BTreeMap<BString, Filepair> = tracked
        .into_iter()
        .map(|pair| (path(&pair), pair))
        .collect();
    for pair in untracked {
        let path = path(&pair);
        let known = all.remove(&path);
        let words = [entry.tree.to_string().as_bytes(), b":", &path].concat();
        if repository.resolve(bstr::BStr::new(&words)).is_ok() {
            return Err(Error::Usage {
                reason: format!("worktree and untracked commit have duplicate entries: {path}"),
            });
        }
        // A file that is tracked no longer may be an untracked one.
        let old = known.and_then(|known| known.old);
        let object = |side: &Option<crate::status::rename::Side>| {
            side.as_ref().map(|side| (side.mode, side.id))
        };
        if old.is_none() || object(&old) != object(&pair.new) {
            all.insert(path, Filepair { old, ..pair });
        }
    }
    Ok(all.into_values().collect())
}
