//! References in tables: hedgerow and git in twin repositories, and a third one with files.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

mod failing;
mod killed;
mod refused;
mod sequences;
mod twins;

use hedgerow_testkit::{git_is_at_least, Program};

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// Whether the installed git knows tables; says aloud if it does not.
fn git_knows_tables() -> bool {
    git_is_at_least(2, 45, "reftable")
}
