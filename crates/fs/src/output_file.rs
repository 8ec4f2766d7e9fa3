use crate::descriptors::obtain;
use crate::destination::refuse_to_replace;
use crate::dir::close;
use crate::error::is_one_of;
use crate::fault::{self, Op};
use crate::held_name::HeldName;
use crate::private_dir::{PrivateDir, FILE_MODE};
use crate::{Error, Result, Stat, Timestamp};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps, CWD, UTIME_OMIT};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FLAGS: OFlags = OFlags::RDWR.union(OFlags::CLOEXEC);

/// A file that can be written at any offset and gets its name when it is complete.
///
/// Until then it has no name, so that an incomplete file is never visible, even if the process is
/// killed. On file systems without such files, it has a temporary name next to its target. It is
/// removed if dropped without [`OutputFile::commit`].
#[derive(Debug)]
pub struct OutputFile {
    fd: OwnedFd,
    /// Its temporary name, if it has one.
    temporary: Option<Temporary>,
    target: PathBuf,
    /// Prefix of its temporary name.
    prefix: &'static str,
    /// The directory that its names are relative to, if not the current directory.
    directory: Option<Arc<OwnedFd>>,
}

#[derive(Debug)]
struct Temporary {
    name: PathBuf,
    /// `None` for a name in an open directory: its path may lead elsewhere by now.
    _held: Option<HeldName>,
}

impl Temporary {
    fn at_path(name: PathBuf) -> Self {
        let _held = Some(HeldName::new(&name));
        Temporary { name, _held }
    }

    fn in_directory(name: PathBuf) -> Self {
        Temporary { name, _held: None }
    }
}

impl OutputFile {
    /// Creates a file for `target`, in its directory.
    pub fn create(target: &Path) -> Result<Self> {
        Self::create_with_prefix(target, ".")
    }

    /// Like [`OutputFile::create`]; if it needs a temporary name, that starts with `prefix`, which
    /// marks it as incomplete should the process be killed.
    pub fn create_with_prefix(target: &Path, prefix: &'static str) -> Result<Self> {
        Self::create_with_mode(target, prefix, 0o666)
    }

    /// Like [`OutputFile::create`], but nobody may write it afterwards. Those may read it who may read new
    /// files: the umask says so, or the default access control list of the directory.
    pub fn create_read_only(target: &Path) -> Result<Self> {
        Self::create_with_mode(target, ".", 0o444)
    }

