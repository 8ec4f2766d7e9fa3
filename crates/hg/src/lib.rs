//! Mercurial working copies for hedgerow: what is tracked, what is ignored, and how the files on
//! disk stand to it.
//!
//! Nothing here writes below `.hg`. The library never prints and never reads the environment:
//! what Mercurial takes from there arrives in an [`Environment`].

mod config;
pub mod dirstate;
mod display;
mod environment;
mod error;
pub mod ignore;
mod repository;
mod requirements;
pub mod status;

pub use display::Display;
pub use environment::Environment;
pub use error::{Error, Result};
pub use repository::{find_root, Repository};
