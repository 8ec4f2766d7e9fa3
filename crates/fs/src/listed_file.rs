use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::{Error, OpenDirectory, ReadFile, Result};
use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Does not follow a symbolic link, and does not wait for a writer of a fifo.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

impl OpenDirectory {
    /// The content of the file `name` of this directory, a single component; a link is not
    /// followed. More than `limit` bytes are an error.
    pub fn read_file(&self, name: &[u8], limit: u64) -> Result<Vec<u8>> {
        let path = OsStr::from_bytes(name);
        let failed = |source| Error::new("open", path, source);
        if name.contains(&b'/') {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        }
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            let opened = rustix::fs::openat(self.descriptor(), name, READ, Mode::empty());
            Ok(opened?)
        });
        let fd = opened.map_err(failed)?;
        let mut content = Vec::new();
        ReadFile::from_fd(fd, path.into()).read_to_end(&mut content, limit)?;
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use crate::OpenDirectory;

    #[test]
    fn only_a_file_of_this_directory_is_read() {
        let root = tempfile::tempdir().unwrap();
        crate::append_file(&root.path().join("name"), b"content", true).unwrap();
        let dir = crate::Dir::open(root.path()).unwrap();
        dir.create_symlink(b"link", b"name").unwrap();
        let directory = OpenDirectory::open(root.path()).unwrap();
        assert_eq!(directory.read_file(b"name", 7).unwrap(), b"content");
        assert!(directory.read_file(b"name", 6).is_err());
        assert!(directory.read_file(b"link", 7).is_err());
        assert!(directory.read_file(b"../name", 7).is_err());
        let error = directory.read_file(b"none", 7).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    }
}
