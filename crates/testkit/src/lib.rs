//! What the tests of several crates share. It knows no crate of hedgerow, so that each of them can
//! use it.
//!
//! - [`isolate`] hides the user's configuration and environment from a program under test; every
//!   git, hg and hedgerow that a test starts goes through it.
//! - [`Repository`] is a repository of git in a directory that goes away; [`Program`], [`run`] and
//!   [`Outcome`] run git or hedgerow and tell how it ended.
//! - [`skip`] and [`require`] say aloud that a test could not run here.
//! - [`Random`] draws the same numbers everywhere; [`history`] draws repositories from it;
//!   [`snapshot()`] takes a picture of a tree, and [`index_file`] reads an index a second way.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::exit,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests run programs, look at files and may panic"
)]

pub mod filter_server;
pub mod history;
pub mod image_trees;
pub mod index_file;
mod isolation;
mod place;
mod program;
mod random;
mod repository;
mod seeds;
mod skipping;
pub mod snapshot;

pub use index_file::{CacheTree, IndexEntry, IndexFile};
pub use isolation::{
    hide_environment, isolate, isolated, obeying_permissions, use_global_config, use_system_files,
};
pub use place::{temporary, temporary_on_disk, Mount};
pub use program::{git, git_text, run, run_traced, run_with, Outcome, Program};
pub use random::Random;
pub use repository::{blob_id, overwrite, text, Known, Repository};
pub use seeds::{play_each, play_sample, sample};
pub use skipping::{git_is_at_least, is_there, require, skip};
pub use snapshot::{differences, snapshot, Node, Snapshot};
pub use tempfile::TempDir;
