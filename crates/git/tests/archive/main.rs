//! Commits as sources of nodes, compared with what `git archive` makes of them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::exit,
    clippy::unwrap_used,
    reason = "tests make repositories and may panic"
)]

mod archive;
mod attributes;
#[allow(dead_code, reason = "it serves other tests, too")]
#[path = "../convert/filter_server.rs"]
mod filter_server;
mod fixture;
mod generated;
mod hostile;
mod pretty;
#[allow(dead_code, reason = "it serves other tests, too")]
#[path = "../convert/repository.rs"]
mod repository;
