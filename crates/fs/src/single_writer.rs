use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::private_dir::{check_file, PrivateDir, FILE_MODE, OPEN_TO_OTHERS};
use crate::{Error, OutputFile, ReadFile, Result, Stat};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FlockOperation, OFlags};
use rustix::io::Errno;
use std::io;

/// Number of attempts if the file is replaced between opening and locking it.
const ATTEMPTS: u32 = 16;

/// The role of this process for a file.
#[derive(Debug)]
pub enum Claim {
    /// This process writes the file, and no other one does while it is open.
    Writer(OutputFile),
    /// Another process was writing the file when it was checked; this is the file for reading the
    /// part written so far.
    Follower(ReadFile),
}

impl OutputFile {
    /// Creates the file `target` in `directory` so that others can read it while it grows: until it
    /// is complete it is called `partial`, and its writer holds an exclusive lock on it
    /// (`flock(2)`), which ends with the process. A file left by a writer that died is removed.
    ///
    /// # Errors
    /// Also if the file system does not support such locks; no file is left then.
    pub fn create_for_all(directory: &PrivateDir, target: &str, partial: &str) -> Result<Claim> {
        let failed = |source| Error::new("create", directory.path().join(partial), source);
        for _ in 0..ATTEMPTS {
            let fd = open(directory, partial).map_err(failed)?;
            let Some(fd) = fd else { continue };
            let is_free = match lock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Err(error) => {
                    // No other process can have locked it either. It is removed if it is empty.
                    if size_if_named(&fd, directory, partial).ok().flatten() == Some(0) {
                        let _ = rustix::fs::unlinkat(directory, partial, AtFlags::empty());
                    }
                    return Err(failed(error));
                }
                Ok(is_free) => is_free,
            };
            if !is_free {
                let path = directory.path().join(partial);
                return Ok(Claim::Follower(ReadFile::from_fd(fd, path)));
            }
            match size_if_named(&fd, directory, partial).map_err(failed)? {
                // Another process completed or removed it meanwhile.
                None => {}
                Some(0) => {
                    rustix::fs::fchmod(&fd, FILE_MODE).map_err(|errno| failed(errno.into()))?;
                    let file = OutputFile::from_named(directory, fd, partial, target);
                    return Ok(Claim::Writer(file));
                }
                // Other processes may still be reading it, so it must not be overwritten.
                Some(_) => remove(directory, partial).map_err(failed)?,
            }
        }
        Err(failed(io::ErrorKind::WouldBlock.into()))
    }

    /// Removes the file `partial` in `directory` if it has no writer; false if it has one. A file
    /// that [`PrivateDir::open_file`] refuses has no writer.
    pub fn remove_abandoned(directory: &PrivateDir, partial: &str) -> Result<bool> {
        let failed = |source| Error::new("remove", directory.path().join(partial), source);
        let file = match directory.open_file(partial) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return remove(directory, partial).map_err(failed).map(|()| true);
            }
            opened => opened?,
        };
        let is_free = lock(&file, FlockOperation::NonBlockingLockExclusive).map_err(failed)?;
        let is_named = size_if_named(&file, directory, partial).map_err(failed)?;
        if is_free && is_named.is_some() {
            remove(directory, partial).map_err(failed)?;
        }
        Ok(is_free)
    }
}

impl ReadFile {
    /// Whether a process is still writing it, with [`OutputFile::create_for_all`].
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

/// Opens or creates the file. Anything of that name that is not a private file is removed (`None`).
fn open(directory: &PrivateDir, partial: &str) -> io::Result<Option<OwnedFd>> {
    obtain(|| try_open(directory, partial))
}

fn try_open(directory: &PrivateDir, partial: &str) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    fault::check(Op::Create)?;
    match rustix::fs::openat(directory, partial, flags | OFlags::CLOEXEC, FILE_MODE) {
        Ok(fd) => {
            if check_file(&Stat::from_raw(&rustix::fs::fstat(&fd)?), OPEN_TO_OTHERS).is_ok() {
                return Ok(Some(fd));
            }
        }
        // A link, a device, or a file that is not writable.
        Err(Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::ACCESS) => {}
        Err(errno) => return Err(errno.into()),
    }
    remove(directory, partial).map(|()| None)
}

