//! HEAD against the index, and renames, against `git status`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories, look at files and may panic"
)]

mod fixture;
mod generator;
mod hostile;
mod renames;
mod staged;
mod worktree;
