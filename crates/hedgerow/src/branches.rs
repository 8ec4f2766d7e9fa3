//! Creating branches: where they start and what they follow.
//!
//! ```no_run
//! use hedgerow::branches::{StartOptions, Track};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = StartOptions {
//!     track: Some(Track::Explicit),
//!     ..StartOptions::default()
//! };
//! let start = repository.branch_start("topic".into(), "origin/main".into(), &options)?;
//! start.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
//! let prepared = start.prepare(&repository, &|| false)?;
//! prepared.commit(&repository.committer()?)?;
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::checkout::{BranchStart, Followed, PreparedStart, StartOptions, Track};
