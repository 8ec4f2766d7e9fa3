//! The metadata of an entry: owner, permissions, modification time, extended attributes.

use crate::descriptors::obtain;
use crate::dir::{one_component, open_beneath};
use crate::fault::{self, Op};
use crate::proc_file::{read_proc_file, through_proc};
use crate::{Dir, Error, NewFile, Result, Timestamp};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags, CWD};
use rustix::fs::{UTIME_NOW, UTIME_OMIT};
use std::io;
use std::path::{Path, PathBuf};

/// Sets the attributes of an open entry, so that it cannot affect another entry.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'f> {
    fd: BorrowedFd<'f>,
    /// Whether it was opened with `O_PATH`, so that most calls refuse it.
    is_path: bool,
}

/// An entry of any kind, opened to set its attributes.
#[derive(Debug)]
pub struct OpenNode {
    fd: OwnedFd,
    is_path: bool,
}

impl OpenNode {
    /// Sets its attributes.
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes {
            fd: self.fd.as_fd(),
            is_path: self.is_path,
        }
    }
}

impl NewFile {
    /// Sets its attributes.
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes {
            fd: self.as_fd(),
            is_path: false,
        }
    }
}

impl Dir {
    /// Opens the entry `name` of this directory, of any kind; a symbolic link is not followed.
    pub fn open_node(&self, name: &[u8]) -> Result<OpenNode> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = obtain(|| {
            one_component(name)?;
            fault::check(Op::Open)?;
            let opened = rustix::fs::openat(self.as_fd(), name, flags, Mode::empty());
            Ok(opened?)
        });
        match opened {
            Ok(fd) => Ok(OpenNode { fd, is_path: true }),
            Err(source) => Err(Error::new("open", self.path_of(name), source)),
        }
    }

    /// Opens the directory `path` beneath this one, without following links on the way.
    pub fn open_directory_node(&self, path: &[u8]) -> Result<OpenNode> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            open_beneath(self.as_fd(), path, flags)
        });
        match opened {
            Ok(fd) => Ok(OpenNode { fd, is_path: false }),
            Err(source) => Err(Error::new("open", self.path_of(path), source)),
        }
    }
}

impl Attributes<'_> {
    /// Sets its owner and group.
    pub fn set_owner(self, uid: u32, gid: u32) -> io::Result<()> {
        // The two values that mean "unchanged" are not valid ids.
        if uid == u32::MAX || gid == u32::MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        fault::check(Op::Attribute)?;
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        let (owner, group) = (Some(uid), Some(gid));
        let set = if self.is_path {
            rustix::fs::chownat(self.fd, "", owner, group, AtFlags::EMPTY_PATH)
        } else {
            rustix::fs::fchown(self.fd, owner, group)
        };
        Ok(set?)
    }

    /// Sets the lower 12 bits of its mode; a symbolic link has no mode of its own.
    pub fn set_mode(self, mode: u32) -> io::Result<()> {
        fault::check(Op::Attribute)?;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let set = if self.is_path {
            rustix::fs::chmod(self.own_path(), mode)
        } else {
            rustix::fs::fchmod(self.fd, mode)
        };
        self.answer(set)
    }

    /// Sets its modification time. The access time stays unchanged.
    pub fn set_mtime(self, time: Timestamp) -> io::Result<()> {
        fault::check(Op::Attribute)?;
        // Nanosecond values beyond a second have special meanings.
        let nanoseconds = match i64::from(time.nanoseconds) {
            0..1_000_000_000 => time.nanoseconds.into(),
            _ => UTIME_NOW,
        };
        let times = Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: Timespec {
                tv_sec: time.seconds,
                tv_nsec: nanoseconds,
            },
        };
        let set = if self.is_path {
            rustix::fs::utimensat(CWD, self.own_path(), &times, AtFlags::empty())
        } else {
            rustix::fs::futimens(self.fd, &times)
        };
        self.answer(set)
    }

    /// Sets an extended attribute.
    pub fn set_xattr(self, name: &[u8], value: &[u8]) -> io::Result<()> {
        fault::check(Op::Attribute)?;
        let flags = XattrFlags::empty();
        let set = if self.is_path {
            rustix::fs::setxattr(self.own_path(), name, value, flags)
        } else {
            rustix::fs::fsetxattr(self.fd, name, value, flags)
        };
        self.answer(set)
    }

    /// The outcome, with the reason why [`own_path`](Self::own_path) may lead nowhere.
    fn answer(self, set: rustix::io::Result<()>) -> io::Result<()> {
        let failed = |reason: rustix::io::Errno| match reason.into() {
            reason if self.is_path => through_proc(reason),
            reason => reason,
        };
        set.map_err(failed)
    }

    /// A path to the entry itself, even if it is a symbolic link: the kernel does not follow it
    /// further.
    fn own_path(self) -> PathBuf {
        format!("/proc/self/fd/{}", self.fd.as_raw_fd()).into()
    }
}

