//! Mercurial working copies for hedgerow: which files are tracked, which are ignored, and how the
//! files on disk differ.
//!
//! Nothing is written below `.hg`. The library never prints and never reads the environment: an
//! [`Environment`] supplies what Mercurial would take from there.

mod astray;
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
