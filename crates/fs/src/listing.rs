use crate::descriptors::obtain;
use crate::dir::open_beneath;
use crate::fault::{self, Op};
use crate::{FileKind, Stat};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, CWD};
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

/// Size of the buffer for reading directory entries, in bytes.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Longest path passed to one call, in bytes; below the system's limit of 4096.
const PIECE_BYTES: usize = 4000;

/// Whether there is more to read, if a directory that was removed while it was open counts as read to its
/// end: so it is for who lists it with the C library, as Python does.
///
/// # Errors
/// Any other error of `read`, which is what [`OpenDirectory::read`] has returned.
pub fn until_removed(read: io::Result<bool>) -> io::Result<bool> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => other,
    }
}

/// An open directory that can be listed and whose entries can be statted.
///
/// Only the path given to [`OpenDirectory::open`] is opened with links followed.
#[derive(Debug)]
pub struct OpenDirectory {
    fd: OwnedFd,
}

/// Buffer for reading directory entries. It can be reused for any number of directories.
#[derive(Debug)]
pub struct ReadBuffer {
    bytes: Box<[MaybeUninit<u8>]>,
}

/// The names and kinds of a directory's entries. All names share one buffer.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    names: Vec<u8>,
    entries: Vec<Listed>,
}

/// One entry of a [`Listing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    start: u32,
    len: u16,
    /// Its kind, if the file system reports it in the listing.
    pub kind: Option<FileKind>,
}

/// Maximum size of the names of a listing, in bytes: their positions have 32 bits.
const NAMES_LIMIT_BYTES: usize = u32::MAX as usize;

impl OpenDirectory {
    /// Opens the directory at `path`, following links: the root of a walk.
    pub fn open(path: &Path) -> io::Result<Self> {
        let fd = obtain(|| {
            fault::check(Op::Open)?;
            Ok(rustix::fs::openat(CWD, path, READ, Mode::empty())?)
        })?;
        Ok(OpenDirectory { fd })
    }

    /// The directory that is open as `descriptor` in this process: a duplicate, which shares the
    /// position of reading with it.
    #[allow(unsafe_code)]
    pub fn duplicate(descriptor: i32) -> io::Result<Self> {
        fault::check(Op::Open)?;
        if descriptor < 0 {
            return Err(rustix::io::Errno::BADF.into());
        }
        // SAFETY: the number is borrowed for one call, which fails if nothing is open as it.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let fd = obtain(|| Ok(rustix::io::fcntl_dupfd_cloexec(borrowed, 0)?))?;
        let found = rustix::fs::fstat(&fd)?;
        if FileKind::from_raw(found.st_mode) != FileKind::Directory {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
        Ok(OpenDirectory { fd })
    }

    /// Continues reading at the first entry.
    pub fn rewind(&self) -> io::Result<()> {
        rustix::fs::seek(&self.fd, rustix::fs::SeekFrom::Start(0))?;
        Ok(())
    }

    /// Opens the directory at `path` beneath this one; no link on the way is followed. `path` may
    /// be of any length.
    pub fn open_below(&self, path: &[u8]) -> io::Result<Self> {
        self.open_at(path, READ)
    }

    /// Opens it without the permission to list it: its entries can only be statted.
    pub fn open_to_stat(&self, path: &[u8]) -> io::Result<Self> {
        self.open_at(path, READ | OFlags::PATH)
    }

    fn open_at(&self, path: &[u8], flags: OFlags) -> io::Result<Self> {
        obtain(|| self.try_open_at(path, flags))
    }

    fn try_open_at(&self, path: &[u8], flags: OFlags) -> io::Result<Self> {
        fault::check(Op::Open)?;
        if !path.contains(&b'/') && path != b".." {
            // A single component that is not a link stays beneath this directory.
            let name = if path.is_empty() { b"." } else { path };
            let fd = rustix::fs::openat(&self.fd, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
            return Ok(OpenDirectory { fd });
        }
        let mut at: Option<OwnedFd> = None;
        let mut rest = path;
        while rest.len() > PIECE_BYTES {
            let end = rest[..PIECE_BYTES].iter().rposition(|byte| *byte == b'/');
            let end = end.filter(|end| *end > 0);
            let end = end.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            let from = at.as_ref().unwrap_or(&self.fd).as_fd();
            at = Some(open_beneath(from, &rest[..end], READ | OFlags::PATH)?);
            rest = &rest[end + 1..];
        }
        let fd = open_beneath(at.as_ref().unwrap_or(&self.fd).as_fd(), rest, flags)?;
        Ok(OpenDirectory { fd })
    }

    /// Adds the next entries to `listing`, without `.` and `..`; `false` if there are no more.
    ///
    /// Fails with the system's reason; entries read before are kept.
    pub fn read(&self, buffer: &mut ReadBuffer, listing: &mut Listing) -> io::Result<bool> {
        self.read_entries(buffer, listing, |_| {})
    }

    /// The same; the inode numbers of the entries, as the listing has them, are added to `inodes`.
    pub fn read_with_inodes(
        &self,
        buffer: &mut ReadBuffer,
        listing: &mut Listing,
        inodes: &mut Vec<u64>,
    ) -> io::Result<bool> {
        self.read_entries(buffer, listing, |inode| inodes.push(inode))
    }

    fn read_entries(
        &self,
        buffer: &mut ReadBuffer,
        listing: &mut Listing,
        mut added: impl FnMut(u64),
    ) -> io::Result<bool> {
        fault::check(Op::Read)?;
        let mut listed = RawDir::new(&self.fd, &mut buffer.bytes);
        // Only the first entry makes a system call; the others are in the buffer.
        let mut more = false;
        while let Some(entry) = listed.next() {
            let entry = entry?;
            more = true;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let kind = FileKind::from_type(entry.file_type());
                listing.push(name, kind.filter(|_| !fault::hides_kind()))?;
                added(entry.ino());
            }
            if listed.is_buffer_empty() {
                break;
            }
        }
        Ok(more)
    }

    /// The stat data of the entry `name`, a single component; a link is not followed.
    pub fn stat(&self, name: &[u8]) -> io::Result<Stat> {
        fault::check(Op::Stat)?;
        if name.contains(&b'/') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let raw = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stat::from_raw(&raw))
    }

