//! Interruption by the user: the first signal asks the program to end in order, the second one ends
//! it at once.

use crate::held_name::remove_all;
use crate::{Error, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::OnceLock;

/// Interval at which blocking waits check for an interruption.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Set by the first signal if signals are caught.
static IS_CAUGHT: AtomicBool = AtomicBool::new(false);
/// The number of the last caught signal; 0 before the first.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Whether the program checks [`IS_CAUGHT`].
static CATCHES: AtomicBool = AtomicBool::new(false);
/// Whether the handlers are installed.
static HANDLES: OnceLock<()> = OnceLock::new();

/// After this call, SIGINT, SIGTERM and SIGHUP set the returned flag instead of ending the process;
/// if it is already set, they end the process as if they were not caught, except for the cleanup of
/// [`remove_names_at_signals`]. A signal that was ignored when the process started, as set by
/// nohup(1) and by shells for background jobs, stays ignored.
pub fn catch_interrupts() -> Result<&'static AtomicBool> {
    remove_names_at_signals()?;
    CATCHES.store(true, Ordering::SeqCst);
    Ok(&IS_CAUGHT)
}

/// After this call, SIGINT, SIGTERM and SIGHUP remove the process's lock files and temporary names
/// before they end it, and a file that grows beyond the limit of the process (`RLIMIT_FSIZE`) is an error of
/// the call that writes it, as on a full disk. Programs that are started do not inherit that. A parent
/// that ignores SIGCHLD no longer hides how they end.
pub fn remove_names_at_signals() -> Result<()> {
    if HANDLES.set(()).is_err() {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if !is_ignored(signal) {
            handle(signal).map_err(|source| Error::new("catch", "interrupts", source))?;
        }
    }
    if !is_ignored(SIGXFSZ) {
        outlive(SIGXFSZ).map_err(|source| Error::new("catch", "interrupts", source))?;
    }
    if is_ignored(SIGCHLD) {
        outlive(SIGCHLD).map_err(|source| Error::new("catch", "interrupts", source))?;
    }
    Ok(())
}

#[allow(unsafe_code)]
fn handle(signal: i32) -> io::Result<()> {
    let handler = move || {
        if CATCHES.load(Ordering::SeqCst) && !IS_CAUGHT.load(Ordering::SeqCst) {
            SIGNAL.store(signal, Ordering::SeqCst);
            IS_CAUGHT.store(true, Ordering::SeqCst);
        } else {
            remove_all();
            end_by_signal(signal);
        }
    };
    // SAFETY: the handler only reads and writes atomic numbers, calls unlink(2), and calls
    // functions that signal-hook documents as allowed in handlers.
    unsafe { signal_hook::low_level::register(signal, handler) }.map(drop)
}

/// Handles `signal` by doing nothing.
#[allow(unsafe_code)]
fn outlive(signal: i32) -> io::Result<()> {
    // SAFETY: the handler does nothing.
    unsafe { signal_hook::low_level::register(signal, || {}) }.map(drop)
}

/// The signal by which the user interrupted, if [`catch_interrupts`] was called before.
pub fn caught_signal() -> Option<i32> {
    Some(SIGNAL.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

/// Waits until a file is ready for reading or writing; fails if the user interrupts.
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

/// Ends the process as the signal for a closed pipe does, which the standard library ignores. Returns
/// only if that fails.
pub fn end_by_closed_pipe() {
    end_by_signal(libc::SIGPIPE);
}

/// Ends the process by `signal`, so that its parent sees that. Returns only if that fails.
pub fn end_by_signal(signal: i32) {
    // If it fails, the caller ends the process in another way.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

#[allow(unsafe_code)]
fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed, and the current action is written to a place of the right size.
    if unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call has succeeded, so the value is initialized.
    unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}
