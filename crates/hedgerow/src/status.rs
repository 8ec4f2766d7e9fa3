//! The status of a working tree: of Git ([`status`]) and of Mercurial ([`mercurial::status`]). See
//! `examples/status.rs`.
//!
//! ```no_run
//! use hedgerow::status::{mercurial, ongoing, status, tree_differences, DifferenceOptions, Options};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let status = status(&repository, &Options::default())?;
//! println!("{} changed, {} untracked", status.changes.len(), status.untracked.len());
//!
//! // As git's plumbing sees it.
//! let tree = repository.resolve_tree("HEAD".into())?;
//! let options = DifferenceOptions::default();
//! for difference in tree_differences(&repository, tree, &options)?.list {
//!     println!("{} {:?}", difference.path, difference.kind());
//! }
//! println!("under way: {:?}", ongoing::operation(&repository)?);
//!
//! // A working copy of Mercurial.
//! let directory = std::path::absolute("copy")?;
//! let environment = mercurial::Environment::from_vars(std::env::vars_os(), directory.clone());
//! let copy = mercurial::Repository::open(&directory, &environment)?;
//! let status = mercurial::status(&copy, &mercurial::Options::default())?;
//! println!("{} modified", status.of(mercurial::State::Modified).len());
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::status::rename::Score;
pub use hedgerow_git::status::{
    ignored_in_submodules, index_differences, status, submodule_summary, tree_differences,
    untracked_mode, Change, ChangeKind, Colors, Configuration, Conflict, ConflictKind, Difference,
    DifferenceOptions, DifferenceSide, Differences, IgnoreSubmodules, IgnoredFiles, Options,
    Remark, Rename, RenameWish, Sparse, Status, SubmoduleState, SubmoduleSummary,
    SummarizedChanges, UntrackedFiles, Version,
};

/// The operation in progress in a repository, as shown by `git status`: a merge, a rebase, a
/// bisection.
pub mod ongoing {
    pub use hedgerow_git::status::operation::{Bisect, Rebase, Replay, Steps};
    pub use hedgerow_git::status::{operation, Operation};
}

/// The status of Mercurial working copies.
pub mod mercurial {
    pub use hedgerow_hg::status::{status, Options, State, States, Status, STATES};
    pub use hedgerow_hg::{find_root, Display, Environment, Error, Repository};
}
