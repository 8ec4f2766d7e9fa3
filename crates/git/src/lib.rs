//! Git repositories for hedgerow: configuration, refs, the index, attributes and filters, and
//! checkout on top of them.
//!
//! The library never prints and never reads the environment: what git takes from there arrives
//! in a [`repository::Environment`].

pub mod archive;
pub mod checkout;
pub mod convert;
pub mod dates;
mod error;
pub mod ignore;
pub mod index;
pub mod indexing;
pub mod object_query;
mod patterns;
pub mod reachability;
pub mod repository;
pub mod status;
pub mod tree;
mod worktree;

pub use error::{Error, Result};
pub use gix_hash::ObjectId;
