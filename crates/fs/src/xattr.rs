//! Extended attributes: xattr(7).

use crate::fault::{self, Op};
use crate::proc_file::through_proc;
use crate::{Dir, Error, ReadFile, Result};
use rustix::fd::{AsFd, AsRawFd};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Names with their values.
pub type Xattrs = Vec<(Vec<u8>, Vec<u8>)>;

/// Initial buffer size, for the list of names and for a value, in bytes.
const FIRST_BYTES: usize = 256;
/// Linux's limits for the list of names and for a value, in bytes (`XATTR_LIST_MAX`,
/// `XATTR_SIZE_MAX`).
const LARGEST_BYTES: usize = 64 << 10;

impl ReadFile {
    /// The extended attributes of the file, in the file system's order. Empty if the file system
    /// does not support them.
    pub fn xattrs(&self) -> Result<Xattrs> {
        let listed = read_all(
            |names| rustix::fs::flistxattr(self, names),
            |name, value| rustix::fs::fgetxattr(self, name, value),
        );
        listed.map_err(|source| Error::new("read the extended attributes of", self.path(), source))
    }
}

impl Dir {
    /// The extended attributes of `path` beneath this directory; for a symbolic link, its own.
    pub fn xattrs_of(&self, path: &[u8]) -> Result<Xattrs> {
        let error = |source| {
            let path = self.path_of(path);
            Error::new("read the extended attributes of", path, source)
        };
        let (directory, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (path.get(..slash), path.get(slash + 1..)),
            None => (None, Some(path)),
        };
        let opened = directory
            .map(|directory| self.open_dir(directory))
            .transpose()?;
        let handle = opened.as_ref().unwrap_or(self);
        // There is no call that takes a directory and a name; this path leads to the same place.
        let mut own = PathBuf::from(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd()));
        own.push(match name.unwrap_or_default() {
            b"" => OsStr::new("."),
            name => OsStr::from_bytes(name),
        });
        let listed = read_all(
            |names| rustix::fs::llistxattr(&own, names),
            |name, value| rustix::fs::lgetxattr(&own, name, value),
        );
        listed.map_err(|reason| error(through_proc(reason)))
    }
}

fn read_all(
    list: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
    get: impl Fn(&[u8], &mut [u8]) -> rustix::io::Result<usize>,
) -> io::Result<Xattrs> {
    fault::check(Op::Read)?;
    let mut buffer = vec![0; FIRST_BYTES];
    let names = match filled(&mut buffer, &list) {
        Err(error) if is_unsupported(&error) => return Ok(Vec::new()),
        other => other?.to_vec(),
    };
    let mut found = Vec::new();
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        match filled(&mut buffer, |value| get(name, value)) {
            Ok(value) => found.push((name.to_vec(), value.to_vec())),
            // It was removed between the two calls.
            Err(error)
                if error.raw_os_error() == Some(rustix::io::Errno::NODATA.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The bytes that `read` returns. The buffer grows as needed and keeps its size for later reads.
fn filled(
    buffer: &mut Vec<u8>,
    read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
) -> io::Result<&[u8]> {
    loop {
        match read(buffer) {
            Ok(count) => return Ok(buffer.get(..count).unwrap_or(buffer)),
            Err(rustix::io::Errno::RANGE) if buffer.len() < LARGEST_BYTES => {
                // The largest possible size at once, so that the size need not be queried.
                *buffer = vec![0; LARGEST_BYTES];
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_files_directories_and_links() {
        let place = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "content").unwrap();
        let long = vec![b'v'; 3000];
        let flags = rustix::fs::XattrFlags::empty();
        for path in [&file, place.path()] {
            let path: &std::path::Path = path;
            if rustix::fs::setxattr(path, "user.long", &long, flags).is_err() {
                hedgerow_testkit::skip("this file system has no user attributes");
                return;
            }
            rustix::fs::setxattr(path, "user.none", b"", flags).unwrap();
        }
        std::os::unix::fs::symlink("file", place.path().join("link")).unwrap();
        std::fs::create_dir(place.path().join("sub")).unwrap();
        let expected = vec![
            (b"user.long".to_vec(), long),
            (b"user.none".to_vec(), Vec::new()),
        ];
        let sorted = |mut found: Xattrs| {
            found.retain(|(name, _)| name.starts_with(b"user."));
            found.sort();
            found
        };
        let root = Dir::open(place.path()).unwrap();
        assert_eq!(
            sorted(root.open_file(b"file").unwrap().xattrs().unwrap()),
            expected
        );
        assert_eq!(sorted(root.xattrs_of(b"file").unwrap()), expected);
        assert_eq!(sorted(root.xattrs_of(b"").unwrap()), expected);
        assert_eq!(sorted(root.xattrs_of(b"link").unwrap()), []);
        assert_eq!(sorted(root.xattrs_of(b"sub").unwrap()), []);
        let said = root.xattrs_of(b"sub/none").unwrap_err().to_string();
        assert!(
            said.contains("cannot read the extended attributes of"),
            "{said}"
        );
    }
}
