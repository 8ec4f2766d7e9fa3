//! Resolves an output path given by the user: a device, a fifo or an open file is written into, and
//! never replaced.

use crate::fault::{self, Op};
use crate::{lstat, read_link, real_path, Error, FileKind, Result, StandardOutput};
use rustix::fd::{BorrowedFd, OwnedFd, RawFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of links followed, the same as in the kernel.
const LINKS: usize = 40;
/// The descriptor of `/dev/stdout`.
const STANDARD_OUTPUT: RawFd = 1;

/// How to write to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A regular file or a directory, or nothing yet. Its last component is not a link: links are
    /// followed to their targets and kept.
    File(PathBuf),
    /// Something that is only written into.
    Stream(Sink),
}

/// A device, a fifo, or a file that is already open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sink {
    path: PathBuf,
    /// The number of the descriptor of this process.
    descriptor: Option<RawFd>,
}

/// An output that is written sequentially.
#[derive(Debug)]
pub struct OutputStream {
    path: PathBuf,
    /// `None`: standard output.
    fd: Option<OwnedFd>,
}

impl Destination {
    /// Resolves `path`. Nothing is opened.
    ///
    /// Fails for a socket and a block device, and if links are dangling or circular.
    pub fn of(path: &Path) -> Result<Self> {
        let mut place = path.to_owned();
        for _ in 0..LINKS {
            let Some(stat) = lstat(&place)? else {
                return Ok(Destination::File(place));
            };
            let refused = |words: &str| {
                let source = io::Error::new(io::ErrorKind::InvalidInput, words);
                Err(Error::new("write", path, source))
            };
            let descriptor = match stat.kind {
                FileKind::File | FileKind::Directory => return Ok(Destination::File(place)),
                FileKind::Socket => return refused("Is a socket"),
                FileKind::BlockDevice => return refused("Is a block device"),
                FileKind::Fifo | FileKind::CharacterDevice => None,
                FileKind::Symlink => match leads_to_open_file(&place)? {
                    Some(descriptor) => descriptor,
                    None => {
                        place = target_of(&place)?;
                        continue;
                    }
                },
            };
            return Ok(Destination::Stream(Sink {
                path: path.to_owned(),
                descriptor,
            }));
        }
        Err(Error::new("write", path, Errno::LOOP))
    }
}

impl Sink {
    /// Opens it for writing. Opening a fifo waits for a reader.
    pub fn open(&self) -> Result<OutputStream> {
        let failed = |source| Error::new("open", &self.path, source);
        let fd = match self.descriptor {
            Some(STANDARD_OUTPUT) => None,
            Some(descriptor) => Some(copy_of(descriptor).map_err(failed)?),
            None => {
                let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
                let opened = fault::check(Op::Open)
                    .and_then(|()| Ok(rustix::fs::open(&self.path, flags, Mode::empty())?));
                Some(opened.map_err(failed)?)
            }
        };
        Ok(OutputStream {
            path: self.path.clone(),
            fd,
        })
    }
}

impl OutputStream {
    /// Closes it and reports the errors that only closing reveals.
    pub fn close(self) -> Result<()> {
        let Some(fd) = self.fd else {
            return StandardOutput::finish();
        };
        fault::check(Op::Close)
            .and_then(|()| crate::dir::close(fd))
            .map_err(|source| Error::new("close", &self.path, source))
    }
}

impl Write for OutputStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.fd {
            None => StandardOutput.write(bytes),
            Some(fd) => {
                fault::check(Op::Write)?;
                Ok(rustix::io::write(fd, bytes)?)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fails if `target` exists and must not be replaced.
pub(crate) fn refuse_to_replace(target: &Path) -> io::Result<()> {
    let words = match lstat(target).map_err(|error| error.source)? {
        None => return Ok(()),
        Some(stat) => match stat.kind {
            FileKind::File | FileKind::Symlink | FileKind::Directory => return Ok(()),
            FileKind::Fifo => "Is a fifo, which is not replaced",
            FileKind::Socket => "Is a socket, which is not replaced",
            FileKind::BlockDevice | FileKind::CharacterDevice => {
                "Is a device, which is not replaced"
            }
        },
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, words))
}

/// Whether a link stands for an open file, like those behind `/dev/stdout` and `/dev/fd`; if so,
/// also its descriptor if it is one of this process.
fn leads_to_open_file(link: &Path) -> Result<Option<Option<RawFd>>> {
    let directory = real_path(&directory_of(link))?;
    let mut parts = directory.iter().skip(1).map(|part| part.to_str());
    if parts.next() != Some(Some("proc")) {
        return Ok(None);
    }
    let process = parts.next().flatten();
    if directory.file_name().is_none_or(|name| name != "fd") {
        return Ok(None);
    }
    let own = std::process::id().to_string();
    let number = link
        .file_name()
        .and_then(|name| name.to_str()?.parse().ok());
    Ok(Some(number.filter(|_| process == Some(own.as_str()))))
}

fn target_of(link: &Path) -> Result<PathBuf> {
    Ok(directory_of(link).join(read_link(link)?))
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Duplicates a descriptor; the copy shares the original's file position.
#[allow(unsafe_code)]
fn copy_of(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: it is borrowed for this call only, which asks the kernel for a copy; the kernel
    // checks whether it is open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(rustix::io::fcntl_dupfd_cloexec(borrowed, 3)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use crate::{LockFile, OutputFile};
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_to_their_targets_and_what_is_special_is_written_into() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("file"), "old").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("none", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), 0o600.into()).unwrap();
        symlink("fifo", at("to-fifo")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let of = |name: &str| Destination::of(&at(name));
        assert_eq!(of("link").unwrap(), Destination::File(at("file")));
        assert_eq!(of("dangling").unwrap(), Destination::File(at("none")));
        assert_eq!(of("new").unwrap(), Destination::File(at("new")));
        for name in ["fifo", "to-fifo"] {
            assert!(matches!(of(name).unwrap(), Destination::Stream(_)));
        }
        let said = of("socket").unwrap_err().to_string();
        assert!(said.ends_with("socket': Is a socket"), "{said}");
        assert!(of("circle").is_err());
        for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let Destination::Stream(sink) = Destination::of(Path::new(path)).unwrap() else {
                panic!("{path} is an open file");
            };
            assert_eq!(sink.descriptor, Some(1));
        }
    }

    #[test]
    fn an_open_file_is_written_where_it_stands() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let file = std::fs::File::create(&path).unwrap();
        (&file).write_all(b"before ").unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let named = PathBuf::from(format!("/dev/fd/{number}"));
        let Destination::Stream(sink) = Destination::of(&named).unwrap() else {
            panic!("it is open");
        };
        let mut stream = sink.open().unwrap();
        stream.write_all(b"behind").unwrap();
        stream.close().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"before behind");
    }

    #[test]
    fn nothing_gets_the_name_of_a_fifo() {
        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
        let said = OutputFile::create(&fifo).unwrap().commit(true).unwrap_err();
        assert!(said.to_string().ends_with("fifo, which is not replaced"));
        assert!(LockFile::acquire(&fifo).unwrap().commit().is_err());
        assert_eq!(lstat(&fifo).unwrap().unwrap().kind, FileKind::Fifo);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
