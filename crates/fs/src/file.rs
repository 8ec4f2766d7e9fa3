use crate::descriptors::obtain;
use crate::dir::list;
use crate::error::is_one_of;
use crate::fault::{self, Op};
use crate::interrupt::caught_signal;
use crate::{is_absent, DirEntry, Error, FileKind, Result, StandardInput, Stat};
use rustix::buffer::spare_capacity;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Advice, FileType, Mode, OFlags, CWD};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// Interval at which a wait for a fifo checks for a signal that asks the process to end, in ms.
const SIGNAL_INTERVAL_MS: u32 = 50;

/// A file opened for reading, with its path for error messages.
#[derive(Debug)]
pub struct ReadFile {
    fd: OwnedFd,
    path: PathBuf,
}

impl ReadFile {
    /// Opens `path`, following links: for files of the repository, not of the working tree. If it
    /// is a fifo, waits for a writer until a signal asks the process to end.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            // Without this flag, the call would wait for a fifo whatever signal comes.
            match rustix::fs::open(path, flags | OFlags::NONBLOCK, Mode::empty()) {
                // Another process has a lease on the file.
                Err(Errno::AGAIN) => Ok(rustix::fs::open(path, flags, Mode::empty())?),
                opened => Ok(opened?),
            }
        });
        let fd = opened.map_err(|source| Error::new("open", path, source))?;
        let path = path.to_owned();
        let file = ReadFile { fd, path };
        let stat = rustix::fs::fstat(&file.fd).map_err(|source| file.not_opened(source))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Fifo => {
                file.set_blocking()?;
                file.wait_for_a_writer()?;
            }
            _ => file.set_blocking()?,
        }
        Ok(file)
    }

    /// Opens the regular file `path`, following links. Anything else is an error, and not waited for.
    pub fn open_regular(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            let opened = match rustix::fs::open(path, flags | OFlags::NONBLOCK, Mode::empty()) {
                // Another process has a lease on the file.
                Err(Errno::AGAIN) => rustix::fs::open(path, flags, Mode::empty()),
                opened => opened,
            };
            let fd = opened?;
            match FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) {
                FileType::RegularFile => Ok(fd),
                FileType::Directory => Err(Errno::ISDIR.into()),
                _ => Err(io::Error::other("it is not a regular file")),
            }
        });
        let path = path.to_owned();
        match opened {
            Ok(fd) => Ok(ReadFile { fd, path }),
            Err(source) => Err(Error::new("open", path, source)),
        }
    }

    fn set_blocking(&self) -> Result<()> {
        rustix::fs::fcntl_setfl(&self.fd, OFlags::empty()).map_err(|source| self.not_opened(source))
    }

    fn wait_for_a_writer(&self) -> Result<()> {
        while !self.wait(SIGNAL_INTERVAL_MS)? {
            if caught_signal().is_some() {
                return Err(self.not_opened(Errno::INTR));
            }
        }
        Ok(())
    }

    fn not_opened(&self, source: Errno) -> Error {
        Error::new("open", &self.path, source)
    }

    /// Opens `path`, following links, without waiting for a writer: if it is a fifo,
    /// [`wait`](Self::wait) waits.
    pub fn open_stream(path: &Path) -> Result<Self> {
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let fd = rustix::fs::open(path, flags | OFlags::NONBLOCK, Mode::empty())?;
            rustix::fs::fcntl_setfl(&fd, OFlags::empty())?;
            Ok(fd)
        });
        let path = path.to_owned();
        match opened {
            Ok(fd) => Ok(ReadFile { fd, path }),
            Err(source) => Err(Error::new("open", path, source)),
        }
    }

    /// The standard input of the process. What is read is not remembered by [`StandardInput`].
    pub fn standard_input() -> Result<Self> {
        StandardInput::lose();
        let path = PathBuf::from("standard input");
        match obtain(|| rustix::stdio::stdin().try_clone_to_owned()) {
            Ok(fd) => Ok(ReadFile { fd, path }),
            Err(source) => Err(Error::new("open", path, source)),
        }
    }

    pub(crate) fn from_fd(fd: OwnedFd, path: PathBuf) -> Self {
        ReadFile { fd, path }
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its current stat data.
    pub fn stat(&self) -> Result<Stat> {
        fault::check(Op::Stat)
            .and_then(|()| Ok(Stat::from_raw(&rustix::fs::fstat(&self.fd)?)))
            .map_err(|source| Error::new("stat", &self.path, source))
    }

    /// Reads up to `buffer.len()` bytes from the current position; 0 means the end.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize> {
        self.retried(|| Ok(rustix::io::read(&self.fd, &mut *buffer)?))
    }

    fn retried(&self, mut read: impl FnMut() -> io::Result<usize>) -> Result<usize> {
        loop {
            match fault::check(Op::Read).and_then(|()| read()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => return other.map_err(|source| Error::new("read", &self.path, source)),
            }
        }
    }

    /// Replaces `buffer` by the rest of the file; more than `limit` bytes are an error.
    pub fn read_to_end(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<()> {
        buffer.clear();
        let expected = self.stat()?.size;
        if expected > limit {
            return Err(self.too_large(limit));
        }
        buffer.reserve(expected as usize + 1);
        while self.read_more(buffer)? > 0 {
            if buffer.len() as u64 > limit {
                return Err(self.too_large(limit));
            }
            if buffer.len() == buffer.capacity() {
                buffer.reserve(buffer.len());
            }
        }
        Ok(())
    }

    /// Reads into the spare capacity of `buffer`, of which there must be some; 0 means the end.
    fn read_more(&self, buffer: &mut Vec<u8>) -> Result<usize> {
        self.retried(|| Ok(rustix::io::read(&self.fd, spare_capacity(buffer))?))
    }

    /// Reads from `position`, in bytes from the start, until `buffer` is full or the file ends;
    /// returns the number of bytes read. The position of [`read`](Self::read) does not change.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let read = fault::check(Op::Read).and_then(|()| {
                Ok(rustix::io::pread(
                    &self.fd,
                    rest,
                    position.saturating_add(filled as u64),
                )?)
            });
            match read {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::new("read", &self.path, source)),
            }
        }
        Ok(filled)
    }

    /// Tells the system that these bytes will be read soon: it reads them ahead if it can.
    pub fn will_read(&self, position: u64, bytes: NonZeroU64) {
        // It is advice: a file that cannot be read ahead is read later.
        let _ = rustix::fs::fadvise(&self.fd, position, Some(bytes), Advice::WillNeed);
    }

    /// Moves the read position to the next data at or after `position`, and returns where that data
    /// starts and ends, in bytes from the start. After the last data, both are the length of the
    /// file. If the file system does not report holes, everything is data.
    pub fn seek_data(&self, position: u64) -> Result<(u64, u64)> {
        use rustix::fs::{seek, SeekFrom};
        use rustix::io::Errno;
        let sought = fault::check(Op::Read).and_then(|()| {
            let start = match seek(&self.fd, SeekFrom::Data(position)) {
                Ok(start) => start,
                Err(Errno::NXIO) => {
                    let end = seek(&self.fd, SeekFrom::End(0))?;
                    return Ok((end, end));
                }
                Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                    seek(&self.fd, SeekFrom::Start(position))?;
                    return Ok((position, u64::MAX));
                }
                Err(error) => return Err(error.into()),
            };
            let end = seek(&self.fd, SeekFrom::Hole(start))?;
            seek(&self.fd, SeekFrom::Start(start))?;
            Ok((start, end))
        });
        sought.map_err(|source| Error::new("read", &self.path, source))
    }

    /// The position of the next [`read`](Self::read), in bytes from the start; a pipe has none.
    pub fn position(&self) -> Result<u64> {
        let here = rustix::fs::SeekFrom::Current(0);
        let sought = fault::check(Op::Read).and_then(|()| Ok(rustix::fs::seek(&self.fd, here)?));
        sought.map_err(|source| Error::new("read", &self.path, source))
    }

    /// Waits until a pipe has something to read or has reached its end, so that the caller does not
    /// block in [`read`](Self::read); `false` if that did not happen within `milliseconds`, or if a
    /// signal came.
    pub fn wait(&self, milliseconds: u32) -> Result<bool> {
        use rustix::event::{poll, PollFd, PollFlags, Timespec};
        let limit = Timespec {
            tv_sec: i64::from(milliseconds / 1000),
            tv_nsec: i64::from(milliseconds % 1000 * 1_000_000),
        };
        let mut waited = [PollFd::new(&self.fd, PollFlags::IN)];
        match poll(&mut waited, Some(&limit)) {
            Ok(count) => Ok(count > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(Error::new("read", &self.path, error)),
        }
    }

    /// The number of bytes to read; works for a block device, too.
    pub fn length(&self) -> Result<u64> {
        let end = rustix::fs::SeekFrom::End(0);
        let sought = fault::check(Op::Stat).and_then(|()| {
            let length = rustix::fs::seek(&self.fd, end)?;
            rustix::fs::seek(&self.fd, rustix::fs::SeekFrom::Start(0))?;
            Ok(length)
        });
        sought.map_err(|source| Error::new("stat", &self.path, source))
    }

    fn too_large(&self, limit: u64) -> Error {
        let reason = format!("larger than the limit of {limit} bytes");
        Error::new(
            "read",
            &self.path,
            io::Error::new(io::ErrorKind::InvalidData, reason),
        )
    }
}

