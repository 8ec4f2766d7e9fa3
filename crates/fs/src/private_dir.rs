use crate::dir::list;
use crate::fault::{self, Op};
use crate::{effective_uid, lstat, DirEntry, Error, FileKind, ReadFile, Result, Stat};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The permissions of the files in a private directory.
pub(crate) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const DIRECTORY_MODE: u32 = 0o700;
/// Permission bits that let others write.
pub(crate) const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Permission bits that let others do anything.
pub(crate) const OPEN_TO_OTHERS: u32 = 0o077;

/// A directory that only this user can write to. Its files are not accessible to others, regardless
/// of the umask; files that others could have written, or that are not regular files, are not
/// opened.
///
/// All operations are relative to the open directory: renaming a directory above it cannot redirect
/// later calls.
#[derive(Clone, Debug)]
pub struct PrivateDir {
    fd: Arc<OwnedFd>,
    path: PathBuf,
}

impl PrivateDir {
    /// Opens the directory at `path`; missing directories on the way are created.
    ///
    /// # Errors
    /// Also if it is a symbolic link, belongs to another user, or is writable by others.
    pub fn open_or_create(path: &Path) -> Result<Self> {
        // A trailing slash would follow a link.
        let path: PathBuf = path.components().collect();
        let failed = |operation| {
            let path = path.clone();
            move |source| Error::new(operation, path, source)
        };
        let (fd, is_new) = match open_directory(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(&path).map_err(failed("create directory"))?;
                (open_directory(&path).map_err(failed("open"))?, true)
            }
            opened => (opened.map_err(failed("open"))?, false),
        };
        let directory = PrivateDir {
            fd: Arc::new(fd),
            path: path.clone(),
        };
        directory.check(is_new).map_err(failed("use"))?;
        Ok(directory)
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the exclusive lock on the directory (`flock(2)`), which ends with the last copy of this value.
    /// False if another process has it, or if the directory was removed or replaced meanwhile.
    ///
    /// # Errors
    /// Also if the file system does not support such locks.
    pub fn try_lock(&self) -> Result<bool> {
        let failed = |source| Error::new("lock", &self.path, source);
        let is_free = fault::check(Op::Lock).and_then(|()| {
            let operation = FlockOperation::NonBlockingLockExclusive;
            match rustix::fs::flock(&*self.fd, operation) {
                Err(Errno::WOULDBLOCK) => Ok(false),
                done => Ok(done.map(|()| true)?),
            }
        });
        let own = rustix::fs::fstat(&*self.fd).map_err(|errno| failed(errno.into()))?;
        let named = lstat(&self.path)?;
        let is_named =
            named.is_some_and(|named| (named.dev, named.ino) == (own.st_dev, own.st_ino));
        Ok(is_free.map_err(failed)? && is_named)
    }

    /// Opens the file `name` for reading.
    ///
    /// # Errors
    /// Also unless it is a regular file of this user with a single name and without permissions for
    /// others. Opening never blocks.
    pub fn open_file(&self, name: &str) -> Result<ReadFile> {
        let opened = fault::check(Op::Open).and_then(|()| {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let fd = rustix::fs::openat(&*self.fd, name, flags, Mode::empty())?;
            check_file(&Stat::from_raw(&rustix::fs::fstat(&fd)?), OPEN_TO_OTHERS)?;
            Ok(fd)
        });
        let path = self.path.join(name);
        match opened {
            Ok(fd) => Ok(ReadFile::from_fd(fd, path)),
            Err(source) => Err(Error::new("open", path, source)),
        }
    }

