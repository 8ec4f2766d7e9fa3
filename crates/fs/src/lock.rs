use crate::descriptors::obtain;
use crate::destination::refuse_to_replace;
use crate::dir::close;
use crate::fault::{self, Op};
use crate::file::read_link;
use crate::held_name::HeldName;
use crate::{Error, Result, Stat};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, RenameFlags, CWD};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// First and longest pause before another attempt to take a lock that is held.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Links to links are followed this far.
const LINK_DEPTH: usize = 5;

/// The locks that were dropped and are still there.
static LEFT: Mutex<Vec<Error>> = Mutex::new(Vec::new());

/// Why locks that were dropped, since the last call, could not be removed. They keep everybody out,
/// so whoever ends the process has to tell of them; dropping has no other way to fail.
pub fn left_locks() -> Vec<Error> {
    std::mem::take(&mut *left())
}

/// Runs `work`, and takes the locks that were left while it ran out of what [`left_locks`] tells: for
/// work whose locks matter less than its result. Those that were left before stay.
pub fn left_locks_of<T>(work: impl FnOnce() -> T) -> (T, Vec<Error>) {
    let count = left().len();
    let result = work();
    let mut left = left();
    let count = count.min(left.len());
    (result, left.split_off(count))
}

fn left() -> MutexGuard<'static, Vec<Error>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file `X.lock` that was created exclusively next to `X`, to be filled and renamed over it.
///
/// If dropped without [`LockFile::commit`] it is removed, so that a failure leaves the old file and
/// no lock; signals remove it as well, see
/// [`remove_names_at_signals`](crate::remove_names_at_signals).
#[derive(Debug)]
pub struct LockFile {
    fd: Option<OwnedFd>,
    lock: PathBuf,
    _held: HeldName,
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
            _held: HeldName::new(&lock),
            lock,
            target: target.to_owned(),
        })
    }

    /// Like [`LockFile::acquire`], for what symbolic links at `target` lead to: that file is replaced, not
    /// they, as by git.
    pub fn acquire_linked(target: &Path) -> Result<Self> {
        Self::acquire(&behind_links(target))
    }

    /// Like [`LockFile::acquire`], but waits while another process holds the lock: up to `limit`,
    /// or without a limit until `is_cancelled`. The pauses between attempts grow.
    pub fn acquire_within(
        target: &Path,
        limit: Option<Duration>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let held = match Self::acquire(target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => error,
                outcome => return outcome,
            };
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            if is_cancelled() || left.is_some_and(|left| left.is_zero()) {
                return Err(held);
            }
            std::thread::sleep(left.map_or(pause, |left| pause.min(left)));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The permission bits of the lock file.
    pub fn permissions(&self) -> Result<u32> {
        let fd = self
            .fd
            .as_ref()
            .expect("a lock file is open until it is committed");
        let stat = fault::check(Op::Stat).and_then(|()| Ok(rustix::fs::fstat(fd)?));
        stat.map(|stat| stat.st_mode & 0o7777)
            .map_err(|source| Error::new("stat", &self.lock, source))
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

    /// Sets the permission bits of the file to `mode`, regardless of the umask.
    pub fn set_permissions(&self, mode: u32) -> Result<()> {
        let fd = self
            .fd
            .as_ref()
            .expect("a lock file is open until it is committed");
        rustix::fs::fchmod(fd, Mode::from_raw_mode(mode & 0o7777))
            .map_err(|source| Error::new("change permissions of", &self.lock, source))
    }

    /// Syncs the content to disk before it is renamed into place.
    pub fn sync(&self) -> Result<()> {
        let fd = self
            .fd
            .as_ref()
            .expect("a lock file is open until it is committed");
        rustix::fs::fsync(fd).map_err(|source| Error::new("sync", &self.lock, source))
    }

    /// Closes the file and renames it over the target atomically. A device, a fifo or a socket is
    /// never replaced, and nothing is if closing fails: then some of the content may be lost. Returns the
    /// stat data of the file from right before it was closed.
    pub fn commit(mut self) -> Result<Stat> {
        let fd = self
            .fd
            .take()
            .expect("a lock file is open until it is committed");
        let outcome = rustix::fs::fstat(&fd)
            .map_err(io::Error::from)
            .and_then(|raw| {
                fault::check(Op::Close)?;
                close(fd)?;
                Ok(Stat::from_raw(&raw))
            })
            .map_err(|source| Error::new("close", &self.lock, source));
        let renamed = outcome.and_then(|stat| {
            fault::check(Op::Rename)
                .and_then(|()| refuse_to_replace(&self.target))
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

    /// Like [`LockFile::commit`], but fails with [`io::ErrorKind::AlreadyExists`] if the target
    /// exists, even if it was created just now. The target is then left alone.
    pub fn commit_new(mut self) -> Result<()> {
        let closed = fault::check(Op::Close).and_then(|()| self.fd.take().map_or(Ok(()), close));
        if let Err(source) = closed {
            self.remove();
            return Err(Error::new("close", &self.lock, source));
        }
        let renamed = fault::check(Op::Rename).and_then(|()| {
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(CWD, &self.lock, CWD, &self.target, flags) {
                // Not every file system supports this flag: a hard link, which fails if the name
                // exists, does the same.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::link(&self.lock, &self.target)?;
                    Ok(rustix::fs::unlink(&self.lock)?)
                }
                renamed => Ok(renamed?),
            }
        });
        let renamed = renamed.map_err(|source| Error::new("create", &self.target, source));
        if renamed.is_err() {
            self.remove();
        }
        renamed
    }

    /// Releases the lock; the target stays unchanged. Fails if the lock file cannot be removed,
    /// which keeps other processes out from then on.
    pub fn release(mut self) -> Result<()> {
        self.fd = None;
        fault::check(Op::Remove)
            .and_then(|()| Ok(rustix::fs::unlink(&self.lock)?))
            .map_err(|source| Error::new("remove", &self.lock, source))
    }

    fn remove(&mut self) {
        match rustix::fs::unlink(&self.lock) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => {
                let error = Error::new("remove", &self.lock, io::Error::from(error));
                left().push(error);
            }
        }
    }
}

/// What the symbolic links at `path` lead to, as far as git follows them.
pub fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINK_DEPTH {
        let Ok(target) = read_link(&path) else { break };
        path = match path.parent() {
            Some(above) => above.join(target),
            None => target,
        };
    }
    path
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
    fn a_lock_that_cannot_be_removed_is_told_of() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("index");
        LockFile::acquire(&target).unwrap().release().unwrap();
        let held = LockFile::acquire(&target).unwrap();
        std::fs::remove_file(directory.path().join("index.lock")).unwrap();
        let error = held.release().unwrap_err();
        assert!(error.to_string().starts_with("cannot remove '"), "{error}");
        assert!(!target.exists());
        let dropped = LockFile::acquire(&target).unwrap();
        let lock = directory.path().join("index.lock");
        std::fs::remove_file(&lock).unwrap();
        std::fs::create_dir(&lock).unwrap();
        drop(dropped);
        let other = directory.path().join("other");
        let ((), later) = left_locks_of(|| {
            let dropped = LockFile::acquire(&other).unwrap();
            let lock = directory.path().join("other.lock");
            std::fs::remove_file(&lock).unwrap();
            std::fs::create_dir(&lock).unwrap();
            drop(dropped);
        });
        let names = |left: Vec<Error>, name: &Path| {
            let left: Vec<String> = left.iter().map(Error::to_string).collect();
            left.iter()
                .any(|error| error.contains(name.to_str().unwrap()))
        };
        assert!(names(later, &other));
        let left = left_locks();
        assert!(names(left, &lock), "what was left before stays to be told");
    }

    #[test]
    fn links_to_a_file_stay() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        std::fs::create_dir(place("d")).unwrap();
        std::os::unix::fs::symlink("link", place("first")).unwrap();
        std::os::unix::fs::symlink("d/file", place("link")).unwrap();
        let mut file = LockFile::acquire_linked(&place("first")).unwrap();
        assert!(place("d/file.lock").exists());
        file.write_all(b"content").unwrap();
        file.commit().unwrap();
        assert!(place("first").is_symlink() && place("link").is_symlink());
        assert_eq!(std::fs::read(place("d/file")).unwrap(), b"content");
        std::os::unix::fs::symlink("loop", place("loop")).unwrap();
        assert_eq!(behind_links(&place("loop")), place("loop"));
    }

    #[test]
    fn a_lock_is_waited_for_as_long_as_wanted() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        let wait = |limit| LockFile::acquire_within(&target, limit, &|| false);
        let held = LockFile::acquire(&target).unwrap();
        for limit in [Duration::ZERO, Duration::from_millis(20)] {
            let started = Instant::now();
            let error = wait(Some(limit)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert!(started.elapsed() >= limit);
        }
        assert!(LockFile::acquire_within(&target, None, &|| true).is_err());
        let holder = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(held);
        });
        assert!(wait(None).is_ok());
        holder.join().unwrap();
    }

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
