//! The command line of hedgerow: arguments in, words and exit codes out. What is done is done by
//! the libraries.

mod arguments;
mod checkout;
mod failure;
mod generate;
mod messages;
mod output;
mod progress;
mod quote;
mod report;
mod statistics;
mod version;

use crate::arguments::Command;
use crate::failure::Failure;
use clap::Parser;
use std::process::ExitCode;

/// Blocks over this size go back to the system when they are freed.
const FREED_BLOCK_BYTES: usize = 1 << 20;

fn main() -> ExitCode {
    // A defect is told as an error, in one sentence, by whoever catches it.
    std::panic::set_hook(Box::new(|_| {}));
    hedgerow_fs::return_freed_blocks(FREED_BLOCK_BYTES);
    arm_faults();
    let arguments = match arguments::Arguments::try_parse_from(arguments::words()) {
        Ok(arguments) => arguments,
        Err(error) => return arguments::refuse(&error),
    };
    let output = output::Output::new(&arguments.global);
    let outcome = match &arguments.command {
        _ if arguments.version => {
            version::show(arguments.global.verbose > 0, &output);
            Ok(0)
        }
        Some(Command::Checkout(command)) => checkout::run(command, &arguments.global, &output),
        Some(Command::Generate(what)) => generate::run(what, &output),
        None => Err(Failure::usage(
            "a command is missing; see 'hedgerow --help'",
        )),
    };
    let code = output.end(outcome);
    tell_calls();
    code
}

/// The hook by which end-to-end tests make system calls fail or take their time, to see that a
/// checkout survives it. `HEDGEROW_TEST_FAULT=OP[+OP...]:FIRST[-LAST]:ERRNO` lets the calls with
/// these numbers (from 1) among those kinds fail, `HEDGEROW_TEST_DELAY=SEED` delays every call a
/// little at random. What cannot be read arms nothing.
fn arm_faults() {
    let value = |name| std::env::var(name).ok();
    if let Some((kinds, first, last, errno)) = value("HEDGEROW_TEST_FAULT").and_then(fault) {
        hedgerow_fs::fault::arm(kinds, first, last, errno);
    }
    if let Some(seed) = value("HEDGEROW_TEST_DELAY").and_then(|seed| seed.parse().ok()) {
        hedgerow_fs::fault::delay(seed);
    }
}

/// Tells a test how many calls of the kinds that were to fail there were: it tries each.
fn tell_calls() {
    if std::env::var_os("HEDGEROW_TEST_FAULT").is_some() {
        let seen = hedgerow_fs::fault::seen();
        let line = format!("HEDGEROW_TEST_FAULT saw {seen} calls\n");
        // Nobody but the test is there to be told that this failed.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
}

fn fault(text: String) -> Option<(u32, u64, u64, i32)> {
    let mut parts = text.split(':');
    let (kinds, span, errno) = (parts.next()?, parts.next()?, parts.next()?);
    let (first, last) = span.split_once('-').unwrap_or((span, span));
    let mut sum = 0;
    for name in kinds.split('+') {
        sum |= hedgerow_fs::fault::Op::from_name(name)? as u32;
    }
    Some((
        sum,
        first.parse().ok()?,
        last.parse().ok()?,
        errno.parse().ok()?,
    ))
}
