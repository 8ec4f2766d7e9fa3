//! The environment that children of this process inherit.

use crate::{Error, Result};
use std::ffi::OsString;
use std::io;

/// Sets environment variables of this process.
///
/// # Errors
/// This process has more than one thread, which could be reading the environment, or it cannot be
/// found out; then nothing was set.
pub fn set_variables(variables: &[(&str, OsString)]) -> Result<()> {
    let threads = || {
        let tasks = std::fs::read_dir("/proc/self/task")?;
        match tasks.count() {
            1 => Ok(()),
            _ => Err(io::Error::other("another thread is running")),
        }
    };
    threads().map_err(|source| Error::new("change", "the environment", source))?;
    for (name, value) in variables {
        #[allow(unsafe_code)]
        // SAFETY: this is the only thread, so nothing else reads the environment.
        unsafe {
            std::env::set_var(name, value)
        };
    }
    Ok(())
}
