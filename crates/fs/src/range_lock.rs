//! A lock on a part of a file, which ends with the process: F_OFD_SETLK of fcntl(2).

use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::{Error, ReadFile, Result};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Pause between two attempts to take a lock that is held.
const PAUSE: Duration = Duration::from_millis(10);

/// A lock on one byte of a file. The byte need not exist, so that one empty file can hold the locks
/// of any number of things, and nothing is left of a process that was killed.
#[derive(Debug)]
pub struct RangeLock {
    file: OwnedFd,
    at: u64,
    /// The process that took it; a copy of it that was forked holds the same lock.
    process: u32,
}

impl RangeLock {
    /// Locks the byte `at` of the file `path`, which is created if it is missing; waits while
    /// another one holds it. `None` if `is_cancelled` meanwhile.
    pub fn acquire(path: &Path, at: u64, is_cancelled: &dyn Fn() -> bool) -> Result<Option<Self>> {
        let file = open(path)?;
        loop {
            if try_lock(&file, at).map_err(|source| Error::new("lock", path, source))? {
                let process = std::process::id();
                return Ok(Some(RangeLock { file, at, process }));
            }
            if is_cancelled() {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for RangeLock {
    /// Unlocks it at once. Closing the file is not enough: a process that is just being started has it open until
    /// its program is loaded.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // If this fails, the lock ends when the file is closed everywhere.
            let _ = set_lock(&self.file, self.at, libc::F_UNLCK);
        }
    }
}

/// Readers mark that they use a file by a lock on this byte, which lies behind any content.
const USE_AT: libc::off_t = libc::off_t::MAX - 1;

impl ReadFile {
    /// Marks that the file is in use, until it is closed; see [`ReadFile::is_in_use`].
    ///
    /// # Errors
    /// If the file system has no such locks.
    pub fn mark_use(&self) -> Result<()> {
        let mark = &mut one_byte(USE_AT, libc::F_RDLCK);
        control(self, libc::F_OFD_SETLK, mark)
            .map_err(|source| Error::new("lock", self.path(), source))
    }

    /// Whether somebody else has it open and marked so; this value's own mark does not count.
    ///
    /// # Errors
    /// If the file system has no such locks.
    pub fn is_in_use(&self) -> Result<bool> {
        let found = &mut one_byte(USE_AT, libc::F_WRLCK);
        control(self, libc::F_OFD_GETLK, found)
            .map_err(|source| Error::new("lock", self.path(), source))?;
        Ok(found.l_type != libc::F_UNLCK as libc::c_short)
    }
}

fn open(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    obtain(|| {
        fault::check(Op::Open)?;
        Ok(rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))?)
    })
    .map_err(|source| Error::new("open", path, source))
}

/// Whether the lock is ours now; false if another one holds it.
fn try_lock(file: &OwnedFd, at: u64) -> io::Result<bool> {
    fault::check(Op::Lock)?;
    match set_lock(file, at, libc::F_WRLCK) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => Ok(false),
        Err(error) => Err(error),
    }
}

fn set_lock(file: &OwnedFd, at: u64, kind: libc::c_int) -> io::Result<()> {
    let lock = &mut one_byte((at >> 1) as libc::off_t, kind);
    control(file, libc::F_OFD_SETLK, lock)
}

#[allow(unsafe_code)]
fn one_byte(at: libc::off_t, kind: libc::c_int) -> libc::flock {
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = at;
    lock.l_len = 1;
    lock
}

#[allow(unsafe_code)]
fn control(file: impl AsFd, command: libc::c_int, lock: &mut libc::flock) -> io::Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open, and the structure lives until the call returns.
    match unsafe { libc::fcntl(file, command, &raw mut *lock) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_locked_for_others_and_its_neighbours_are_not() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("locks");
        let held = RangeLock::acquire(&path, 10, &|| false).unwrap();
        assert!(held.is_some());
        assert!(RangeLock::acquire(&path, 10, &|| true).unwrap().is_none());
        assert!(RangeLock::acquire(&path, 20, &|| true).unwrap().is_some());
        drop(held);
        assert!(RangeLock::acquire(&path, 10, &|| true).unwrap().is_some());
    }

    #[test]
    fn a_file_is_in_use_while_a_reader_that_marked_it_has_it_open() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        std::fs::write(&path, "content").unwrap();
        let (asking, reader) = (
            ReadFile::open(&path).unwrap(),
            ReadFile::open(&path).unwrap(),
        );
        assert!(!asking.is_in_use().unwrap());
        reader.mark_use().unwrap();
        assert!(asking.is_in_use().unwrap());
        assert!(!reader.is_in_use().unwrap(), "its own mark does not count");
        asking.mark_use().unwrap();
        drop(reader);
        assert!(!asking.is_in_use().unwrap());
    }
}
