use crate::fault::{self, Op};
use crate::{Error, Result};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, RenameFlags, CWD};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A file that is written at any of its places and gets its name when it is whole.
///
/// Until then it stands beside its target under a name of its own. Dropped without
/// [`OutputFile::commit`] it removes itself.
#[derive(Debug)]
pub struct OutputFile {
    fd: Option<OwnedFd>,
    temporary: PathBuf,
    target: PathBuf,
}

impl OutputFile {
    /// Creates a file beside `target`, which must not be a directory.
    pub fn create(target: &Path) -> Result<Self> {
        let failed = |source| Error::new("create", target, source);
        let Some(name) = target.file_name() else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        for attempt in 0..u32::MAX {
            let mut own = OsString::from(".");
            own.push(name);
            own.push(format!(".{}-{attempt}", std::process::id()));
            let temporary = target.with_file_name(own);
            let created = fault::check(Op::Create).and_then(|()| {
                Ok(rustix::fs::open(
                    &temporary,
                    flags,
                    Mode::from_raw_mode(0o666),
                )?)
            });
            match created {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(failed(source)),
                Ok(fd) => {
                    return Ok(OutputFile {
                        fd: Some(fd),
                        temporary,
                        target: target.to_owned(),
                    })
                }
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Writes `content` from `offset` on.
    pub fn write_at(&self, mut content: &[u8], mut offset: u64) -> Result<()> {
        while !content.is_empty() {
            let written = fault::check(Op::Write)
                .and_then(|()| Ok(rustix::io::pwrite(self.fd(), content, offset)?));
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

    /// Cuts it off at, or fills it with zeros up to, a length in bytes.
    pub fn set_len(&self, bytes: u64) -> Result<()> {
        rustix::fs::ftruncate(self.fd(), bytes).map_err(|errno| self.failed("write", errno.into()))
    }

    /// Gives it its name. Unless it is to `replace` what has that name, that is an error
    /// ([`io::ErrorKind::AlreadyExists`]).
    pub fn commit(mut self, replace: bool) -> Result<()> {
        let renamed = fault::check(Op::Rename).and_then(|()| {
            let (from, to) = (&self.temporary, &self.target);
            if replace {
                return Ok(rustix::fs::rename(from, to)?);
            }
            match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
                // Not every file system can: a second name that must be new does the same.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::link(from, to)?;
                    Ok(rustix::fs::unlink(from)?)
                }
                renamed => Ok(renamed?),
            }
        });
        renamed.map_err(|source| self.failed("create", source))?;
        self.fd = None;
        Ok(())
    }

    fn fd(&self) -> &OwnedFd {
        self.fd
            .as_ref()
            .expect("the file is open until it is committed")
    }

    fn failed(&self, operation: &'static str, source: io::Error) -> Error {
        Error::new(operation, &self.target, source)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.fd.take().is_some() {
            // There is nothing left to do for one that cannot be removed.
            let _ = rustix::fs::unlink(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    #[test]
    fn it_appears_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("image");
        let names = || std::fs::read_dir(directory.path()).unwrap().count();
        let file = OutputFile::create(&target).unwrap();
        file.write_at(b"end", 5).unwrap();
        assert!(!target.exists() && names() == 1);
        drop(file);
        assert_eq!(names(), 0);
        for (content, replace) in [(b"first", false), (b"other", false), (b"third", true)] {
            let file = OutputFile::create(&target).unwrap();
            file.write_at(content, 0).unwrap();
            let is_new = content == b"first";
            assert_eq!(file.commit(replace).is_ok(), is_new || replace);
            assert_eq!(names(), 1);
        }
        assert_eq!(std::fs::read(&target).unwrap(), b"third");
    }
}
