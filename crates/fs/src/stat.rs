use rustix::fs::{FileType, RawMode};

/// A timestamp of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub nanoseconds: u32,
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A fifo.
    Fifo,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
}

/// The stat data of a file. They are not compared whole: see [`Stat::is_as_before`].
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    /// Its kind.
    pub kind: FileKind,
    /// Permission bits and file type, as `st_mode`.
    pub mode: u32,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last content change.
    pub mtime: Timestamp,
    /// Time of the last status change.
    pub ctime: Timestamp,
    /// Time of the last access.
    pub atime: Timestamp,
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// User id of the owner.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Number of hard links.
    pub nlink: u64,
    /// The device number, if it is a device.
    pub rdev: u64,
    /// Allocated space, in units of 512 bytes.
    pub blocks: u64,
    /// The size of reads and writes that suits the file system, in bytes.
    pub io_bytes: u64,
}

/// The major and the minor number of a device, from `st_rdev`.
pub fn device_numbers(rdev: u64) -> (u32, u32) {
    (rustix::fs::major(rdev), rustix::fs::minor(rdev))
}

impl Stat {
    /// Whether it is the same file as `before`, and nothing changed it. Reading it changes the time
    /// of the last access, and the file system may allocate its blocks later: neither counts.
    pub fn is_as_before(&self, before: &Stat) -> bool {
        let facts = |it: &Stat| {
            let owner = (it.uid, it.gid, it.nlink, it.rdev);
            let times = (it.mtime, it.ctime);
            (it.dev, it.ino, it.kind, it.mode, it.size, times, owner)
        };
        facts(self) == facts(before)
    }

    /// The same of files that need not exist: two that are missing are the same.
    pub fn are_as_before(now: Option<&Stat>, before: Option<&Stat>) -> bool {
        match (now, before) {
            (Some(now), Some(before)) => now.is_as_before(before),
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether the owner may execute it; this is the only permission bit that Git records.
    pub fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    #[allow(
        clippy::unnecessary_cast,
        reason = "the types differ between platforms"
    )]
    pub(crate) fn from_raw(raw: &rustix::fs::Stat) -> Self {
        Stat {
            kind: FileKind::from_raw(raw.st_mode),
            mode: raw.st_mode,
            size: raw.st_size as u64,
            mtime: Timestamp {
                seconds: raw.st_mtime as i64,
                nanoseconds: raw.st_mtime_nsec as u32,
            },
            ctime: Timestamp {
                seconds: raw.st_ctime as i64,
                nanoseconds: raw.st_ctime_nsec as u32,
            },
            atime: Timestamp {
                seconds: raw.st_atime as i64,
                nanoseconds: raw.st_atime_nsec as u32,
            },
            dev: raw.st_dev,
            ino: raw.st_ino,
            uid: raw.st_uid,
            gid: raw.st_gid,
            nlink: raw.st_nlink as u64,
            rdev: raw.st_rdev as u64,
            blocks: raw.st_blocks as u64,
            io_bytes: raw.st_blksize as u64,
        }
    }
}

impl FileKind {
    pub(crate) fn from_raw(mode: RawMode) -> Self {
        // Every mode from a kernel has a type; an unknown one is treated as something unreadable.
        FileKind::from_type(FileType::from_raw_mode(mode)).unwrap_or(FileKind::CharacterDevice)
    }

    pub(crate) fn from_type(file_type: FileType) -> Option<Self> {
        Some(match file_type {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Symlink,
            FileType::Fifo => FileKind::Fifo,
            FileType::Socket => FileKind::Socket,
            FileType::BlockDevice => FileKind::BlockDevice,
            FileType::CharacterDevice => FileKind::CharacterDevice,
            FileType::Unknown => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_file_that_was_only_read_is_as_before() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        std::fs::write(&path, "one").unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_times(FileTimes::new().set_accessed(long_ago))
            .unwrap();
        let before = crate::stat(&path).unwrap().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        let mut read = crate::stat(&path).unwrap().unwrap();
        assert!(read.is_as_before(&before));
        // Where a file system is mounted without times of access.
        read.atime.seconds += 1;
        read.blocks += 8;
        assert!(read.is_as_before(&before));
        std::fs::write(&path, "three").unwrap();
        let changed = crate::stat(&path).unwrap().unwrap();
        assert!(!changed.is_as_before(&before));
    }
}