/// The umask of this process, if it can be found out without a moment in which it is another one.
pub fn umask() -> Option<u32> {
    told_umask().or_else(thread_umask)
}

/// What `/proc` tells, where it is mounted.
fn told_umask() -> Option<u32> {
    let status = read_proc_file(Path::new("/proc/self/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// The umask of a thread that has one of its own, begun as that of the process.
fn thread_umask() -> Option<u32> {
    use rustix::thread::{unshare_unsafe, UnshareFlags};
    let thread = crate::threads::start("umask", || {
        #[allow(unsafe_code)]
        // SAFETY: only the directory and the umask become those of this thread, which uses no path.
        unsafe { unshare_unsafe(UnshareFlags::FS) }.ok()?;
        Some(rustix::process::umask(Mode::empty()).bits())
    });
    thread.ok()?.join().ok()?
}

/// The effective user and group ids of this process.
pub fn effective_ids() -> (u32, u32) {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    (uid.as_raw(), gid.as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKind;

    #[test]
    fn a_thread_of_its_own_knows_the_umask_and_keeps_it() {
        let told = told_umask();
        let asked = thread_umask();
        assert!(asked.is_none() || told.is_none() || asked == told);
        assert_eq!(told_umask(), told);
    }

    const TIME: Timestamp = Timestamp {
        seconds: 12345,
        nanoseconds: 678,
    };

    #[test]
    fn each_kind_of_entry_takes_its_attributes() {
        let place = tempfile::tempdir().unwrap();
        let root = Dir::open(place.path()).unwrap();
        let file = root.create_with_mode(b"file", 0o600).unwrap();
        file.attributes().set_mode(0o4711).unwrap();
        file.attributes().set_mtime(TIME).unwrap();
        root.create_dir(b"directory").unwrap();
        let directory = root.open_directory_node(b"directory").unwrap();
        directory.attributes().set_mode(0o1750).unwrap();
        directory.attributes().set_mtime(TIME).unwrap();
        root.create_symlink(b"link", b"file").unwrap();
        let link = root.open_node(b"link").unwrap();
        link.attributes().set_mtime(TIME).unwrap();
        root.create_node(b"fifo", FileKind::Fifo, 0o600, (0, 0))
            .unwrap();
        let fifo = root.open_node(b"fifo").unwrap();
        fifo.attributes().set_mode(0o622).unwrap();
        fifo.attributes().set_mtime(TIME).unwrap();
        let modes = [
            ("file", 0o4711),
            ("directory", 0o1750),
            ("link", 0o777),
            ("fifo", 0o622),
        ];
        for (name, mode) in modes {
            let stat = root.stat(name.as_bytes()).unwrap();
            assert_eq!((stat.mode & 0o7777, stat.mtime), (mode, TIME), "{name}");
        }
        let own = root.stat_self().unwrap();
        for node in [fifo, link, directory] {
            node.attributes().set_owner(own.uid, own.gid).unwrap();
            assert!(node.attributes().set_owner(u32::MAX, own.gid).is_err());
        }
    }

    #[test]
    fn a_link_on_the_way_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = Dir::open(place.path()).unwrap();
        root.create_symlink(b"link", b"/").unwrap();
        assert!(root.open_directory_node(b"link").is_err());
        assert!(root.open_directory_node(b"link/tmp").is_err());
        assert!(root.open_node(b"link/tmp").is_err());
        assert!(root.link(b"new", &root, b"link/tmp").is_err());
        assert!(root.rename(b"link", b"../new").is_err());
        // A hard link to the symbolic link, not to its target.
        root.link(b"new", &root, b"link").unwrap();
        assert_eq!(root.stat(b"new").unwrap().nlink, 2);
    }
}
