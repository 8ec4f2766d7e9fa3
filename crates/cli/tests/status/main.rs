//! `hedgerow status` beside `git status`, in the same repositories: what they print, and the index
//! that is left behind, must be the same.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make repositories, look at files, and tell what differs"
)]

mod compare;
mod coverage;
mod filled;
mod generated;
mod invocation;
mod pathspecs;
mod quiet;
mod real;
mod refresh;
mod state;
mod submodules;
mod unanswered;
mod unlisted;

use hedgerow_testkit::Program;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));
