//! Putting local changes aside, and bringing them back: git-stash(1).
//!
//! An entry is a commit of the working tree whose parents are HEAD, a commit of the index and, if
//! untracked files were put aside too, a commit of these. `refs/stash` names the newest entry; the
//! older ones are in its log.

mod adding;
mod apply;
mod capture;
mod carry;
mod embedded;
mod entry;
mod index_patch;
mod list;
mod push;
mod reversal;
mod show;
mod taking;
mod untracked;

pub use crate::worktree::pathspecs::prefixed;
pub use apply::{apply, Applied, ApplyLabels, ApplyOptions, ApplyOutcome};
pub use carry::{switch_merging, MergingSwitch};
pub use entry::StashEntry;
pub use list::{clear_stash, drop_entry, store_entry, STASH};
pub use push::{create_entry, push, PushOptions, PushOutcome, Pushed, Said};
pub use show::{entry_changes, ShownUntracked};
pub use untracked::UntrackedWish;

/// Who makes entries if nobody is configured.
const STASHER: crate::repository::Fallback = crate::repository::Fallback {
    name: "git stash",
    email: "git@stash",
};
