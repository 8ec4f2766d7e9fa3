use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::private_dir::{check_file, FILE_MODE, WRITABLE_BY_OTHERS};
use crate::{is_missing, list_directory, Error, FileKind, Result, Stat, Timestamp};
use rustix::fd::OwnedFd;
use rustix::fs::{Access, AtFlags, Mode, OFlags, CWD};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The stat data of `path` without following a link; `None` if it does not exist.
pub fn lstat(path: &Path) -> Result<Option<Stat>> {
    optional(path, rustix::fs::lstat(path))
}

/// The stat data of `path`, following links; `None` if it does not exist.
pub fn stat(path: &Path) -> Result<Option<Stat>> {
    optional(path, rustix::fs::stat(path))
}

/// What tells whether a directory is the one it was, with the entries it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its kind.
    pub kind: FileKind,
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Time of the last content change.
    pub mtime: Timestamp,
    /// Time of the last status change.
    pub ctime: Timestamp,
}

impl From<&Stat> for Identity {
    fn from(stat: &Stat) -> Self {
        Identity {
            kind: stat.kind,
            dev: stat.dev,
            ino: stat.ino,
            mtime: stat.mtime,
            ctime: stat.ctime,
        }
    }
}

/// The stat data of what is at `path`; a link there is followed if `follow`. Fails with the system's
/// reason.
pub fn stat_path(path: &Path, follow: bool) -> io::Result<Stat> {
    fault::check(Op::Stat)?;
    let flags = if follow {
        AtFlags::empty()
    } else {
        AtFlags::SYMLINK_NOFOLLOW
    };
    Ok(Stat::from_raw(&rustix::fs::statat(CWD, path, flags)?))
}

/// The identity of what is at `path`; a link there is followed if `follow`. The time of the last access
/// is not asked for: after a listing, a network file system would have to ask its server for it.
pub fn identity(path: &Path, follow: bool) -> io::Result<Identity> {
    use rustix::fs::{makedev, statx, StatxFlags};
    fault::check(Op::Stat)?;
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MTIME | StatxFlags::CTIME;
    let flags = if follow {
        AtFlags::empty()
    } else {
        AtFlags::SYMLINK_NOFOLLOW
    };
    match statx(CWD, path, flags, wanted) {
        Ok(found) => {
            let time = |time: rustix::fs::StatxTimestamp| Timestamp {
                seconds: time.tv_sec,
                nanoseconds: time.tv_nsec,
            };
            Ok(Identity {
                kind: FileKind::from_raw(found.stx_mode.into()),
                dev: makedev(found.stx_dev_major, found.stx_dev_minor),
                ino: found.stx_ino,
                mtime: time(found.stx_mtime),
                ctime: time(found.stx_ctime),
            })
        }
        // A kernel before 4.11, or a sandbox that does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => {
            let raw = rustix::fs::statat(CWD, path, flags)?;
            Ok(Identity::from(&Stat::from_raw(&raw)))
        }
        Err(error) => Err(error.into()),
    }
}

fn optional(path: &Path, outcome: rustix::io::Result<rustix::fs::Stat>) -> Result<Option<Stat>> {
    match fault::check(Op::Stat).and_then(|()| Ok(outcome?)) {
        Ok(raw) => Ok(Some(Stat::from_raw(&raw))),
        Err(error) if is_missing(&error) => Ok(None),
        Err(source) => Err(Error::new("stat", path, source)),
    }
}

/// Whether this process may execute `path`, or search it if it is a directory.
pub fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// The first program called `name` in `path`, the value of `PATH`, that is not this one.
pub fn find_other_program(path: &OsStr, name: &str) -> Option<PathBuf> {
    let own = crate::own_program_stat().map(|own| (own.dev, own.ino));
    let mut programs = std::env::split_paths(path).map(|directory| directory.join(name));
    programs.find(|program| {
        let found = identity(program, true).ok();
        found.is_some_and(|found| Some((found.dev, found.ino)) != own) && is_executable(program)
    })
}

/// Creates the directory `path` and its missing parents.
pub fn create_directories(path: &Path) -> Result<()> {
    fault::check(Op::Mkdir)
        .and_then(|()| std::fs::create_dir_all(path))
        .map_err(|source| Error::new("create directory", path, why_no_directory(path, source)))
}

/// Where something is already, whether that is a directory may be what could not be found out: then that
/// is the reason.
fn why_no_directory(path: &Path, source: io::Error) -> io::Error {
    match std::fs::metadata(path) {
        Err(unasked) if source.kind() == io::ErrorKind::AlreadyExists && !is_missing(&unasked) => {
            unasked
        }
        _ => source,
    }
}

