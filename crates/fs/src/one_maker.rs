use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::{Error, FileKind, OutputFile, ReadFile, Result, Stat};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// So often something may come between finding a file and locking it.
const ATTEMPTS: u32 = 16;

/// Who makes a file.
#[derive(Debug)]
pub enum Making {
    /// This one, and nobody else as long as it has it open.
    Mine(OutputFile),
    /// Somebody else, up to now; this is what there is of it so far.
    Another(ReadFile),
}

impl OutputFile {
    /// Creates a file for `target` that others can read while it grows: until it is whole it has
    /// the name `partial`, in the same directory, and whoever makes it holds an exclusive lock of
    /// it (`flock(2)`), which ends with the process. What somebody left there who died is removed.
    ///
    /// # Errors
    /// Also if the file system has no such locks; nothing is left there then.
    pub fn create_for_all(target: &Path, partial: &Path) -> Result<Making> {
        let failed = |source| Error::new("create", partial, source);
        for _ in 0..ATTEMPTS {
            let (fd, is_own) = open(partial).map_err(failed)?;
            let is_free = match lock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Err(error) => {
                    // Nobody can have locked it, either. It is removed unless it holds something.
                    if size_if_named(&fd, partial).ok().flatten() == Some(0) {
                        let _ = rustix::fs::unlink(partial);
                    }
                    return Err(failed(error));
                }
                Ok(is_free) => is_free,
            };
            if !is_free {
                return Ok(Making::Another(ReadFile::from_fd(fd, partial.to_owned())));
            }
            match size_if_named(&fd, partial).map_err(failed)? {
                // Somebody finished or removed it in between.
                None => {}
                Some(0) if is_own => {
                    let file = OutputFile::from_named(fd, partial, target);
                    return Ok(Making::Mine(file));
                }
                // Others may be reading it still: it is not to be filled again.
                Some(_) => remove(partial).map_err(failed)?,
            }
        }
        Err(failed(io::ErrorKind::WouldBlock.into()))
    }

    /// Removes the file `partial` that nobody makes any more; false if somebody does.
    pub fn remove_abandoned(partial: &Path) -> Result<bool> {
        let file = ReadFile::open(partial)?;
        let failed = |source| Error::new("remove", partial, source);
        let is_free = lock(&file, FlockOperation::NonBlockingLockExclusive).map_err(failed)?;
        let is_named = size_if_named(&file, partial).map_err(failed)?.is_some();
        if is_free && is_named {
            remove(partial).map_err(failed)?;
        }
        Ok(is_free)
    }
}

impl ReadFile {
    /// Whether somebody makes it still, with [`OutputFile::create_for_all`].
    pub fn is_being_made(&self) -> Result<bool> {
        let failed = |source| Error::new("lock", self.path(), source);
        let is_free = lock(self, FlockOperation::NonBlockingLockShared).map_err(failed)?;
        if is_free {
            rustix::fs::flock(self, FlockOperation::Unlock)
                .map_err(|errno| failed(errno.into()))?;
        }
        Ok(!is_free)
    }
}

/// Opens or creates the file; whether it may be written, which may not be so of one that another
/// user left.
fn open(partial: &Path) -> io::Result<(OwnedFd, bool)> {
    obtain(|| try_open(partial))
}

fn try_open(partial: &Path) -> io::Result<(OwnedFd, bool)> {
    let flags = OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mode = Mode::from_raw_mode(0o666);
    fault::check(Op::Create)?;
    match rustix::fs::open(partial, flags | OFlags::RDWR | OFlags::CREATE, mode) {
        Ok(fd) => Ok((fd, true)),
        Err(Errno::ACCESS) => {
            let fd = rustix::fs::open(partial, flags | OFlags::RDONLY, mode)?;
            Ok((fd, false))
        }
        Err(errno) => Err(errno.into()),
    }
}

/// False if somebody else has a lock that excludes it.
fn lock(fd: impl AsFd, operation: FlockOperation) -> io::Result<bool> {
    match fault::check(Op::Lock).and_then(|()| Ok(rustix::fs::flock(fd, operation)?)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// The size in bytes of the open file, if `path` is still its name.
fn size_if_named(fd: impl AsFd, path: &Path) -> io::Result<Option<u64>> {
    let own = Stat::from_raw(&rustix::fs::fstat(fd)?);
    if own.kind != FileKind::File {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    match rustix::fs::lstat(path) {
        Ok(named) => {
            let named = Stat::from_raw(&named);
            let is_same = (named.dev, named.ino) == (own.dev, own.ino);
            Ok(is_same.then_some(own.size))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    fault::check(Op::Remove)?;
    match rustix::fs::unlink(path) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    fn mine(target: &Path, partial: &Path) -> OutputFile {
        match OutputFile::create_for_all(target, partial).unwrap() {
            Making::Mine(file) => file,
            Making::Another(_) => panic!("nobody else makes it"),
        }
    }

    fn anothers(target: &Path, partial: &Path) -> ReadFile {
        match OutputFile::create_for_all(target, partial).unwrap() {
            Making::Mine(_) => panic!("somebody makes it"),
            Making::Another(file) => file,
        }
    }

    #[test]
    fn one_makes_it_and_others_read_along() {
        let directory = tempfile::tempdir().unwrap();
        let (target, partial) = (directory.path().join("t"), directory.path().join("p"));
        let file = mine(&target, &partial);
        file.write_at(b"be", 0).unwrap();
        let follower = anothers(&target, &partial);
        assert!(follower.is_being_made().unwrap());
        assert!(!OutputFile::remove_abandoned(&partial).unwrap());
        file.write_at(b"gun", 2).unwrap();
        file.commit(true).unwrap();
        assert!(!follower.is_being_made().unwrap());
        let mut content = [0; 9];
        assert_eq!(follower.read_at(&mut content, 0).unwrap(), 5);
        assert_eq!(&content[..5], b"begun");
        assert_eq!(std::fs::read(&target).unwrap(), b"begun");
        assert!(!partial.exists());
    }

    #[test]
    fn what_the_dead_left_is_not_written_again() {
        let directory = tempfile::tempdir().unwrap();
        let (target, partial) = (directory.path().join("t"), directory.path().join("p"));
        std::fs::write(&partial, "left").unwrap();
        let left = ReadFile::open(&partial).unwrap();
        assert!(!left.is_being_made().unwrap());
        let file = mine(&target, &partial);
        file.write_at(b"new", 0).unwrap();
        let mut content = [0; 9];
        assert_eq!(left.read_at(&mut content, 0).unwrap(), 4);
        assert_eq!(&content[..4], b"left");
        drop(file);
        assert!(!partial.exists() && !target.exists());
        std::fs::write(&partial, "left").unwrap();
        assert!(OutputFile::remove_abandoned(&partial).unwrap());
        assert!(!partial.exists());
    }

    #[test]
    fn of_many_threads_one_makes_it() {
        let directory = tempfile::tempdir().unwrap();
        let (target, partial) = (directory.path().join("t"), directory.path().join("p"));
        let barrier = std::sync::Barrier::new(16);
        let (target, partial, barrier) = (&target, &partial, &barrier);
        let made = std::thread::scope(|scope| {
            let make = move || {
                barrier.wait();
                let making = OutputFile::create_for_all(target, partial).unwrap();
                // Whoever has it keeps it until all have asked.
                barrier.wait();
                matches!(making, Making::Mine(_))
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(make)).collect();
            let made = threads.into_iter().map(|thread| thread.join().unwrap());
            made.filter(|made| *made).count()
        });
        assert_eq!(made, 1);
    }
}
