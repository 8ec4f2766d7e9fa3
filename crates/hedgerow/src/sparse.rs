//! Sparse checkouts: a working tree that has a part of the tracked files.
//!
//! Files with changes, files in conflict, and untracked files stay, with a warning.
//!
//! ```no_run
//! use hedgerow::sparse::{add, disable, set, Modes, SparseOptions};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = SparseOptions {
//!     modes: Modes { cone: Some(true), ..Modes::default() },
//!     ..SparseOptions::default()
//! };
//! let changed = set(&repository, &["src".into(), "docs/api".into()], &options)?;
//! println!("{} files removed", changed.done.removed);
//!
//! // The settings are read when a repository is opened.
//! let repository = Repository::discover(&environment)?;
//! add(&repository, &["tests".into()], &options)?;
//! disable(&repository, &SparseOptions::default())?;
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::sparse::{
    add, clean, current_rules, disable, init, reapply, set, Changed, CleanOptions, Cone, Modes,
    SparseOptions, SparseRules,
};
