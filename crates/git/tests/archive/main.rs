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
mod fixture;
mod generated;
mod hostile;
mod pretty;

/// The filter process of these tests, which is this program.
#[test]
fn filter_server() {
    hedgerow_testkit::filter_server::serve_if_told();
}
