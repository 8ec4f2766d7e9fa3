//! `hedgerow checkout` as a user meets it: the binary beside git, in copies of one repository.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

mod attacked;
mod attributes;
mod behaviour;
mod broken_repository;
mod closing;
mod delayed;
mod faults;
mod folded;
mod found;
mod generated;
mod histories;
mod hostile;
mod merging;
mod midway;
mod needed;
mod promised;
mod refusal;
mod reset;
mod scripts;
mod sparse;
mod sparse_found;
mod split;
mod stash;
mod support;
mod surroundings;
mod switched;
mod trees;
mod words;

use hedgerow_testkit::Program;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// The filter process of other tests.
#[test]
fn filter_server() {
    hedgerow_testkit::filter_server::serve_if_told();
}