/// False if another process holds a conflicting lock.
fn lock(fd: impl AsFd, operation: FlockOperation) -> io::Result<bool> {
    match fault::check(Op::Lock).and_then(|()| Ok(rustix::fs::flock(fd, operation)?)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// The size of the open file in bytes, if it still has the name `name`.
fn size_if_named(fd: impl AsFd, directory: &PrivateDir, name: &str) -> io::Result<Option<u64>> {
    let own = Stat::from_raw(&rustix::fs::fstat(fd)?);
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => {
            let named = Stat::from_raw(&named);
            let is_same = (named.dev, named.ino) == (own.dev, own.ino);
            Ok(is_same.then_some(own.size))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn remove(directory: &PrivateDir, name: &str) -> io::Result<()> {
    fault::check(Op::Remove)?;
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use rustix::fs::Mode;
    use std::os::unix::fs::PermissionsExt;

    const TARGET: &str = "t";
    const PARTIAL: &str = "p";

    fn mine(directory: &PrivateDir) -> OutputFile {
        match OutputFile::create_for_all(directory, TARGET, PARTIAL).unwrap() {
            Claim::Writer(file) => file,
            Claim::Follower(_) => panic!("nobody else makes it"),
        }
    }

    fn anothers(directory: &PrivateDir) -> ReadFile {
        match OutputFile::create_for_all(directory, TARGET, PARTIAL).unwrap() {
            Claim::Writer(_) => panic!("somebody makes it"),
            Claim::Follower(file) => file,
        }
    }

    fn leave(directory: &PrivateDir) {
        let path = directory.path().join(PARTIAL);
        std::fs::write(&path, "left").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    #[test]
    fn one_makes_it_and_others_read_along() {
        let root = tempfile::tempdir().unwrap();
        let directory = PrivateDir::open_or_create(root.path()).unwrap();
        let file = mine(&directory);
        file.write_at(b"be", 0).unwrap();
        let follower = anothers(&directory);
        assert!(follower.is_being_made().unwrap());
        assert!(!OutputFile::remove_abandoned(&directory, PARTIAL).unwrap());
        file.write_at(b"gun", 2).unwrap();
        file.commit(true).unwrap();
        assert!(!follower.is_being_made().unwrap());
        let mut content = [0; 9];
        assert_eq!(follower.read_at(&mut content, 0).unwrap(), 5);
        assert_eq!(&content[..5], b"begun");
        assert_eq!(std::fs::read(root.path().join(TARGET)).unwrap(), b"begun");
        assert!(!root.path().join(PARTIAL).exists());
        assert_eq!(directory.stat(TARGET).unwrap().mode & 0o777, 0o600);
    }

    #[test]
    fn what_the_dead_left_is_not_written_again() {
        let root = tempfile::tempdir().unwrap();
        let directory = PrivateDir::open_or_create(root.path()).unwrap();
        leave(&directory);
        let left = directory.open_file(PARTIAL).unwrap();
        assert!(!left.is_being_made().unwrap());
        let file = mine(&directory);
        file.write_at(b"new", 0).unwrap();
        let mut content = [0; 9];
        assert_eq!(left.read_at(&mut content, 0).unwrap(), 4);
        assert_eq!(&content[..4], b"left");
        drop(file);
        assert!(directory.list().unwrap().is_empty());
        leave(&directory);
        assert!(OutputFile::remove_abandoned(&directory, PARTIAL).unwrap());
        assert!(directory.list().unwrap().is_empty());
    }

    #[test]
    fn what_is_no_private_file_gives_way() {
        let root = tempfile::tempdir().unwrap();
        let directory = PrivateDir::open_or_create(root.path()).unwrap();
        let path = root.path().join(PARTIAL);
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        let plant: [&dyn Fn(); 4] = [
            &|| std::os::unix::fs::symlink(elsewhere.path(), &path).unwrap(),
            &|| std::fs::hard_link(elsewhere.path(), &path).unwrap(),
            &|| {
                leave(&directory);
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
            },
            &|| {
                let mode = Mode::from_raw_mode(0o600);
                let fifo = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
            },
        ];
        for plant in plant {
            plant();
            let file = mine(&directory);
            file.write_at(b"own", 0).unwrap();
            drop(file);
            assert_eq!(elsewhere.as_file().metadata().unwrap().len(), 0);
            assert!(directory.list().unwrap().is_empty());
        }
    }

    #[test]
    fn of_many_threads_one_makes_it() {
        let root = tempfile::tempdir().unwrap();
        let directory = PrivateDir::open_or_create(root.path()).unwrap();
        let barrier = std::sync::Barrier::new(16);
        let (directory, barrier) = (&directory, &barrier);
        let made = std::thread::scope(|scope| {
            let make = move || {
                barrier.wait();
                let making = OutputFile::create_for_all(directory, TARGET, PARTIAL).unwrap();
                // The writer keeps the file until all threads have tried.
                barrier.wait();
                matches!(making, Claim::Writer(_))
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(make)).collect();
            let made = threads.into_iter().map(|thread| thread.join().unwrap());
            made.filter(|made| *made).count()
        });
        assert_eq!(made, 1);
    }
}
