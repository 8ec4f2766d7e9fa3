//! Differences as text: lists, numbers of lines, patches; git-diff-index(1) and git-stash(1) under
//! `show`.
//!
//! ```no_run
//! use hedgerow::diff::{show, tree_pairs, DiffOptions, FileContents, Formats};
//!
//! # use hedgerow::{Environment, Execution, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let old = repository.resolve_tree("HEAD~".into())?;
//! let new = repository.resolve_tree("HEAD".into())?;
//! let pairs = tree_pairs(&repository, Some(old), new, &Execution::default())?;
//! let options = DiffOptions {
//!     formats: Formats {
//!         patch: true,
//!         ..Formats::default()
//!     },
//!     ..DiffOptions::default()
//! };
//! let contents = FileContents::of_objects(&repository);
//! let mut patch = Vec::new();
//! show(&repository, pairs, &contents, &options, &mut |text| patch.extend_from_slice(text))?;
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::diff::{
    algorithm, pairs_of, show, supply_contents, tree_pairs, DiffOptions, FileContents, Formats,
    KindFilter, Listing, PatchOptions,
};
pub use hedgerow_git::diffstat::{colors, DiffstatOptions, Widths};
pub use hedgerow_git::merge::Algorithm;
pub use hedgerow_git::revision::Digits;
pub use hedgerow_git::status::rename::{Detection, Filepair, RenameOptions, Score};
