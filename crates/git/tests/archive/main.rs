//! Commits as sources of nodes, compared with what `git archive` makes of them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories and may panic"
)]

mod archive;
mod attributes;
mod fixture;
mod generated;
mod hostile;
mod pretty;
