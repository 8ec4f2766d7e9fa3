use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::{Error, Result, Stat};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, RenameFlags, CWD};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A file `X.lock` that was created exclusively beside `X`, to be filled and renamed over it.
///
/// Dropped without [`LockFile::commit`] it removes itself, so that a failure leaves the old file
/// and no lock.
#[derive(Debug)]
pub struct LockFile {
    fd: Option<OwnedFd>,
    lock: PathBuf,
    target: PathBuf,
}

impl LockFile {
    /// Creates `target` + `.lock`. Fails with [`io::ErrorKind::AlreadyExists`] when another
    /// process holds it.
    pub fn acquire(target: &Path) -> Result<Self> {
        let mut lock = OsString::from(target);
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let fd = obtain(|| {
            fault::check(Op::Create)?;
            Ok(rustix::fs::open(&lock, flags, Mode::from_raw_mode(0o666))?)
        })
        .map_err(|source| Error::new("create", &lock, source))?;
        Ok(LockFile {
            fd: Some(fd),
            lock,
            target: target.to_owned(),
        })
    }

    /// Appends `content`.
    pub fn write_all(&mut self, mut content: &[u8]) -> Result<()> {
        let fd = self
            .fd
            .as_ref()
            .expect("a lock file is open until it is committed");
        while !content.is_empty() {
            match fault::check(Op::Write).and_then(|()| Ok(rustix::io::write(fd, content)?)) {
                Ok(count) => content = &content[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::new("write", &self.lock, source)),
            }
        }
        Ok(())
    }

    /// Gives the file the permission bits of `mode`, whatever the umask took.
    pub fn set_permissions(&self, mode: u32) -> Result<()> {
        let fd = self
            .fd
            .as_ref()
            .expect("a lock file is open until it is committed");
        rustix::fs::fchmod(fd, Mode::from_raw_mode(mode & 0o7777))
            .map_err(|source| Error::new("change permissions of", &self.lock, source))
    }

    /// Makes the content durable before it is renamed into place.
    pub fn sync(&self) -> Result<()> {
        let fd = self
            .fd
            .as_ref()
            .expect("a lock file is open until it is committed");
        rustix::fs::fsync(fd).map_err(|source| Error::new("sync", &self.lock, source))
    }

    /// Closes the file and renames it over the target, atomically. Returns the state of the file
    /// as it was right before the rename.
    pub fn commit(mut self) -> Result<Stat> {
        let fd = self
            .fd
            .take()
            .expect("a lock file is open until it is committed");
        let outcome = fault::check(Op::Close)
            .and_then(|()| Ok(Stat::from_raw(&rustix::fs::fstat(&fd)?)))
            .map_err(|source| Error::new("close", &self.lock, source));
        drop(fd);
        let renamed = outcome.and_then(|stat| {
            fault::check(Op::Rename)
                .and_then(|()| Ok(rustix::fs::rename(&self.lock, &self.target)?))
                .map_err(|source| Error::new("rename", &self.lock, source))?;
            Ok(stat)
        });
        if renamed.is_err() {
            self.remove();
        }
        self.lock = PathBuf::new();
        renamed
    }

    /// As [`LockFile::commit`], but fails with [`io::ErrorKind::AlreadyExists`] if there is a
    /// target, also one that appeared just now. The target is left alone then.
    pub fn commit_new(mut self) -> Result<()> {
        let renamed = fault::check(Op::Rename).and_then(|()| {
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(CWD, &self.lock, CWD, &self.target, flags) {
                // Not every file system can: a second name that must be new does the same.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::link(&self.lock, &self.target)?;
                    Ok(rustix::fs::unlink(&self.lock)?)
                }
                renamed => Ok(renamed?),
            }
        });
        let renamed = renamed.map_err(|source| Error::new("create", &self.target, source));
        if renamed.is_ok() {
            self.fd = None;
        }
        renamed
    }

    fn remove(&mut self) {
        // Nothing is left to do for a lock that cannot be removed: the caller's error is told.
        let _ = rustix::fs::unlink(&self.lock);
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if self.fd.take().is_some() {
            self.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    #[test]
    fn a_new_file_never_replaces_another() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        let lock = directory.path().join("target.lock");
        for (content, is_new) in [("first", true), ("second", false)] {
            let mut file = LockFile::acquire(&target).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            match file.commit_new() {
                Ok(()) => assert!(is_new),
                Err(error) => {
                    assert!(!is_new && error.kind() == io::ErrorKind::AlreadyExists);
                    assert_eq!(error.path, target);
                }
            }
            assert_eq!(std::fs::read(&target).unwrap(), b"first");
            assert!(!lock.exists());
        }
    }
}
