//! Git repositories for hedgerow: configuration, refs, the index, attributes and filters, and
//! checkout on top of them.
//!
//! The library never prints and never reads the environment: what git takes from there arrives
//! in a [`config::Environment`].

pub mod archive;
pub mod branches;
pub mod checkout;
pub mod config;
pub mod convert;
pub mod dates;
pub mod discover;
mod error;
pub mod ignore;
pub mod index;
mod patterns;
pub mod reachability;
pub mod refs;
pub mod repository;
pub mod revision;
pub mod status;
pub mod tree;
mod worktree;

pub use error::{Error, Result};
pub use gix_hash::ObjectId;
