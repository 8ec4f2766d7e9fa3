//! The working trees of a repository: listing ([`Repository::worktrees`](crate::Repository)), adding
//! ([`add`]), moving, locking, pruning, repairing and removing them.
//!
//! All that can be refused is refused before anything is made. A working tree that is only half
//! made, because a step failed or was cancelled, is removed.
//!
//! ```no_run
//! use hedgerow::worktrees::{add, remove, AddOptions, NewBranchName, RemoveOptions};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = AddOptions {
//!     path: "../review".into(),
//!     commitish: Some("origin/main".into()),
//!     new_branch: Some(NewBranchName { name: "review".into(), force: false }),
//!     checkout: true,
//!     ..AddOptions::default()
//! };
//! match add(&repository, &options, &mut |notice| println!("{notice:?}")) {
//!     Ok(added) => println!("{} files", added.done.written),
//!     Err(failure) => eprintln!("{}", failure.error),
//! }
//! for tree in repository.worktrees()? {
//!     println!("{} {:?}", tree.path.display(), tree.head);
//! }
//! remove(&repository, "review".into(), &RemoveOptions::default())?;
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::worktrees::{
    add, lock, prune, relocate, remove, repair, unlock, AddFailure, AddOptions, AddStage, Added,
    GivenPath, MoveOptions, NewBranchName, Notice, Preparing, Pruned, RemoveOptions, Repair,
    WorkingTree, WorktreeHead,
};
