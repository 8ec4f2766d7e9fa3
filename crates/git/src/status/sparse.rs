//! How much of a sparse checkout is there.

use super::model::Sparse;
use super::scan::Scanned;
use crate::repository::Repository;
use crate::worktree::OldIndex;
use crate::Result;

/// Counts the files of the index that are to be there; `None` if that are all by definition,
/// without a sparse checkout, or if there are no files.
pub(super) fn share(
    repository: &Repository,
    old: &OldIndex,
    scanned: &Scanned,
) -> Result<Option<Sparse>> {
    let count = old.index.entries().len();
    if !repository.settings().sparse_checkout || count == 0 {
        return Ok(None);
    }
    // Git puts the files in the place of a directory when one of them is there after all.
    let stays = old.was_sparse && scanned.present.is_empty();
    if stays && repository.config().bool("index.sparse")? == Some(true) {
        return Ok(Some(Sparse::Index));
    }
    let is_absent = |entry: &&crate::index::Entry| entry.flags.skip_worktree;
    let absent = old.index.entries().iter().filter(is_absent).count();
    let percent = 100 - (100 * absent as u64 / count as u64) as u32;
    Ok(Some(Sparse::Percent(percent)))
}
