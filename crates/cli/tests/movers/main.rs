//! Commands that move a working tree, or read one out of a repository, beside git: `merge`,
//! `submodule`, `archive`, and what `:(attr:...)` selects.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

mod archive;
mod attributes;
mod collisions;
mod merge;
mod receiving;
mod recursion;
mod submodules;
mod twins;
mod unwritten;

use hedgerow_testkit::Program;

const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// Is the filter process of other tests.
#[test]
fn filter_server() {
    hedgerow_testkit::filter_server::serve_if_told();
}
