//! What comes from the environment. This is the one place that reads it.
#![allow(
    clippy::disallowed_methods,
    reason = "libraries get it from here as plain data"
)]

use crate::arguments::Global;
use crate::failure::Failure;
use hedgerow_git::repository::Environment;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// A variable, if it is set.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Whether standard output is a terminal that shows colors to somebody who wants to see them.
pub fn output_takes_colors() -> bool {
    let is_capable = variable("TERM").is_some_and(|terminal| terminal != "dumb");
    std::io::stdout().is_terminal() && is_capable && variable("NO_COLOR").is_none()
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

/// What Mercurial takes from the environment, likewise. The directory is free of links.
pub fn of_hg(global: &Global) -> Result<hedgerow_hg::Environment, Failure> {
    let directory = hedgerow_fs::real_path(&start(global)?).map_err(Failure::fatal)?;
    let vars = std::env::vars_os();
    Ok(hedgerow_hg::Environment::from_vars(vars, directory))
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
    if !hedgerow_fs::is_directory(&directory) {
        let path = directory.display();
        return Err(Failure::fatal(format_args!(
            "cannot change to '{path}': No such directory"
        )));
    }
    Ok(directory)
}