/// Creates the directory `path`; fails if there is anything already, or if its parent is missing.
pub fn create_directory(path: &Path) -> Result<()> {
    fault::check(Op::Mkdir)
        .and_then(|()| std::fs::create_dir(path))
        .map_err(|source| Error::new("create directory", path, source))
}

/// Creates a symbolic link at `path` to `target`; fails if there is anything already.
pub fn create_link(path: &Path, target: &Path) -> Result<()> {
    fault::check(Op::Symlink)
        .and_then(|()| Ok(rustix::fs::symlink(target, path)?))
        .map_err(|source| Error::new("create symlink", path, source))
}

/// Removes the directory `path` if it is empty, else fails.
pub fn remove_directory(path: &Path) -> Result<()> {
    fault::check(Op::Remove)
        .and_then(|()| Ok(rustix::fs::rmdir(path)?))
        .map_err(|source| Error::new("remove directory", path, source))
}

/// Renames `from` to `to`, which may be an empty directory if `from` is a directory.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fault::check(Op::Rename)
        .and_then(|()| Ok(rustix::fs::rename(from, to)?))
        .map_err(|source| Error::new("rename", from, source))
}

/// Sets the permission bits of `path` to `mode`; a link is followed.
pub fn set_permissions(path: &Path, mode: u32) -> Result<()> {
    fault::check(Op::Attribute)
        .and_then(|()| Ok(rustix::fs::chmod(path, Mode::from_raw_mode(mode & 0o7777))?))
        .map_err(|source| Error::new("change permissions of", path, source))
}

/// Sets the group of `path`; a link is followed.
pub fn set_group(path: &Path, group: u32) -> Result<()> {
    let group = Some(rustix::fs::Gid::from_raw(group));
    fault::check(Op::Attribute)
        .and_then(|()| Ok(rustix::fs::chown(path, None, group)?))
        .map_err(|source| Error::new("change the group of", path, source))
}

/// Sets the times of the file at `path` to now.
pub fn touch(path: &Path) -> Result<()> {
    let now = rustix::fs::Timespec {
        tv_sec: 0,
        tv_nsec: rustix::fs::UTIME_NOW,
    };
    let times = rustix::fs::Timestamps {
        last_access: now,
        last_modification: now,
    };
    fault::check(Op::Attribute)
        .and_then(|()| Ok(rustix::fs::utimensat(CWD, path, &times, AtFlags::empty())?))
        .map_err(|source| Error::new("set the time of", path, source))
}

/// Syncs the names in the directory `path` to disk. File systems that do not support this for
/// directories are ignored.
pub fn sync_directory(path: &Path) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let synced = fault::check(Op::Write).and_then(|()| {
        let fd = obtain(|| Ok(rustix::fs::open(path, flags, Mode::empty())?))?;
        match rustix::fs::fsync(&fd) {
            Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            other => Ok(other?),
        }
    });
    synced.map_err(|source| Error::new("sync", path, source))
}

/// Appends `content` to the file at `path` in one write, as needed for logs. Returns false and does
/// nothing if the file does not exist and `create` is false.
pub fn append_file(path: &Path, content: &[u8], create: bool) -> Result<bool> {
    let mut flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
    if create {
        flags |= OFlags::CREATE;
    }
    let opened = obtain(|| {
        fault::check(Op::Open)?;
        Ok(rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))?)
    });
    let fd = match opened {
        Err(error) if !create && error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(|source| Error::new("open", path, source))?,
    };
    write_and_close(fd, path, content)?;
    Ok(true)
}

/// Appends `content` in one write to the file at `path`. A missing file is created, readable only
/// by this user, regardless of the umask.
///
/// # Errors
/// Also if it is not a regular file of this user with a single name that only this user can write
/// to; a link is not followed.
pub fn append_private_file(path: &Path, content: &[u8]) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
    let opened = fault::check(Op::Open).and_then(|()| {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = rustix::fs::open(path, flags, FILE_MODE)?;
        check_file(
            &Stat::from_raw(&rustix::fs::fstat(&fd)?),
            WRITABLE_BY_OTHERS,
        )?;
        Ok(fd)
    });
    let fd = opened.map_err(|source| Error::new("open", path, source))?;
    write_and_close(fd, path, content)
}

fn write_and_close(fd: OwnedFd, path: &Path, content: &[u8]) -> Result<()> {
    let mut rest = content;
    while !rest.is_empty() {
        match fault::check(Op::Write).and_then(|()| Ok(rustix::io::write(&fd, rest)?)) {
            Ok(0) => return Err(Error::new("write", path, io::ErrorKind::WriteZero)),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::new("write", path, source)),
        }
    }
    fault::check(Op::Close)
        .and_then(|()| crate::dir::close(fd))
        .map_err(|source| Error::new("close", path, source))
}

