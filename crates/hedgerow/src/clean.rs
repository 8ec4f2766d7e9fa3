//! Removes untracked files from a working tree, as git-clean(1) does.
//!
//! Nothing is removed before the whole working tree was searched. What could not be removed is told
//! in the result. Symbolic links are never followed, and other repositories in the working tree are
//! kept unless [`Options::force`] is 2.
//!
//! ```no_run
//! use hedgerow::clean::{clean, CleanEvent, Ignored, Options};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = Options {
//!     force: 1,
//!     directories: true,
//!     ignored: Ignored::Removed,
//!     ..Options::default()
//! };
//! let cleaned = clean(&repository, &options)?;
//! for item in &cleaned.items {
//!     for event in &item.events {
//!         if let CleanEvent::Failed(path, reason) = event {
//!             eprintln!("failed to remove {path}: {reason}");
//!         }
//!     }
//!     if item.is_gone {
//!         println!("removed {}", item.path);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::clean::{clean, CleanEvent, Cleaned, CleanedItem, Ignored, Options};
