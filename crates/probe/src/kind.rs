//! The type of a file system.

use hedgerow_fs::Result;
use std::path::Path;

/// A file system's type, as reported by `statfs(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The kernel's number for the type.
    pub magic: u64,
    /// Its usual name, if known here.
    pub name: Option<&'static str>,
    /// Whether it is a network file system.
    pub is_network: bool,
}

/// Magic number, name, and whether it is a network file system: from `linux/magic.h`, and from the
/// sources of file systems not listed there. ext2, ext3 and ext4 share a number and a driver.
const KNOWN: [(u64, &str, bool); 26] = [
    (0xEF53, "ext4", false),
    (0x9123_683E, "btrfs", false),
    (0x5846_5342, "xfs", false),
    (0xF2F5_2010, "f2fs", false),
    (0xCA45_1A4E, "bcachefs", false),
    (0x2FC1_2FC1, "zfs", false),
    (0x0102_1994, "tmpfs", false),
    (0x8584_58F6, "ramfs", false),
    (0x794C_7630, "overlayfs", false),
    (0x5265_4973, "reiserfs", false),
    (0x3153_464A, "jfs", false),
    (0x4D44, "vfat", false),
    (0x2011_BAB0, "exfat", false),
    (0x7366_746E, "ntfs3", false),
    (0xF15F, "ecryptfs", false),
    (0x6573_5546, "fuse", false),
    (0x6969, "nfs", true),
    (0x517B, "smb", true),
    (0xFF53_4D42, "cifs", true),
    (0xFE53_4D42, "smb2", true),
    (0x0102_1997, "9p", true),
    (0x00C3_6400, "ceph", true),
    (0x0BD0_0BD0, "lustre", true),
    (0x5346_414F, "afs", true),
    (0x7375_7245, "coda", true),
    (0x0116_1970, "gfs2", true),
];

impl FileSystem {
    /// The file system that `path` is on.
    pub fn of(path: &Path) -> Result<FileSystem> {
        hedgerow_fs::file_system_magic(path).map(FileSystem::from_magic)
    }

    /// The file system with the number `magic`.
    pub fn from_magic(magic: u64) -> FileSystem {
        let known = KNOWN.iter().find(|(number, ..)| *number == magic);
        FileSystem {
            magic,
            name: known.map(|(_, name, _)| *name),
            is_network: known.is_some_and(|(.., is_network)| *is_network),
        }
    }
}

impl std::fmt::Display for FileSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "file system {:#x}", self.magic),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_listed_twice() {
        for (at, (magic, ..)) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..at].iter().all(|(other, ..)| other != magic));
        }
    }

    #[test]
    fn what_is_known_has_a_name_and_the_rest_its_number() {
        assert_eq!(FileSystem::from_magic(0xEF53).to_string(), "ext4");
        assert!(FileSystem::from_magic(0x6969).is_network);
        let unknown = FileSystem::from_magic(0xABC);
        assert_eq!(unknown.to_string(), "file system 0xabc");
    }

    #[test]
    fn the_memory_that_processes_share_is_a_tmpfs() {
        let path = Path::new("/dev/shm");
        if hedgerow_fs::is_directory(path) {
            assert_eq!(FileSystem::of(path).unwrap().name, Some("tmpfs"));
        }
    }
}
