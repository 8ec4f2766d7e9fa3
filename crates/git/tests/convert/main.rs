//! Conversion compared with git, byte for byte.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::exit,
    clippy::print_stdout,
    reason = "tests make repositories, look at files and may panic"
)]

mod attributes;
mod filters;
mod matrix;
mod refusals;
mod repository;

/// The filter process of these tests, which is this program.
#[test]
fn filter_server() {
    hedgerow_testkit::filter_server::serve_if_told();
}
