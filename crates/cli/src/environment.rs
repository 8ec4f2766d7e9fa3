//! What comes from the environment. This is the one place that reads it.
#![allow(
    clippy::disallowed_methods,
    reason = "libraries get it from here as plain data"
)]

use crate::failure::Failure;
use crate::global::Global;
use bstr::ByteSlice;
use hedgerow::repository::Environment;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A variable, if it is set.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Whether somebody reads standard output: it is a terminal, or git has put a pager before it.
pub fn output_is_read() -> bool {
    hedgerow_fs::StandardOutput::is_terminal() || pager_in_use()
}

/// Whether standard output shows colors to somebody who wants to see them; `paged`: as a pager that
/// git has started does, too.
pub fn output_takes_colors(paged: bool) -> bool {
    let is_capable = variable("TERM").is_some_and(|terminal| terminal != "dumb");
    let is_read = hedgerow_fs::StandardOutput::is_terminal() || paged && pager_in_use();
    is_read && is_capable && variable("NO_COLOR").is_none()
}

fn pager_in_use() -> bool {
    let value = variable("GIT_PAGER_IN_USE").unwrap_or_default();
    hedgerow::repository::boolean(value.as_bytes().as_bstr()).unwrap_or(false)
}

/// How many characters a line of standard output has: what `COLUMNS` says, or the terminal, or 80.
pub fn output_width() -> usize {
    const USUAL: usize = 80;
    let asked = variable("COLUMNS").unwrap_or_default();
    let asked = asked.as_bytes().trim_ascii_start();
    let digits = asked.iter().take_while(|byte| byte.is_ascii_digit());
    let asked = digits.fold(0_usize, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'))
    });
    match asked {
        0 => hedgerow_fs::terminal_width(hedgerow_fs::StandardOutput).map_or(USUAL, usize::from),
        asked => asked,
    }
}

/// A path as the user means it, as if started in the directory that `-C` names.
pub fn from_directory(global: &Global, path: &Path) -> PathBuf {
    let mut from = PathBuf::new();
    global.directory.iter().for_each(|part| from.push(part));
    from.push(path);
    from
}

/// What git takes from the environment, as if started in the directory that `-C` names.
pub fn of_git(global: &Global) -> Result<Environment, Failure> {
    let directory = start(global)?;
    Ok(Environment::from_vars(std::env::vars_os(), directory)?)
}

/// As [`of_git`], for commands about packs: what is stored counts, and not what replaces it.
pub fn of_git_unreplaced(global: &Global) -> Result<Environment, Failure> {
    Ok(Environment {
        no_replace_objects: true,
        ..of_git(global)?
    })
}

/// As [`of_git_unreplaced`], for commands that delete what they find unused: no accelerator is
/// believed.
pub fn of_git_unaided(global: &Global) -> Result<Environment, Failure> {
    Ok(Environment {
        unaided: true,
        ..of_git_unreplaced(global)?
    })
}

/// What Mercurial takes from the environment, likewise. The directory is free of links.
pub fn of_hg(global: &Global) -> Result<hedgerow::status::mercurial::Environment, Failure> {
    let directory = hedgerow_fs::real_path(&start(global)?).map_err(Failure::fatal)?;
    let vars = std::env::vars_os();
    Ok(hedgerow::status::mercurial::Environment::from_vars(
        vars, directory,
    ))
}

/// Refuses a `-C` that leads nowhere, before something in it is missed.
pub fn check_start(global: &Global) -> Result<(), hedgerow_fs::Error> {
    let named: PathBuf = global.directory.iter().collect();
    if named.as_os_str().is_empty() {
        Ok(())
    } else {
        hedgerow_fs::check_directory(&named)
    }
}

/// The words of the command line.
pub fn words() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The directory to start in, links resolved, if it can be found; `parts` are what `-C` names.
pub fn start_directory(parts: &[PathBuf]) -> Option<PathBuf> {
    let mut directory = std::env::current_dir().ok()?;
    parts.iter().for_each(|part| directory.push(part));
    hedgerow_fs::real_path(&directory).ok()
}

/// The directory to start in.
fn start(global: &Global) -> Result<std::path::PathBuf, Failure> {
    let mut directory = std::env::current_dir().map_err(|error| {
        Failure::fatal(format_args!("cannot find the current directory: {error}"))
    })?;
    for part in &global.directory {
        directory.push(part);
    }
    hedgerow_fs::check_directory(&directory).map_err(Failure::fatal)?;
    Ok(directory)
}
