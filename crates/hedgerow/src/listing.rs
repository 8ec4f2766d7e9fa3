//! Lists the files of an index and of its working tree, as git-ls-files(1) does.
//!
//! ```no_run
//! use hedgerow::listing::{list, Options, Reason};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = Options {
//!     modified: true,
//!     others: true,
//!     exclude_standard: true,
//!     ..Options::default()
//! };
//! let listed = list(&repository, &options)?;
//! for line in listed.lines() {
//!     match line.reason {
//!         Reason::Other => println!("new: {}", line.path),
//!         _ => println!("changed: {}", line.path),
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::index::{Entry, Flags, Stage};
pub use hedgerow_git::listing::{
    list, shows_line_ends, Line, LineEndReader, LineEnds, Lines, Listed, Options, Reason, Undone,
};
