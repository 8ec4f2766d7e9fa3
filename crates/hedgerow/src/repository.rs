//! Git repositories: discovery, configuration, references.

pub use hedgerow_git::branches::{Comparison, CurrentBranch, Tracking};
pub use hedgerow_git::config::{boolean, Config, Environment, InPlaceOf, Trouble, TroubleListener};
pub use hedgerow_git::dates::Expiry;
pub use hedgerow_git::index::Mode;
pub use hedgerow_git::refs::Head;
pub use hedgerow_git::repository::{Repository, Role};
pub use hedgerow_git::revision::{IndexPaths, Wanted};
pub use hedgerow_git::{locked, Error, Result};
