//! Interruption by the user: the first signal asks the program to end in order, the second ends
//! it at once.

use crate::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned instead of ending the
/// process; when it is set already, they end it with the exit code 130.
pub fn catch_interrupts() -> Result<&'static AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone())
            .and_then(|_| signal_hook::flag::register(signal, flag.clone()))
            .map_err(|source| Error::new("catch", "interrupts", source))?;
    }
    // The handlers live as long as the process does, and so does what they set.
    let kept: &'static Arc<AtomicBool> = Box::leak(Box::new(flag));
    Ok(kept)
}
