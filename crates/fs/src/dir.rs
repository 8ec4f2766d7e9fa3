use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::{Error, FileKind, ReadFile, Result, Stat};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, ResolveFlags, CWD};
use std::ffi::{CStr, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A handle to a directory. Names are resolved beneath it without following symbolic links and
/// without leaving it.
///
/// The handle is `O_PATH`: opening it costs no round trip on a network file system once the client
/// knows the names. Paths are byte strings relative to the handle with `/` between components; an
/// empty path is the directory itself.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    /// Prefix of relative paths in error messages.
    label: PathBuf,
}

/// One entry of a listed directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name: any bytes but `/` and NUL.
    pub name: Vec<u8>,
    /// Its kind, if the file system reports it in the listing.
    pub kind: Option<FileKind>,
}

/// A file that was created by [`Dir::create`] and is being written.
#[derive(Debug)]
pub struct NewFile {
    fd: OwnedFd,
}

const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Size of the buffer for reading directory entries, in bytes.
const LIST_BUFFER_BYTES: usize = 64 * 1024;

impl Dir {
    /// Opens the directory at `path`, following links: the root of a target.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            Ok(rustix::fs::openat(CWD, path, HANDLE, Mode::empty())?)
        });
        let fd = opened.map_err(|source| Error::new("open", path, source))?;
        Ok(Dir {
            fd,
            label: path.to_owned(),
        })
    }

    /// Makes errors show paths relative to this directory instead of to the path it was opened by.
    pub fn without_label(mut self) -> Self {
        self.label = PathBuf::new();
        self
    }

    /// Opens the directory `path` beneath this one. A symbolic link anywhere on the way is an
    /// error (`ELOOP`, or `ENOTDIR` for the last component).
    pub fn open_dir(&self, path: &[u8]) -> Result<Dir> {
        let fd = self.open_below(path, HANDLE)?;
        Ok(Dir {
            fd,
            label: self.path_of(path),
        })
    }

    /// Opens the regular file `path` beneath this directory for reading.
    pub fn open_file(&self, path: &[u8]) -> Result<ReadFile> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = self.open_below(path, flags)?;
        Ok(ReadFile::from_fd(fd, self.path_of(path)))
    }

    fn open_below(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd> {
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            open_beneath(self.fd.as_fd(), path, flags)
        });
        opened.map_err(|source| self.error("open", path, source))
    }

    /// Creates the file `name` in this directory; it must not exist. Permissions are 0777 or 0666
    /// minus the process's umask. `name` is one component.
    pub fn create(&self, name: &[u8], executable: bool) -> Result<NewFile> {
        self.create_file(
            name,
            Mode::from_raw_mode(if executable { 0o777 } else { 0o666 }),
        )
    }

    /// The same with other permissions, minus the umask.
    pub fn create_with_mode(&self, name: &[u8], mode: u32) -> Result<NewFile> {
        self.create_file(name, Mode::from_raw_mode(mode & 0o7777))
    }

    fn create_file(&self, name: &[u8], mode: Mode) -> Result<NewFile> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let created = obtain(|| {
            one_component(name)?;
            fault::check(Op::Create)?;
            Ok(rustix::fs::openat(&self.fd, name, flags, mode)?)
        });
        let fd = created.map_err(|source| self.error("create", name, source))?;
        Ok(NewFile { fd })
    }

    /// Creates the directory `name` with permissions 0777 minus the umask.
    pub fn create_dir(&self, name: &[u8]) -> Result<()> {
        self.create_dir_with_mode(name, 0o777)
    }

    /// The same with other permissions, minus the umask.
    pub fn create_dir_with_mode(&self, name: &[u8], mode: u32) -> Result<()> {
        let mode = Mode::from_raw_mode(mode & 0o7777);
        one_component(name)
            .and_then(|()| fault::check(Op::Mkdir))
            .and_then(|()| Ok(rustix::fs::mkdirat(&self.fd, name, mode)?))
            .map_err(|source| self.error("create directory", name, source))
    }

    /// Creates the device, fifo or socket `name`, with permissions `mode` minus the umask; `device`
    /// is the major and minor number of a device.
    pub fn create_node(
        &self,
        name: &[u8],
        kind: FileKind,
        mode: u32,
        device: (u32, u32),
    ) -> Result<()> {
        use rustix::fs::FileType;
        let (operation, file_type) = match kind {
            FileKind::Fifo => ("create fifo", FileType::Fifo),
            FileKind::Socket => ("create socket", FileType::Socket),
            FileKind::BlockDevice => ("create device", FileType::BlockDevice),
            FileKind::CharacterDevice => ("create device", FileType::CharacterDevice),
            FileKind::File | FileKind::Directory | FileKind::Symlink => {
                let source = io::ErrorKind::InvalidInput.into();
                return Err(self.error("create device", name, source));
            }
        };
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let device = rustix::fs::makedev(device.0, device.1);
        one_component(name)
            .and_then(|()| fault::check(Op::Node))
            .and_then(|()| {
                Ok(rustix::fs::mknodat(
                    &self.fd, name, file_type, mode, device,
                )?)
            })
            .map_err(|source| self.error(operation, name, source))
    }

    /// Creates a hard link `name` here to the entry `from_name` of the directory `from`. Both are
    /// one component; a symbolic link is linked itself.
    pub fn link(&self, name: &[u8], from: &Dir, from_name: &[u8]) -> Result<()> {
        one_component(name)
            .and_then(|()| one_component(from_name))
            .and_then(|()| fault::check(Op::Link))
            .and_then(|()| {
                let none = AtFlags::empty();
                Ok(rustix::fs::linkat(
                    &from.fd, from_name, &self.fd, name, none,
                )?)
            })
            .map_err(|source| self.error("link", name, source))
    }

    /// Renames `from` to `to`, both in this directory; an existing file `to` is replaced.
    pub fn rename(&self, from: &[u8], to: &[u8]) -> Result<()> {
        one_component(from)
            .and_then(|()| one_component(to))
            .and_then(|()| fault::check(Op::Rename))
            .and_then(|()| Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?))
            .map_err(|source| self.error("replace", to, source))
    }

    /// Creates the symbolic link `name` with the target `target`.
    pub fn create_symlink(&self, name: &[u8], target: &[u8]) -> Result<()> {
        one_component(name)
            .and_then(|()| fault::check(Op::Symlink))
            .and_then(|()| Ok(rustix::fs::symlinkat(target, &self.fd, name)?))
            .map_err(|source| self.error("create symlink", name, source))
    }

    /// Removes `name`, which must not be a directory.
    pub fn remove_file(&self, name: &[u8]) -> Result<()> {
        self.unlink(name, AtFlags::empty())
    }

    /// Removes the empty directory `name`.
    pub fn remove_dir(&self, name: &[u8]) -> Result<()> {
        self.unlink(name, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, name: &[u8], flags: AtFlags) -> Result<()> {
        one_component(name)
            .and_then(|()| fault::check(Op::Remove))
            .and_then(|()| Ok(rustix::fs::unlinkat(&self.fd, name, flags)?))
            .map_err(|source| self.error("remove", name, source))
    }

    /// The stat data of the entry `name` of this directory, without following links. `name` is one
    /// component: otherwise a link in a leading component would be followed.
    pub fn stat(&self, name: &[u8]) -> Result<Stat> {
        one_component(name)
            .and_then(|()| fault::check(Op::Stat))
            .and_then(|()| {
                let raw = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
                Ok(Stat::from_raw(&raw))
            })
            .map_err(|source| self.error("stat", name, source))
    }

    /// The stat data of this directory.
    pub fn stat_self(&self) -> Result<Stat> {
        fault::check(Op::Stat)
            .and_then(|()| Ok(Stat::from_raw(&rustix::fs::fstat(&self.fd)?)))
            .map_err(|source| self.error("stat", b"", source))
    }

    /// The target of the symbolic link `name`.
    pub fn read_link(&self, name: &[u8]) -> Result<Vec<u8>> {
        one_component(name)
            .and_then(|()| fault::check(Op::Read))
            .and_then(|()| Ok(rustix::fs::readlinkat(&self.fd, name, Vec::new())?.into_bytes()))
            .map_err(|source| self.error("read link", name, source))
    }

    /// The entries of this directory in the file system's order.
    pub fn list(&self) -> Result<Vec<DirEntry>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = obtain(|| {
            fault::check(Op::Open)?;
            Ok(rustix::fs::openat(&self.fd, ".", flags, Mode::empty())?)
        });
        opened
            .and_then(|fd| list(&fd))
            .map_err(|source| self.error("list", b"", source))
    }

    /// The path of an entry of this directory for error messages.
    pub fn path_of(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() {
            return self.label.clone();
        }
        self.label.join(OsStr::from_bytes(path))
    }

    fn error(&self, operation: &'static str, path: &[u8], source: io::Error) -> Error {
        Error::new(operation, self.path_of(path), source)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsFd for NewFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl NewFile {
    /// Appends `content`.
    pub fn write_all(&self, mut content: &[u8]) -> io::Result<()> {
        while !content.is_empty() {
            match fault::check(Op::Write).and_then(|()| Ok(rustix::io::write(&self.fd, content)?)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => content = &content[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Moves the write position forward by `bytes`, leaving a hole.
    pub fn skip(&self, bytes: u64) -> io::Result<()> {
        rustix::fs::seek(&self.fd, rustix::fs::SeekFrom::Current(bytes as i64))?;
        Ok(())
    }

    /// Sets the length, for a file that ends in a hole.
    pub fn set_len(&self, bytes: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(&self.fd, bytes)?)
    }

    /// The stat data of the file, taken once after the last write.
    pub fn stat(&self) -> io::Result<Stat> {
        fault::check(Op::Stat)?;
        Ok(Stat::from_raw(&rustix::fs::fstat(&self.fd)?))
    }

    /// Closes the file and reports the errors that a network file system reveals only then.
    pub fn close(self) -> io::Result<()> {
        fault::check(Op::Close)?;
        close(self.fd)
    }
}

/// Closes `fd`; unlike dropping it, this reports errors.
#[allow(unsafe_code)]
pub(crate) fn close(fd: OwnedFd) -> io::Result<()> {
    use rustix::fd::IntoRawFd;
    // SAFETY: the descriptor was just taken from its owner, which will not close it again.
    match unsafe { rustix::io::try_close(fd.into_raw_fd()) } {
        // Linux has released the descriptor even when the call was interrupted.
        Err(rustix::io::Errno::INTR) => Ok(()),
        other => Ok(other?),
    }
}

/// Checks that a name is one component; otherwise resolution could leave the directory that it is
/// relative to.
pub(crate) fn one_component(name: &[u8]) -> io::Result<()> {
    if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not the name of an entry",
        ));
    }
    Ok(())
}

/// Opens `path` beneath `at` without following symbolic links: with openat2 if the kernel has it,
/// else component by component.
pub(crate) fn open_beneath(at: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let path = if path.is_empty() {
        b".".as_slice()
    } else {
        path
    };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(at, path, flags, Mode::empty(), resolve) {
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => open_stepwise(at, path, flags),
        other => Ok(other?),
    }
}

fn open_stepwise(at: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let mut components = path
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .peekable();
    let mut current: Option<OwnedFd> = None;
    while let Some(component) = components.next() {
        if component == b".." {
            return Err(io::Error::from_raw_os_error(
                rustix::io::Errno::XDEV.raw_os_error(),
            ));
        }
        let flags = if components.peek().is_some() {
            HANDLE
        } else {
            flags
        } | OFlags::NOFOLLOW;
        let from = current.as_ref().map_or(at, |fd| fd.as_fd());
        current = Some(rustix::fs::openat(from, component, flags, Mode::empty())?);
    }
    match current {
        Some(fd) => Ok(fd),
        None => Ok(rustix::fs::openat(at, ".", flags, Mode::empty())?),
    }
}

pub(crate) fn list(fd: &OwnedFd) -> io::Result<Vec<DirEntry>> {
    fault::check(Op::Read)?;
    let mut buffer = Box::new_uninit_slice(LIST_BUFFER_BYTES);
    let mut listing = RawDir::new(fd, &mut buffer);
    let mut entries = Vec::new();
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if name != c"." && name != c".." {
            let kind = FileKind::from_type(entry.file_type());
            entries.push(DirEntry {
                name: name.to_bytes().to_vec(),
                kind,
            });
        }
    }
    Ok(entries)
}