    /// The kind of what the entry `name` leads to, links followed.
    pub fn kind_followed(&self, name: &[u8]) -> io::Result<FileKind> {
        fault::check(Op::Stat)?;
        let raw = rustix::fs::statat(&self.fd, name, AtFlags::empty())?;
        Ok(FileKind::from_raw(raw.st_mode))
    }

    /// Removes the entry `name`, a single component that must not be a directory.
    pub fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        self.remove(name, AtFlags::empty())
    }

    /// Removes the empty directory `name`, a single component.
    pub fn remove_dir(&self, name: &[u8]) -> io::Result<()> {
        self.remove(name, AtFlags::REMOVEDIR)
    }

    fn remove(&self, name: &[u8], flags: AtFlags) -> io::Result<()> {
        fault::check(Op::Remove)?;
        if name.contains(&b'/') || name == b"." || name == b".." {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(rustix::fs::unlinkat(&self.fd, name, flags)?)
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The stat data of this directory.
    pub fn stat_self(&self) -> io::Result<Stat> {
        fault::check(Op::Stat)?;
        Ok(Stat::from_raw(&rustix::fs::fstat(&self.fd)?))
    }
}

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Default for ReadBuffer {
    fn default() -> Self {
        ReadBuffer {
            // Only what the kernel writes to is touched.
            bytes: Box::new_uninit_slice(READ_BUFFER_BYTES),
        }
    }
}

impl Listing {
    /// Adds an entry. Fails if the names exceed 4 GiB in total, or this one 64 KiB.
    pub fn push(&mut self, name: &[u8], kind: Option<FileKind>) -> io::Result<()> {
        let too_long = || io::Error::from(io::ErrorKind::FileTooLarge);
        if self.names.len() + name.len() > NAMES_LIMIT_BYTES {
            return Err(too_long());
        }
        let entry = Listed {
            start: self.names.len() as u32,
            len: u16::try_from(name.len()).map_err(|_| too_long())?,
            kind,
        };
        self.names.extend_from_slice(name);
        self.entries.push(entry);
        Ok(())
    }

    /// The entries in their current order.
    pub fn entries(&self) -> &[Listed] {
        &self.entries
    }

    /// The entries, mutable for setting kinds that were unknown.
    pub fn entries_mut(&mut self) -> &mut [Listed] {
        &mut self.entries
    }

    /// The name of an entry of this listing.
    pub fn name(&self, entry: &Listed) -> &[u8] {
        let start = entry.start as usize;
        &self.names[start..start + usize::from(entry.len)]
    }

    /// The name of entry number `number`.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn name_of(&self, number: u32) -> &[u8] {
        self.name(&self.entries[number as usize])
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sorts the entries by the bytes of their names, ascending.
    pub fn sort(&mut self) {
        let names = &self.names;
        let name = |entry: &Listed| {
            let start = entry.start as usize;
            &names[start..start + usize::from(entry.len)]
        };
        self.entries.sort_unstable_by(|a, b| name(a).cmp(name(b)));
    }

    /// Size of the memory that it holds, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.names.capacity() + self.entries.capacity() * std::mem::size_of::<Listed>()
    }

    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(listing: &Listing) -> Vec<&[u8]> {
        let entries = listing.entries().iter();
        entries.map(|entry| listing.name(entry)).collect()
    }

    #[test]
    fn a_listing_is_sorted_by_bytes() {
        let mut listing = Listing::default();
        for name in [b"b".as_slice(), b"a.c", b"a", b"\xff", b"B"] {
            listing.push(name, None).unwrap();
        }
        listing.sort();
        assert_eq!(
            names(&listing),
            [b"B".as_slice(), b"a", b"a.c", b"b", b"\xff"]
        );
    }

    #[test]
    fn a_directory_is_listed_in_pieces_and_statted() {
        let root = tempfile::tempdir().unwrap();
        let made: Vec<String> = (0..3000).map(|n| format!("{n:0>100}")).collect();
        for name in &made {
            crate::append_file(&root.path().join(name), b"x", true).unwrap();
        }
        let directory = OpenDirectory::open(root.path()).unwrap();
        let (mut buffer, mut listing) = (ReadBuffer::default(), Listing::default());
        let mut calls = 0;
        while directory.read(&mut buffer, &mut listing).unwrap() {
            calls += 1;
        }
        assert!(calls > 1);
        listing.sort();
        let expected: Vec<&[u8]> = made.iter().map(|name| name.as_bytes()).collect();
        assert_eq!(names(&listing), expected);
        assert_eq!(directory.stat(made[7].as_bytes()).unwrap().size, 1);
        assert!(directory.stat(b"../x").is_err());
        assert!(directory.open_below(b"..").is_err());
    }
}
