//! Git repositories for hedgerow: configuration, refs, the index, attributes and filters, and
//! checkout on top of them.
//!
//! A repository is put together from rooms that do not know it, each below the next: `config`
//! (environment, files, settings), `refs` (references behind a trait of stores), `discover` (where a
//! repository is and how it is stored). [`repository`] joins them with the objects. Above it,
//! [`branches`] has what is done with branches, and [`revision`] what words name an object.
//! [`display`] is how git shows text; it depends on `config` alone.
//!
//! The library never prints and never reads the environment: what git takes from there arrives
//! in a [`config::Environment`].

pub mod archive;
pub mod branches;
pub mod checkout;
pub mod clean;
pub mod clone;
pub mod config;
pub mod convert;
pub mod dates;
mod describe;
pub mod diff;
pub mod diffstat;
mod discover;
pub mod display;
pub mod doctor;
mod error;
pub mod fast_forward;
pub mod ignore;
pub mod index;
pub mod indexing;
mod lines;
pub mod listing;
pub mod merge;
pub mod monitor;
pub mod object_query;
mod objects;
pub(crate) mod others;
pub mod reachability;
pub mod refs;
pub mod repository;
pub mod revision;
pub mod sparse;
pub mod stash;
pub mod status;
pub mod submodule;
pub mod tree;
mod untracked_cache;
mod worktree;
pub mod worktrees;

pub use error::{locked, Error, Result};
pub use gix_hash::ObjectId;