impl AsFd for ReadFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl io::Read for ReadFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        ReadFile::read(self, buffer).map_err(|error| error.source)
    }
}

/// The content of the file at `path`, or `None` if it does not exist. Links are followed. More than
/// `limit` bytes are an error.
pub fn read_file(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let file = match ReadFile::open(path) {
        Err(error) if error.is_missing() => return Ok(None),
        other => other?,
    };
    let mut content = Vec::new();
    file.read_to_end(&mut content, limit)?;
    Ok(Some(content))
}

/// The entries of the directory at `path` in the file system's order, without `.` and `..`; `None`
/// if it does not exist.
pub fn list_directory(path: &Path) -> Result<Option<Vec<DirEntry>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = obtain(|| {
        fault::check(Op::Open)?;
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    });
    let listed = opened
        .map_err(|source| Error::new("open", path, source))
        .and_then(|fd| list(&fd).map_err(|source| Error::new("list", path, source)));
    match listed {
        // It may have been removed after it was opened.
        Err(error) if error.is_missing() => Ok(None),
        listed => listed.map(Some),
    }
}

/// Whether anything is at `path`; a symbolic link counts wherever it points. So does a failed
/// check: a marker or an object must not count as absent because a call failed; opening it then
/// reports the error.
pub fn exists(path: &Path) -> bool {
    is_there(path).unwrap_or(true)
}

