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
        let is_alone = match std::fs::read_dir("/proc/self/task") {
            Ok(tasks) => tasks.count() == 1,
            Err(error) => is_alone_for_kernel().ok_or(error)?,
        };
        let several = || io::Error::other("another thread is running");
        is_alone.then_some(()).ok_or_else(several)
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

/// Whether this process has one thread, where `/proc` does not tell: then alone the kernel accepts to
/// take its thread out of the others, which changes nothing. `None` if it does not answer.
fn is_alone_for_kernel() -> Option<bool> {
    use rustix::io::Errno;
    use rustix::thread::{unshare_unsafe, UnshareFlags};
    const CLONE_THREAD: u32 = 0x0001_0000;
    #[allow(unsafe_code)]
    // SAFETY: nothing is unshared.
    let answer = unsafe { unshare_unsafe(UnshareFlags::from_bits_retain(CLONE_THREAD)) };
    match answer {
        Ok(()) => Some(true),
        Err(Errno::INVAL) => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_of_another_thread() {
        let asked = crate::threads::start("ask", is_alone_for_kernel);
        let asked = asked.unwrap().join().unwrap();
        assert_ne!(asked, Some(true));
    }
}
