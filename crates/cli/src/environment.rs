//! What comes from the environment. This is the one place that reads it.
#![allow(
    clippy::disallowed_methods,
    reason = "libraries get it from here as plain data"
)]

use crate::arguments::Global;
use crate::failure::Failure;
use hedgerow_git::repository::Environment;
use std::ffi::OsString;

/// A variable, if it is set.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What git takes from the environment, as if started in the directory that `-C` names.
pub fn of_git(global: &Global) -> Result<Environment, Failure> {
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
    Ok(Environment::from_vars(std::env::vars_os(), directory)?)
}