/// Removes the file at `path`; returns false if it did not exist.
pub fn remove_file(path: &Path) -> Result<bool> {
    match fault::check(Op::Remove).and_then(|()| Ok(rustix::fs::unlink(path)?)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::new("remove", path, source)),
    }
}

/// Removes the directory at `path` and its subdirectories if they contain nothing else; a directory
/// that is not empty stays. Does nothing if `path` is not a directory.
pub fn remove_empty_directories(path: &Path) -> Result<()> {
    let is_directory = |stat: Stat| stat.kind == FileKind::Directory;
    if !lstat(path)?.is_some_and(is_directory) {
        return Ok(());
    }
    for entry in list_directory(path)?.unwrap_or_default() {
        remove_empty_directories(&path.join(OsStr::from_bytes(&entry.name)))?;
    }
    match fault::check(Op::Remove).and_then(|()| Ok(rustix::fs::rmdir(path)?)) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other.map_err(|source| Error::new("remove directory", path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_empty_directories_go() {
        let directory = std::env::temp_dir().join(format!("hedgerow-empty-{}", std::process::id()));
        create_directories(&directory.join("a/b/c")).unwrap();
        create_directories(&directory.join("a/d")).unwrap();
        std::fs::write(directory.join("a/d/file"), "").unwrap();
        remove_empty_directories(&directory.join("a/d/file")).unwrap();
        remove_empty_directories(&directory).unwrap();
        assert!(!directory.join("a/b").exists());
        assert!(directory.join("a/d/file").exists());
        std::fs::remove_file(directory.join("a/d/file")).unwrap();
        remove_empty_directories(&directory).unwrap();
        assert!(!directory.exists());
        remove_empty_directories(&directory).unwrap();
    }

    #[test]
    fn what_cannot_be_asked_whether_it_is_a_directory_tells_why() {
        let name = format!("hedgerow-circle-{}", std::process::id());
        let circle = std::env::temp_dir().join(name);
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        for path in [circle.clone(), circle.join("below")] {
            let error = create_directories(&path).unwrap_err();
            assert!(crate::is_unfollowed_link(&error.source), "{error}");
        }
        std::fs::remove_file(&circle).unwrap();
    }

    #[test]
    fn a_log_grows_only_where_it_exists_or_may_be_created() {
        let directory = std::env::temp_dir().join(format!("hedgerow-path-{}", std::process::id()));
        let nested = directory.join("a/b");
        create_directories(&nested).unwrap();
        let log = nested.join("log");
        assert!(!append_file(&log, b"one\n", false).unwrap());
        assert!(append_file(&log, b"one\n", true).unwrap());
        assert!(append_file(&log, b"two\n", false).unwrap());
        assert_eq!(std::fs::read(&log).unwrap(), b"one\ntwo\n");
        assert_eq!(stat(&log).unwrap().unwrap().size, 8);
        assert!(lstat(&log.join("below a file")).unwrap().is_none());
        assert!(is_executable(&nested));
        assert!(!is_executable(&log));
        sync_directory(&nested).unwrap();
        assert!(sync_directory(&log).is_err());
        assert!(remove_file(&log).unwrap());
        assert!(!remove_file(&log).unwrap());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_private_log_is_a_plain_file_of_its_own() {
        use std::os::unix::fs::{symlink, PermissionsExt};
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let log = path("log");
        append_private_file(&log, b"one\n").unwrap();
        append_private_file(&log, b"two\n").unwrap();
        assert_eq!(std::fs::read(&log).unwrap(), b"one\ntwo\n");
        let set_mode = |mode| {
            std::fs::set_permissions(&log, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        assert_eq!(stat(&log).unwrap().unwrap().mode & 0o777, 0o600);
        set_mode(0o620);
        assert!(append_private_file(&log, b"x").is_err());
        set_mode(0o640);
        append_private_file(&log, b"three\n").unwrap();
        symlink(&log, path("link")).unwrap();
        let fifo = rustix::fs::FileType::Fifo;
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), fifo, mode, 0).unwrap();
        for name in ["link", "fifo", "."] {
            assert!(append_private_file(&path(name), b"x").is_err(), "{name}");
        }
        std::fs::hard_link(&log, path("second")).unwrap();
        assert!(append_private_file(&log, b"x").is_err());
        assert_eq!(std::fs::read(&log).unwrap(), b"one\ntwo\nthree\n");
    }
}