    fn create_with_mode(target: &Path, prefix: &'static str, mode: u32) -> Result<Self> {
        let failed = |source| Error::new("create", target, source);
        if target.file_name().is_none() {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        }
        let mode = Mode::from_raw_mode(mode);
        let directory = match target.parent() {
            None => Path::new("."),
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
        };
        let opened = obtain(|| {
            fault::check(Op::Create)?;
            Ok(rustix::fs::open(directory, FLAGS | OFlags::TMPFILE, mode)?)
        });
        match opened {
            Ok(fd) => Ok(OutputFile {
                fd,
                temporary: None,
                target: target.to_owned(),
                prefix,
                directory: None,
            }),
            Err(error) if cannot_be_unnamed(&error) => {
                Self::create_named(target, prefix, mode).map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Creates a file in `directory` with the name `target` that only this user can read.
    pub fn create_private(directory: &PrivateDir, target: &str) -> Result<Self> {
        let failed = |source| Error::new("create", directory.path().join(target), source);
        fault::check(Op::Create).map_err(failed)?;
        let at = directory.descriptor();
        let (fd, temporary) = match rustix::fs::openat(at, ".", FLAGS | OFlags::TMPFILE, FILE_MODE)
        {
            Ok(fd) => (fd, None),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
                let temporary = beside(Path::new(target), ".", 0);
                let flags = FLAGS | OFlags::CREATE | OFlags::EXCL;
                let opened = rustix::fs::openat(at, &temporary, flags, FILE_MODE);
                (
                    opened.map_err(|errno| failed(errno.into()))?,
                    Some(temporary),
                )
            }
            Err(errno) => return Err(failed(errno.into())),
        };
        rustix::fs::fchmod(&fd, FILE_MODE).map_err(|errno| failed(errno.into()))?;
        let mut file = Self::in_directory(directory, fd, target);
        file.temporary = temporary.map(Temporary::in_directory);
        Ok(file)
    }

    /// Wraps the open file `temporary` in `directory`, which gets the name `target` when it is
    /// complete.
    pub(crate) fn from_named(
        directory: &PrivateDir,
        fd: OwnedFd,
        temporary: &str,
        target: &str,
    ) -> Self {
        let mut file = Self::in_directory(directory, fd, target);
        file.temporary = Some(Temporary::in_directory(temporary.into()));
        file
    }

    fn in_directory(directory: &PrivateDir, fd: OwnedFd, target: &str) -> Self {
        OutputFile {
            fd,
            temporary: None,
            target: target.into(),
            prefix: ".",
            directory: Some(Arc::clone(directory.descriptor())),
        }
    }

    fn at(&self) -> BorrowedFd<'_> {
        self.directory.as_ref().map_or(CWD, |fd| fd.as_fd())
    }

    fn create_named(target: &Path, prefix: &'static str, mode: Mode) -> io::Result<Self> {
        let flags = FLAGS | OFlags::CREATE | OFlags::EXCL;
        for attempt in 0..u32::MAX {
            let temporary = beside(target, prefix, attempt);
            match obtain(|| Ok(rustix::fs::open(&temporary, flags, mode)?)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
                Ok(fd) => {
                    return Ok(OutputFile {
                        fd,
                        temporary: Some(Temporary::at_path(temporary)),
                        target: target.to_owned(),
                        prefix,
                        directory: None,
                    })
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Changes its final name, in the same directory.
    pub fn set_target(&mut self, target: &Path) {
        self.target = target.to_owned();
    }

    /// Writes `content` at `offset`.
    pub fn write_at(&self, mut content: &[u8], mut offset: u64) -> Result<()> {
        while !content.is_empty() {
            let written = fault::check(Op::Write)
                .and_then(|()| Ok(rustix::io::pwrite(&self.fd, content, offset)?));
            match written {
                Ok(0) => return Err(self.failed("write", io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    content = &content[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.failed("write", source)),
            }
        }
        Ok(())
    }

    /// Fills `buffer` with the content at `offset`.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            let read = fault::check(Op::Read).and_then(|()| {
                let rest = &mut buffer[filled..];
                Ok(rustix::io::pread(&self.fd, rest, offset + filled as u64)?)
            });
            match read {
                Ok(0) => return Err(self.failed("read", io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.failed("read", source)),
            }
        }
        Ok(())
    }

    /// Truncates it, or extends it with zeros, to a length in bytes.
    pub fn set_len(&self, bytes: u64) -> Result<()> {
        rustix::fs::ftruncate(&self.fd, bytes).map_err(|errno| self.failed("write", errno.into()))
    }

    /// Takes over the permissions of the target that it replaces, if that is a regular file, and
    /// its owner, if this process is allowed to: so a file that only few could read stays
    /// protected.
    pub fn take_attributes_of_target(&self) -> Result<()> {
        let there = crate::lstat(&self.target)?;
        let Some(there) = there.filter(|stat| stat.kind == crate::FileKind::File) else {
            return Ok(());
        };
        let owner = (
            rustix::fs::Uid::from_raw(there.uid),
            rustix::fs::Gid::from_raw(there.gid),
        );
        // Without the privilege to change the owner it keeps its own; the permissions apply anyway.
        let _ = rustix::fs::fchown(&self.fd, Some(owner.0), Some(owner.1));
        self.set_permissions(there.mode & 0o777)
    }

    /// Makes it a file that nobody may write, and that those may read who may read new files.
    pub fn set_read_only(&self) -> Result<()> {
        self.set_permissions(self.stat()?.mode & 0o444)
    }

    /// Sets its permissions, regardless of the umask.
    pub fn set_permissions(&self, mode: u32) -> Result<()> {
        rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(mode))
            .map_err(|errno| self.failed("set permissions of", errno.into()))
    }

    /// Sets its modification time.
    pub fn set_mtime(&self, time: Timestamp) -> Result<()> {
        let times = Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: Timespec {
                tv_sec: time.seconds,
                tv_nsec: time.nanoseconds.min(999_999_999).into(),
            },
        };
        fault::check(Op::Attribute)
            .and_then(|()| Ok(rustix::fs::futimens(&self.fd, &times)?))
            .map_err(|source| self.failed("set the time of", source))
    }

    /// Its current stat data.
    pub fn stat(&self) -> Result<Stat> {
        fault::check(Op::Stat)
            .and_then(|()| Ok(Stat::from_raw(&rustix::fs::fstat(&self.fd)?)))
            .map_err(|source| self.failed("stat", source))
    }

    /// Syncs its content to disk.
    pub fn sync(&self) -> Result<()> {
        fault::check(Op::Write)
            .and_then(|()| Ok(rustix::fs::fsync(&self.fd)?))
            .map_err(|source| self.failed("sync", source))
    }

    /// Gives it its name. If the name exists and `replace` is false, that is an error
    /// ([`io::ErrorKind::AlreadyExists`]). A device, a fifo or a socket is never replaced.
    ///
    /// # Errors
    /// Also those that a file system reveals only when a file is closed; then it gets no name.
    pub fn commit(mut self, replace: bool) -> Result<()> {
        self.reveal_errors()
            .map_err(|source| self.failed("close", source))?;
        let allowed = fault::check(Op::Rename).and_then(|()| {
            if replace {
                refuse_to_replace(&self.target)
            } else {
                Ok(())
            }
        });
        let named = allowed.and_then(|()| match (&self.temporary, replace) {
            (None, false) => Ok(self.link(&self.target)?),
            // Where there is nothing to replace, no other name is needed, which who is killed would leave.
            (None, true) => match self.link(&self.target) {
                Err(Errno::EXIST) => {
                    let temporary = self.link_beside()?;
                    let at = self.at();
                    let renamed = rustix::fs::renameat(at, &temporary.name, at, &self.target);
                    self.temporary = Some(temporary);
                    Ok(renamed?)
                }
                linked => Ok(linked?),
            },
            (Some(own), true) => {
                let at = self.at();
                Ok(rustix::fs::renameat(at, &own.name, at, &self.target)?)
            }
            (Some(own), false) => Ok(rename_to_new(self.at(), &own.name, &self.target)?),
        });
        named.map_err(|source| self.failed("create", source))?;
        self.temporary = None;
        Ok(())
    }

    /// Fails if closing it would: another descriptor of it is closed, because a file without a name is lost
    /// with its last one.
    fn reveal_errors(&self) -> io::Result<()> {
        fault::check(Op::Close)?;
        let copy = obtain(|| Ok(rustix::io::fcntl_dupfd_cloexec(&self.fd, 0)?))?;
        close(copy)
    }

    /// Gives an unnamed file a name.
    fn link(&self, name: &Path) -> rustix::io::Result<()> {
        let own = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        match rustix::fs::linkat(CWD, own, self.at(), name, AtFlags::SYMLINK_FOLLOW) {
            // Without `/proc`; this way needs a privilege.
            Err(Errno::NOENT) => {
                rustix::fs::linkat(&self.fd, "", self.at(), name, AtFlags::EMPTY_PATH)
            }
            linked => linked,
        }
    }

    /// Gives an unnamed file a temporary name next to its target, so that it can be renamed over
    /// that.
    fn link_beside(&self) -> io::Result<Temporary> {
        for attempt in 0..u32::MAX {
            let name = beside(&self.target, self.prefix, attempt);
            match self.link(&name) {
                Ok(()) if self.directory.is_none() => return Ok(Temporary::at_path(name)),
                Ok(()) => return Ok(Temporary::in_directory(name)),
                Err(Errno::EXIST) => continue,
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn failed(&self, operation: &'static str, source: io::Error) -> Error {
        Error::new(operation, &self.target, source)
    }
}

impl AsFd for OutputFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing can be done if it cannot be removed.
            let _ = rustix::fs::unlinkat(self.at(), &temporary.name, AtFlags::empty());
        }
    }
}

/// A name in the directory of `target` that is unlikely to exist.
fn beside(target: &Path, prefix: &str, attempt: u32) -> PathBuf {
    let mut name = OsString::from(prefix);
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}-{attempt}", std::process::id()));
    target.with_file_name(name)
}

fn rename_to_new(at: BorrowedFd<'_>, from: &Path, to: &Path) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(at, from, at, to, RenameFlags::NOREPLACE) {
        // Not every file system supports this flag: a hard link, which fails if the name exists,
        // does the same.
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(at, from, at, to, AtFlags::empty())?;
            rustix::fs::unlinkat(at, from, AtFlags::empty())
        }
        renamed => renamed,
    }
}

