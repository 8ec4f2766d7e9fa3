use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::zeros::{is_zero, HOLE_BYTES};
use crate::{Error, ReadFile, Result};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// An unnamed file for data needed only while the process runs: it is written sequentially, then
/// read at any offset, and removed when it is closed, however the process ends.
#[derive(Debug)]
pub struct SpoolFile {
    fd: OwnedFd,
    directory: PathBuf,
    length: u64,
}

impl SpoolFile {
    /// Creates a file on the file system of `directory`. Where files must have names, it has one
    /// for a moment.
    ///
    /// Fails if no file can be created there.
    pub fn create(directory: &Path) -> Result<Self> {
        let directory = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        let failed = |source| Error::new("create a temporary file in", directory, source);
        let fd = obtain(|| create_unnamed(directory));
        Ok(SpoolFile {
            fd: fd.map_err(failed)?,
            directory: directory.to_owned(),
            length: 0,
        })
    }

    /// Number of bytes written.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends `content`. Long zeros in it take no space.
    pub fn append(&mut self, content: &[u8]) -> Result<()> {
        let mut waiting = 0..0;
        for piece in content.chunks(HOLE_BYTES) {
            waiting.end += piece.len();
            if piece.len() == HOLE_BYTES && is_zero(piece) {
                self.write(&content[waiting.start..waiting.end - HOLE_BYTES])?;
                self.length += HOLE_BYTES as u64;
                waiting.start = waiting.end;
            }
        }
        if waiting.is_empty() && !content.is_empty() {
            let lengthened = fault::check(Op::Write)
                .and_then(|()| Ok(rustix::fs::ftruncate(&self.fd, self.length)?));
            return lengthened.map_err(|source| self.failed(source));
        }
        self.write(&content[waiting])
    }

    fn write(&mut self, mut content: &[u8]) -> Result<()> {
        while !content.is_empty() {
            let written = fault::check(Op::Write)
                .and_then(|()| Ok(rustix::io::pwrite(&self.fd, content, self.length)?));
            match written {
                Ok(0) => return Err(self.failed(io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    content = &content[count..];
                    self.length += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.failed(source)),
            }
        }
        Ok(())
    }

    /// The file for reading. Errors name its directory.
    pub fn into_read_file(self) -> ReadFile {
        ReadFile::from_fd(self.fd, self.directory)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::new("write to a temporary file in", &self.directory, source)
    }
}

fn create_unnamed(directory: &Path) -> io::Result<OwnedFd> {
    fault::check(Op::Create)?;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let only_owner = Mode::RUSR | Mode::WUSR;
    match rustix::fs::open(directory, flags | OFlags::TMPFILE, only_owner) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
            create_unlinked(directory)
        }
        opened => Ok(opened?),
    }
}

fn create_unlinked(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::CREATE | OFlags::EXCL;
    for attempt in 0..u32::MAX {
        let name = format!(".hedgerow-spool.{}-{attempt}", std::process::id());
        let path = directory.join(name);
        match rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => continue,
            Err(errno) => return Err(errno.into()),
            Ok(fd) => {
                rustix::fs::unlink(&path)?;
                return Ok(fd);
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    #[test]
    fn what_was_appended_is_read_anywhere_and_nothing_is_to_be_seen() {
        let directory = tempfile::tempdir().unwrap();
        let unlinked = SpoolFile {
            fd: create_unlinked(directory.path()).unwrap(),
            directory: directory.path().to_owned(),
            length: 0,
        };
        for mut spool in [SpoolFile::create(directory.path()).unwrap(), unlinked] {
            spool.append(b"hello ").unwrap();
            spool.append(b"world").unwrap();
            assert_eq!(spool.length(), 11);
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
            let file = spool.into_read_file();
            let mut buffer = [0; 10];
            assert_eq!(file.read_at(&mut buffer, 6).unwrap(), 5);
            assert_eq!(&buffer[..5], b"world");
        }
        let error = SpoolFile::create(&directory.path().join("none")).unwrap_err();
        assert!(error.to_string().starts_with("cannot create a temporary"));
    }

    #[test]
    fn long_zeros_take_no_space() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = SpoolFile::create(directory.path()).unwrap();
        let mut content = vec![0; 3 << 20];
        content[1 << 20] = 1;
        let mut expected = Vec::new();
        for bytes in [content.len(), 70_000, 5, 2 << 20] {
            spool.append(&content[..bytes]).unwrap();
            expected.extend_from_slice(&content[..bytes]);
        }
        assert_eq!(spool.length(), expected.len() as u64);
        let stat = rustix::fs::fstat(&spool.fd).unwrap();
        assert_eq!(stat.st_size, expected.len() as i64);
        assert!(stat.st_blocks * 512 <= 512 << 10, "{stat:?}");
        let mut found = vec![1; expected.len() + 1];
        let count = spool.into_read_file().read_at(&mut found, 0).unwrap();
        assert!(found[..count] == expected);
    }
}
