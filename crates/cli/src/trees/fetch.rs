//! `hedgerow fetch`: git's own, with hedgerow's `index-pack` and check of connectivity.

use crate::environment;
use crate::failure::{Failure, FATAL};
use crate::global::Global;
use crate::words;
use clap::Args;
use hedgerow_fs::Exit;
use std::ffi::OsString;

/// Fetch with git, while hedgerow indexes and checks what arrives
///
/// All options are git's: see git-fetch(1).
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Fetch {
    /// Git's options and arguments
    #[arg(
        value_name = "REMOTE|BRANCH",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<OsString>,
}

pub fn run(global: &Global) -> Result<u8, Failure> {
    let cwd = environment::of_git(global)?.cwd;
    // Git sees to what a signal interrupts.
    hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    let git = environment::assisted_git(None)?;
    // As they were typed: some are options of hedgerow's, too.
    let words = environment::words();
    let at = words::command(&words).unwrap_or_default();
    let words = words[at..].to_vec();
    Ok(match git.run(words, &cwd).map_err(Failure::fatal)? {
        Exit::Status(code) => u8::try_from(code).unwrap_or(FATAL),
        Exit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(FATAL),
    })
}