    /// Its entries in the file system's order.
    pub fn list(&self) -> Result<Vec<DirEntry>> {
        let listed = fault::check(Op::Open).and_then(|()| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            list(&rustix::fs::openat(&*self.fd, ".", flags, Mode::empty())?)
        });
        listed.map_err(|source| Error::new("list", &self.path, source))
    }

    /// The stat data of `name`; a link is not followed.
    pub fn stat(&self, name: &str) -> Result<Stat> {
        let found = fault::check(Op::Stat).and_then(|()| {
            let raw = rustix::fs::statat(&*self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(Stat::from_raw(&raw))
        });
        found.map_err(|source| Error::new("stat", self.path.join(name), source))
    }

    /// Removes `name`, which must not be a directory.
    pub fn remove(&self, name: &str) -> Result<()> {
        let removed = fault::check(Op::Remove)
            .and_then(|()| Ok(rustix::fs::unlinkat(&*self.fd, name, AtFlags::empty())?));
        removed.map_err(|source| Error::new("remove", self.path.join(name), source))
    }

    pub(crate) fn descriptor(&self) -> &Arc<OwnedFd> {
        &self.fd
    }

    fn check(&self, is_new: bool) -> io::Result<()> {
        if is_new {
            rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(DIRECTORY_MODE))?;
        }
        fault::check(Op::Stat)?;
        let stat = Stat::from_raw(&rustix::fs::fstat(&self.fd)?);
        if stat.uid != effective_uid() {
            return Err(refused("it belongs to another user"));
        }
        if stat.mode & WRITABLE_BY_OTHERS != 0 {
            return Err(refused("others may write to it"));
        }
        Ok(())
    }
}

impl AsFd for PrivateDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Refuses a file that another user may have written, or that has one of the permissions in
/// `refused_mode`. A file without a name cannot have been planted: it was removed meanwhile.
pub(crate) fn check_file(stat: &Stat, refused_mode: u32) -> io::Result<()> {
    if stat.kind != FileKind::File {
        return Err(refused("it is no regular file"));
    }
    if stat.uid != effective_uid() {
        return Err(refused("it belongs to another user"));
    }
    if stat.mode & refused_mode != 0 {
        return Err(refused("it is open to others"));
    }
    if stat.nlink > 1 {
        return Err(refused("it has another name"));
    }
    Ok(())
}

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fault::check(Op::Open)?;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn create(path: &Path) -> io::Result<()> {
    fault::check(Op::Mkdir)?;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(DIRECTORY_MODE).create(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use std::os::unix::fs::{symlink, PermissionsExt};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn reason(refused: Result<impl Sized>) -> String {
        match refused {
            Ok(_) => panic!("it is accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn it_is_made_for_this_user_only() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("above/cache");
        PrivateDir::open_or_create(&path).unwrap();
        assert_eq!(
            (mode(&path), mode(&root.path().join("above"))),
            (0o700, 0o700)
        );
        PrivateDir::open_or_create(&path.join(".")).unwrap();
    }

    #[test]
    fn one_that_others_may_change_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("cache");
        std::fs::create_dir(&path).unwrap();
        for (bits, accepted) in [
            (0o755, true),
            (0o775, false),
            (0o1777, false),
            (0o702, false),
        ] {
            set_mode(&path, bits);
            let opened = PrivateDir::open_or_create(&path);
            assert_eq!(opened.is_ok(), accepted, "{bits:o}");
        }
        set_mode(&path, 0o700);
        let link = root.path().join("link");
        symlink(&path, &link).unwrap();
        for link in [link.clone(), link.join(""), link.join(".")] {
            let reason = reason(PrivateDir::open_or_create(&link));
            assert!(reason.starts_with("cannot open"), "{reason}");
        }
    }

    #[test]
    fn only_plain_private_files_are_opened() {
        let root = tempfile::tempdir().unwrap();
        let directory = PrivateDir::open_or_create(root.path()).unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::write(path("open"), "x").unwrap();
        set_mode(&path("open"), 0o644);
        assert!(reason(directory.open_file("open")).contains("open to others"));
        set_mode(&path("open"), 0o600);
        directory.open_file("open").unwrap();
        std::fs::hard_link(path("open"), path("second")).unwrap();
        assert!(reason(directory.open_file("open")).contains("another name"));
        symlink("open", path("link")).unwrap();
        std::fs::create_dir(path("directory")).unwrap();
        let fifo = (rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), fifo.0, fifo.1, 0).unwrap();
        for name in ["link", "directory", "fifo"] {
            assert!(directory.open_file(name).is_err(), "{name}");
        }
    }
}
