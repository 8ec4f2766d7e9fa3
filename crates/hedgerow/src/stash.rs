//! Puts local changes aside and brings them back: git-stash(1).
//!
//! The commits are byte for byte those of git, so git can bring back what was put aside here, and the
//! reverse. What cannot be done without loss is refused before tracked files are touched; that is an
//! outcome, not an error.
//!
//! ```no_run
//! use hedgerow::stash::{apply, drop_entry, push, ApplyOptions, PushOptions, PushOutcome, StashEntry};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! match push(&repository, &PushOptions::default())? {
//!     PushOutcome::Pushed(pushed) => println!("{} is {}", pushed.message, pushed.commit),
//!     PushOutcome::NoChanges(_) => println!("nothing to put aside"),
//!     other => println!("refused: {other:?}"),
//! }
//!
//! // The newest entry; it is dropped only if all of it came back.
//! if let Some(entry) = StashEntry::find(&repository, None)? {
//!     let applied = apply(&repository, &entry, &ApplyOptions::default())?;
//!     if applied.is_complete() {
//!         drop_entry(&repository, &entry)?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::checkout::{Done, Reason, Rejects};
pub use hedgerow_git::stash::{
    apply, clear_stash, create_entry, drop_entry, entry_changes, prefixed, push, store_entry,
    switch_merging, Applied, ApplyLabels, ApplyOptions, ApplyOutcome, MergingSwitch, PushOptions,
    PushOutcome, Pushed, Said, ShownUntracked, StashEntry, UntrackedWish, STASH,
};
