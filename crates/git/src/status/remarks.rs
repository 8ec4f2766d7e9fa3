//! What git says of files while it looks whether they have changed.

use super::model::Remark;
use crate::index::Stage;
use crate::worktree::compare::Settled;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::{OldIndex, Worktree};

/// What was said of files whose content was compared with the index: once for each time that git
/// reads them. A file that has changed without lstat showing it is read twice when the index is
/// refreshed, and once more when the differences are listed; three times at first if the index has
/// no size for it.
pub(super) fn of_refresh(
    worktree: &Worktree<'_>,
    old: &OldIndex,
    settled: &Settled,
    pathspecs: Option<&Pathspecs>,
) -> Vec<Remark> {
    let rules = super::rules(worktree, old);
    let (mut at_first, mut later) = (Vec::new(), Vec::new());
    for remark in &settled.remarks {
        let entry = &old.index.entries()[remark.row as usize];
        let path = old.index.path(entry);
        let is_read = entry.flags.stage == Stage::Merged && !entry.flags.intent_to_add;
        if !is_read || pathspecs.is_some_and(|pathspecs| !pathspecs.fits(path)) {
            continue;
        }
        let row = remark.row;
        let is_same = settled
            .clean
            .binary_search_by_key(&row, |(row, _)| *row)
            .is_ok();
        let looks_same = entry.matches(&remark.stat, &rules.stat);
        let times = match (is_same || !looks_same, entry.stat.size) {
            (true, _) => 1,
            (false, 0) => 3,
            (false, _) => 2,
        };
        let said = Remark::Error(remark.error.clone());
        at_first.extend(vec![said.clone(); times]);
        if times > 1 {
            later.push(said);
        }
    }
    at_first.append(&mut later);
    at_first
}
