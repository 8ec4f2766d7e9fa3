//! Reads trees into the index, with or without a merge: git-read-tree(1).
//!
//! Nothing is changed before all checks are done. A refused merge is a [`ReadTreeOutcome`], not an
//! error.
//!
//! ```no_run
//! use hedgerow::read_tree::{read_tree, ReadTreeMode, ReadTreeOptions, ReadTreeOutcome};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! // From one tree to another, with the working tree.
//! let trees = ["HEAD", "v1.2"].map(|name| repository.resolve_tree(name.into()));
//! let options = ReadTreeOptions {
//!     trees: trees.into_iter().collect::<Result<_, _>>()?,
//!     mode: ReadTreeMode::Merge,
//!     update: true,
//!     ..ReadTreeOptions::default()
//! };
//! let outcome = read_tree(&repository, &options)?;
//! assert!(matches!(outcome, ReadTreeOutcome::Done(_)));
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::checkout::{
    read_tree, Done, ReadTreeMode, ReadTreeOptions, ReadTreeOutcome, Reason, Rejects,
};
