//! What `hedgerow generate` makes, as shells and readers of manual pages take it: bash, zsh and fish
//! complete words, and mandoc reads every page.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests run shells and write scripts"
)]

mod completions;
mod pages;

use hedgerow_testkit::{run, Program};
use std::path::Path;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// What `hedgerow generate` prints.
fn generated(directory: &Path, arguments: &[&str]) -> String {
    let mut command = HEDGEROW.command(directory);
    command.arg("generate").args(arguments);
    String::from_utf8(run(command).ok("generate")).unwrap()
}