/// Whether the error means that the file system has no unnamed files.
fn cannot_be_unnamed(error: &io::Error) -> bool {
    let reasons = [Errno::OPNOTSUPP, Errno::ISDIR, Errno::INVAL, Errno::NOSYS];
    is_one_of(error, &reasons)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    fn in_one_way(make: fn(&Path) -> OutputFile, own_names: usize) {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("image");
        let names = || std::fs::read_dir(directory.path()).unwrap().count();
        let file = make(&target);
        file.write_at(b"end", 5).unwrap();
        assert!(!target.exists() && names() == own_names);
        drop(file);
        assert_eq!(names(), 0);
        for (content, replace) in [(b"first", false), (b"other", false), (b"third", true)] {
            let file = make(&target);
            file.write_at(content, 0).unwrap();
            let is_new = content == b"first";
            assert_eq!(file.commit(replace).is_ok(), is_new || replace);
            assert_eq!(names(), 1);
        }
        assert_eq!(std::fs::read(&target).unwrap(), b"third");
    }

    #[test]
    fn a_name_for_a_while_starts_with_the_prefix() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("pack");
        let _file = OutputFile::create_named(&target, "tmp_", Mode::from_raw_mode(0o666)).unwrap();
        let names = std::fs::read_dir(directory.path()).unwrap();
        let names: Vec<OsString> = names.map(|entry| entry.unwrap().file_name()).collect();
        let own = format!("tmp_pack.{}-0", std::process::id());
        assert_eq!(names, [OsString::from(own)]);
    }

    #[test]
    fn it_appears_whole_or_not_at_all() {
        in_one_way(
            |target| OutputFile::create_named(target, "", Mode::from_raw_mode(0o666)).unwrap(),
            1,
        );
        let has_no_name = |target: &Path| OutputFile::create(target).unwrap();
        let directory = tempfile::tempdir().unwrap();
        match has_no_name(&directory.path().join("image")).temporary {
            None => in_one_way(has_no_name, 0),
            Some(_) => in_one_way(has_no_name, 1),
        }
    }
}
