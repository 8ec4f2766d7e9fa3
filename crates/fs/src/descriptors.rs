//! File descriptors: their limit, and waiting when none is left.
//!
//! Every call of this crate that opens one goes through [`obtain`]. If a process with many threads
//! runs out of them, waiting helps: other threads close theirs.

use crate::interrupt::caught_signal;
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// With at least this limit, the few descriptors already open need not be counted.
const PLENTY: u64 = 1024;
/// How long a call waits for others to close a descriptor, including the time that it waits behind
/// other calls.
const PATIENCE: Duration = Duration::from_secs(2);
/// First and longest pause between two attempts of a waiting call.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Number of calls that found no descriptor.
static SHORTAGES: AtomicU64 = AtomicU64::new(0);
/// The last wait was in vain, so later calls do not wait as long.
static IN_VAIN: AtomicBool = AtomicBool::new(false);
/// Held by the one call that retries; other calls without a descriptor wait behind it.
static TURN: Mutex<()> = Mutex::new(());
/// The limits before [`raise_descriptor_limit`] changed them, if it did.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Maximum number of open descriptors of this process: the soft limit of getrlimit(2).
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Approximate number of descriptors that can still be opened. If the limit is 1,024 or more, the
/// open ones are not subtracted.
pub fn free_descriptors() -> u64 {
    let limit = descriptor_limit();
    if limit >= PLENTY {
        limit
    } else {
        // Without `/proc`: assumes the standard streams, and a few files of the repository.
        limit.saturating_sub(count_open().unwrap_or(16))
    }
}

/// Raises a soft limit below 1,024 to that number, or to the hard limit if that is lower. Programs
/// that are started later get the original limit.
pub fn raise_descriptor_limit() {
    let found = getrlimit(Resource::Nofile);
    let Some(current) = found.current.filter(|current| *current < PLENTY) else {
        return;
    };
    let wanted = found.maximum.unwrap_or(PLENTY).min(PLENTY);
    let raised = Rlimit {
        current: Some(wanted),
        ..found
    };
    // If it cannot be raised, fewer workers run.
    if wanted > current && setrlimit(Resource::Nofile, raised).is_ok() {
        // It is set nowhere else.
        let _ = INHERITED.set(found);
    }
}

/// Number of calls since the start of the process that found no descriptor. If this grows, a user
/// of many threads should use fewer.
pub fn descriptor_shortages() -> u64 {
    SHORTAGES.load(Ordering::Relaxed)
}

/// Makes a program that is started later run with the original limit.
#[allow(unsafe_code)]
pub(crate) fn restore_limit_for(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    let Some(inherited) = INHERITED.get() else {
        return;
    };
    let restore = move || Ok(setrlimit(Resource::Nofile, *inherited)?);
    // SAFETY: between fork and exec, this makes one system call and does not allocate.
    unsafe { command.pre_exec(restore) };
}

/// Makes a call that opens a descriptor. If none is left, in this process or in the system, waits
/// for others to close some and repeats the call. A call interrupted by a signal, which network
/// file systems allow, is repeated at once unless the user has interrupted the process.
///
/// # Errors
/// Those of `call`; the lack of descriptors, if it lasts for a few seconds.
pub(crate) fn obtain<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if is_shortage(&error) => {
                SHORTAGES.fetch_add(1, Ordering::Relaxed);
                return wait_for_others(call);
            }
            Err(error)
                if error.kind() == io::ErrorKind::Interrupted && caught_signal().is_none() => {}
            done => return done,
        }
    }
}

#[cold]
fn wait_for_others<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let patience = if IN_VAIN.load(Ordering::Relaxed) {
        Duration::ZERO
    } else {
        PATIENCE
    };
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
        let done = call();
        let is_short = matches!(&done, Err(error) if is_shortage(error));
        if !is_short || began.elapsed() >= patience {
            IN_VAIN.store(is_short, Ordering::Relaxed);
            return done;
        }
    }
}

/// Whether the reason is that this process, or the system, has no descriptor left.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let shortages = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    error
        .raw_os_error()
        .is_some_and(|errno| shortages.contains(&errno))
}

/// Number of open descriptors of this process.
fn count_open() -> Option<u64> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open("/proc/self/fd", flags, Mode::empty()).ok()?;
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut listing = RawDir::new(&directory, &mut buffer);
    let mut entries: u64 = 0;
    while let Some(entry) = listing.next() {
        entry.ok()?;
        entries += 1;
    }
    // Without `.`, `..` and the descriptor opened for counting.
    Some(entries.saturating_sub(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_repeated_until_there_is_a_descriptor() {
        for errno in [24, 23] {
            let before = descriptor_shortages();
            let mut calls = 0;
            let obtained = obtain(|| {
                calls += 1;
                match calls {
                    1..4 => Err(io::Error::from_raw_os_error(errno)),
                    _ => Ok(calls),
                }
            });
            assert_eq!(obtained.unwrap(), 4);
            assert_eq!(descriptor_shortages(), before + 1);
        }
    }

    #[test]
    fn another_error_is_told_at_once() {
        let mut calls = 0;
        let failed = obtain(|| -> io::Result<()> {
            calls += 1;
            Err(io::Error::from_raw_os_error(13))
        });
        assert_eq!(failed.unwrap_err().raw_os_error(), Some(13));
        assert_eq!(calls, 1);
    }

    #[test]
    fn open_descriptors_are_counted() {
        let before = count_open().unwrap();
        let held: Vec<_> = (0..40)
            .map(|_| crate::ReadFile::open("/proc/self/stat".as_ref()).unwrap())
            .collect();
        // Other tests of this process open and close descriptors meanwhile.
        assert!(count_open().unwrap() + 20 > before + held.len() as u64);
        assert!(free_descriptors() <= descriptor_limit());
    }
}
