//! Work that several processes share, on one machine or on several.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make trees and look at them"
)]

mod checkouts;
mod images;
mod schedulers;
mod tables;

use hedgerow_testkit::{run, Outcome, Program};
use std::path::Path;
use std::process::Command;

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// `hedgerow` with these words in `directory`.
fn hedgerow(directory: &Path, words: &[&str]) -> Outcome {
    run(command(directory, words))
}

fn command(directory: &Path, words: &[&str]) -> Command {
    let mut command = HEDGEROW.command(directory);
    command.args(words);
    command
}

/// Runs all commands at the same time; each must succeed.
fn at_once(commands: impl IntoIterator<Item = Command>) {
    std::thread::scope(|threads| {
        for command in commands {
            threads.spawn(|| {
                let what = format!("{command:?}");
                run(command).ok(&what)
            });
        }
    });
}
