//! System calls on the directory that is shown again, relative to descriptors.

use fuser::FileType;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RawDir, SeekFrom, Stat, Timestamps, Uid, CWD};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// A handle of a directory by its path.
pub(crate) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// A handle of whatever is called `name`, a symbolic link included.
pub(crate) fn open_handle(directory: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?)
}

/// Opens the object behind a handle for reading or writing.
pub(crate) fn reopen(handle: impl AsFd, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = (flags - OFlags::NOFOLLOW) | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(
        CWD,
        link_to(&handle),
        flags,
        Mode::empty(),
    )?)
}

/// A path to the object behind a handle, for the calls that take no `O_PATH` descriptor. It leads
/// there only as long as the handle is open.
pub(crate) fn link_to(handle: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())
}

/// The state of what is called `name`, a symbolic link's own.
pub(crate) fn stat_at(directory: impl AsFd, name: &OsStr) -> io::Result<Stat> {
    Ok(rustix::fs::statat(
        directory,
        name,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

/// The state of what is open, or behind a handle.
pub(crate) fn stat(handle: impl AsFd) -> io::Result<Stat> {
    Ok(rustix::fs::fstat(handle)?)
}

/// Changes the owner, the group, or both, of what is behind a handle.
pub(crate) fn set_owner(handle: impl AsFd, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    let (uid, gid) = (uid.map(Uid::from_raw), gid.map(Gid::from_raw));
    Ok(rustix::fs::chownat(
        handle,
        "",
        uid,
        gid,
        AtFlags::EMPTY_PATH,
    )?)
}

/// Changes the times of what is behind a handle, a symbolic link included.
pub(crate) fn set_times(handle: impl AsFd, times: &Timestamps) -> io::Result<()> {
    Ok(rustix::fs::utimensat(
        handle,
        "",
        times,
        AtFlags::EMPTY_PATH,
    )?)
}

/// Changes the permissions of what is behind a handle.
pub(crate) fn set_mode(handle: impl AsFd, mode: u32) -> io::Result<()> {
    let mode = Mode::from_raw_mode(mode & 0o7777);
    Ok(rustix::fs::chmod(link_to(&handle), mode)?)
}

/// An entry of a directory, as getdents tells it.
pub(crate) struct Entry {
    pub(crate) ino: u64,
    pub(crate) kind: FileType,
    pub(crate) name: OsString,
}

/// All entries of an open directory, `.` and `..` included.
pub(crate) fn list(directory: &OwnedFd) -> io::Result<Vec<Entry>> {
    rustix::fs::seek(directory, SeekFrom::Start(0))?;
    let mut buffer = vec![MaybeUninit::uninit(); 64 << 10];
    let mut raw = RawDir::new(directory, &mut buffer);
    let mut entries = Vec::new();
    while let Some(entry) = raw.next() {
        let entry = entry?;
        entries.push(Entry {
            ino: entry.ino(),
            kind: kind(entry.file_type()),
            name: OsString::from_vec(entry.file_name().to_bytes().to_vec()),
        });
    }
    Ok(entries)
}

/// The kind of a file in FUSE's terms. A backing file system that does not tell it in listings
/// has its entries taken for files there; the lookup tells the truth.
pub(crate) fn kind(kind: rustix::fs::FileType) -> FileType {
    match kind {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

/// The error of an object that is not where it was.
pub(crate) fn stale() -> io::Error {
    Errno::STALE.into()
}
