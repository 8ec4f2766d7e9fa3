//! Interruption by the user: the first signal asks the program to end in order, the second ends
//! it at once.

use crate::{Error, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// So often it is looked whether the user interrupts while somebody else lets one wait.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// What the handlers set. They live as long as the process does, and so does this.
#[derive(Debug, Default)]
struct Caught {
    flag: Arc<AtomicBool>,
    /// The number of the last signal; 0 before the first.
    signal: Arc<AtomicUsize>,
}

static CAUGHT: OnceLock<Caught> = OnceLock::new();

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned instead of ending the
/// process; when it is set already, they end it as if they had never been caught. A signal that
/// was ignored when the process started, as nohup(1) and shells with jobs in the background have
/// it, stays ignored.
pub fn catch_interrupts() -> Result<&'static AtomicBool> {
    if let Some(caught) = CAUGHT.get() {
        return Ok(&caught.flag);
    }
    let caught = CAUGHT.get_or_init(Caught::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if is_ignored(signal) {
            continue;
        }
        let number = usize::try_from(signal).unwrap_or_default();
        flag::register_conditional_default(signal, caught.flag.clone())
            .and_then(|_| flag::register_usize(signal, caught.signal.clone(), number))
            .and_then(|_| flag::register(signal, caught.flag.clone()))
            .map_err(|source| Error::new("catch", "interrupts", source))?;
    }
    Ok(&caught.flag)
}

/// The signal by which the user interrupted, if [`catch_interrupts`] was called before.
pub fn caught_signal() -> Option<i32> {
    match CAUGHT.get()?.signal.load(Ordering::SeqCst) {
        0 => None,
        number => i32::try_from(number).ok(),
    }
}

/// Waits until a file can be read or written, or fails if the user interrupts.
pub(crate) fn wait(fd: BorrowedFd<'_>, what: PollFlags) -> io::Result<()> {
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(fd, what)], Some(&PATIENCE)) {
            Ok(0) | Err(Errno::INTR) if caught_signal().is_some() => {
                return Err(Errno::CANCELED.into());
            }
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Ends the process by `signal`, so that whoever waits for it sees that. Returns only if that
/// cannot be.
pub fn end_by_signal(signal: i32) {
    // There is another way to end for whoever this returns to.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

#[allow(unsafe_code)]
fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed, and what there is goes to a place of the right size.
    if unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call has succeeded, so it has filled the place.
    unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}
