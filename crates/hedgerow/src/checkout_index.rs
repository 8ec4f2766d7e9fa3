//! Copies files of the index to the working tree, below another directory, or to temporary files:
//! git-checkout-index(1).
//!
//! ```no_run
//! use hedgerow::checkout_index::{checkout_index, CheckoutIndexOptions, Selection};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! // All files of the index, below another directory.
//! let options = CheckoutIndexOptions {
//!     selection: Selection::All,
//!     prefix: "/tmp/export/".into(),
//!     force: true,
//!     ..CheckoutIndexOptions::default()
//! };
//! let copied = checkout_index(&repository, &options)?;
//! println!("{} files written", copied.done.written);
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::checkout::{
    checkout_index, CheckedOut, CheckoutIndexOptions, Done, Selection, TemporaryFiles,
};
pub use hedgerow_git::index::Stage;