/// Like [`exists`], but a failed check is an error.
pub fn is_there(path: &Path) -> Result<bool> {
    let found = fault::check(Op::Stat).and_then(|()| Ok(rustix::fs::lstat(path)?));
    match found {
        Ok(_) => Ok(true),
        Err(error) if is_absence(&error) => Ok(false),
        Err(source) => Err(Error::new("stat", path, source)),
    }
}

/// Whether an error means that nothing is, or can be, at a path.
fn is_absence(error: &io::Error) -> bool {
    is_absent(error) || is_one_of(error, &[Errno::NAMETOOLONG])
}

/// Whether `path` is a directory; links are followed.
pub fn is_directory(path: &Path) -> bool {
    rustix::fs::stat(path).is_ok_and(|raw| Stat::from_raw(&raw).kind == FileKind::Directory)
}

/// The directory that one reaches by changing to `parts`, one after the other. The current one, which may be
/// gone, is asked for only if it counts.
///
/// # Errors
/// There is no telling where the current directory is.
pub fn start_directory(parts: &[PathBuf]) -> std::io::Result<PathBuf> {
    let named: PathBuf = parts.iter().collect();
    if named.is_absolute() {
        return Ok(named);
    }
    let mut directory = std::env::current_dir()?;
    parts.iter().for_each(|part| directory.push(part));
    Ok(directory)
}

/// A name of the current directory that holds even where it has none any more.
pub const NAMELESS_DIRECTORY: &str = "/proc/self/cwd";

/// Fails with the reason if `path` is not a directory; links are followed.
pub fn check_directory(path: &Path) -> Result<()> {
    let failed = |source| Err(Error::new("change to", path, source));
    match fault::check(Op::Stat).and_then(|()| Ok(rustix::fs::stat(path)?)) {
        Ok(raw) if Stat::from_raw(&raw).kind == FileKind::Directory => Ok(()),
        Ok(_) => failed(Errno::NOTDIR.into()),
        Err(source) => failed(source),
    }
}

/// The target of the symbolic link at `path`.
pub fn read_link(path: &Path) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let target = rustix::fs::readlinkat(CWD, path, Vec::new())
        .map_err(|source| Error::new("read link", path, source))?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

/// The absolute path of `path`, with all links resolved.
pub fn real_path(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(|source| Error::new("resolve", path, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn data_is_found_between_holes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let megabyte = 1 << 20;
        file.as_file().set_len(4 * megabyte).unwrap();
        rustix::io::pwrite(file.as_file(), b"data", megabyte).unwrap();
        let file = ReadFile::open(file.path()).unwrap();
        let (start, end) = file.seek_data(0).unwrap();
        // On a file system without holes, everything is data.
        assert!(start <= megabyte && end > megabyte, "{start} {end}");
        let mut buffer = [0; 4];
        assert_eq!(file.seek_data(megabyte).unwrap(), (megabyte, end));
        assert_eq!((file.read(&mut buffer).unwrap(), &buffer), (4, b"data"));
        let behind = file.seek_data(4 * megabyte).unwrap();
        assert_eq!(behind, (4 * megabyte, 4 * megabyte));
    }

    #[test]
    fn a_file_is_read_from_any_place() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"0123456789").unwrap();
        let file = ReadFile::open(file.path()).unwrap();
        assert_eq!(file.length().unwrap(), 10);
        let mut buffer = [0; 4];
        for (position, expected) in [(0, "0123"), (3, "3456"), (8, "89"), (10, ""), (99, "")] {
            let count = file.read_at(&mut buffer, position).unwrap();
            assert_eq!(&buffer[..count], expected.as_bytes());
        }
        // That did not move the read position.
        assert_eq!(file.read(&mut buffer).unwrap(), 4);
        assert_eq!(&buffer, b"0123");
        assert!(file.read_at(&mut buffer, u64::MAX).is_err());
    }
}
