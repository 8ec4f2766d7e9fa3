//! System calls on the backing directory, relative to descriptors.

use fuser::FileType;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RawDir, SeekFrom, Stat, Timestamps, Uid, CWD};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// A handle of the directory at a path.
pub(crate) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// A handle of the entry `name`, which may be a symbolic link.
pub(crate) fn open_handle(directory: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?)
}

/// Opens the file behind a handle for reading or writing.
pub(crate) fn reopen(handle: impl AsFd, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = (flags - OFlags::NOFOLLOW) | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(
        CWD,
        link_to(&handle),
        flags,
        Mode::empty(),
    )?)
}

/// A path to the file behind a handle, for calls that do not accept `O_PATH` descriptors. It is
/// valid only while the handle is open.
pub(crate) fn link_to(handle: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())
}

/// The stat data of `name`, without following a symbolic link.
pub(crate) fn stat_at(directory: impl AsFd, name: &OsStr) -> io::Result<Stat> {
    Ok(rustix::fs::statat(
        directory,
        name,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

/// The stat data of an open file or of the file behind a handle.
pub(crate) fn stat(handle: impl AsFd) -> io::Result<Stat> {
    Ok(rustix::fs::fstat(handle)?)
}

/// Sets the owner, the group, or both, of the file behind a handle.
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

/// Sets the times of the file behind a handle, which may be a symbolic link.
pub(crate) fn set_times(handle: impl AsFd, times: &Timestamps) -> io::Result<()> {
    Ok(rustix::fs::utimensat(
        handle,
        "",
        times,
        AtFlags::EMPTY_PATH,
    )?)
}

/// Sets the permissions of the file behind a handle.
pub(crate) fn set_mode(handle: impl AsFd, mode: u32) -> io::Result<()> {
    let mode = Mode::from_raw_mode(mode & 0o7777);
    Ok(rustix::fs::chmod(link_to(&handle), mode)?)
}

/// An entry of a directory, as returned by getdents.
pub(crate) struct Entry {
    pub(crate) ino: u64,
    pub(crate) kind: FileType,
    pub(crate) name: OsString,
}

/// All entries of an open directory, `.` and `..` included.
pub(crate) fn list(directory: &OwnedFd) -> io::Result<Vec<Entry>> {
    rustix::fs::seek(directory, SeekFrom::Start(0))?;
    let mut buffer = Vec::with_capacity(64 << 10);
    let mut raw = RawDir::new(directory, buffer.spare_capacity_mut());
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

/// The name of the entry that `name` is where case is ignored, if there is one.
pub(crate) fn name_ignoring_case(
    directory: impl AsFd,
    name: &OsStr,
) -> io::Result<Option<OsString>> {
    let listed = list(&reopen(directory, OFlags::RDONLY | OFlags::DIRECTORY)?)?;
    let mut names = listed.into_iter().map(|entry| entry.name);
    Ok(names.find(|listed| listed.eq_ignore_ascii_case(name)))
}

/// The kind of a file in FUSE's terms. If a backing file system does not report kinds in listings,
/// entries are listed as files; a lookup returns the real kind.
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

/// The error for a file that is no longer where it was.
pub(crate) fn stale() -> io::Error {
    Errno::STALE.into()
}
