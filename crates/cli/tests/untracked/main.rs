//! `hedgerow clean`, `ls-files`, `diff-files`, `diff-index` and `stash show` as a user meets them:
//! the binary beside git, in two repositories made the same way.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

mod clean;
mod differences;
mod globals;
mod ls_files;
mod patches;
mod patterns;
mod scene;
mod twins;

use hedgerow_testkit::Program;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));
