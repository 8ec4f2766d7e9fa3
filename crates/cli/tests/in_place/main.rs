//! hedgerow in the place of git: called as `git` through a link that is first in `PATH`, and
//! `hedgerow clone` beside `git clone`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

mod callers;
mod cloning;
mod grammar;
mod handing;
mod integrations;
mod judge;
mod killed;
mod said;
mod sequences;
mod servers;
mod surroundings;
mod twins;

/// The program under test.
const HEDGEROW: &str = env!("CARGO_BIN_EXE_hedgerow");
