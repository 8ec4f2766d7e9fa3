//! Git repositories: discovery, configuration, references.

pub use hedgerow_git::index::Mode;
pub use hedgerow_git::repository::{
    boolean, Comparison, Config, Environment, Head, IndexPaths, Repository, Tracking, Wanted,
};
pub use hedgerow_git::{Error, Result};
