//! The type of a path's file system.

use crate::{Error, Result};
use std::path::Path;
use FileSystemPlace::{Local, Network, UserSpace};

/// A file system's type, as `statfs(2)` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The number that the kernel gives the type.
    pub magic: u64,
    /// Its usual name, if it is one of those known here.
    pub name: Option<&'static str>,
    /// Who answers for its contents.
    pub place: FileSystemPlace,
}

/// Who answers for the contents of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystemPlace {
    /// The kernel of this machine, so that all processes here see the same at once.
    Local,
    /// Another machine.
    Network,
    /// A process of this machine, which may ask anybody.
    UserSpace,
    /// Not known: the type is none of those listed here.
    Unknown,
}

/// Magic number, name, and where the contents are: `linux/magic.h`, and the sources of
/// the file systems that are not listed there. ext2, ext3 and ext4 share a number and a driver.
const KNOWN: [(u64, &str, FileSystemPlace); 26] = [
    (0xEF53, "ext4", Local),
    (0x9123_683E, "btrfs", Local),
    (0x5846_5342, "xfs", Local),
    (0xF2F5_2010, "f2fs", Local),
    (0xCA45_1A4E, "bcachefs", Local),
    (0x2FC1_2FC1, "zfs", Local),
    (0x0102_1994, "tmpfs", Local),
    (0x8584_58F6, "ramfs", Local),
    (0x794C_7630, "overlayfs", Local),
    (0x5265_4973, "reiserfs", Local),
    (0x3153_464A, "jfs", Local),
    (0x4D44, "vfat", Local),
    (0x2011_BAB0, "exfat", Local),
    (0x7366_746E, "ntfs3", Local),
    (0xF15F, "ecryptfs", Local),
    (0x6573_5546, "fuse", UserSpace),
    (0x6969, "nfs", Network),
    (0x517B, "smb", Network),
    (0xFF53_4D42, "cifs", Network),
    (0xFE53_4D42, "smb2", Network),
    (0x0102_1997, "9p", Network),
    (0x00C3_6400, "ceph", Network),
    (0x0BD0_0BD0, "lustre", Network),
    (0x5346_414F, "afs", Network),
    (0x7375_7245, "coda", Network),
    (0x0116_1970, "gfs2", Network),
];

impl FileSystem {
    /// The file system that `path` is on, links followed.
    ///
    /// # Errors
    /// If nothing is at `path`, or the system does not tell.
    pub fn at(path: &Path) -> Result<FileSystem> {
        let state = rustix::fs::statfs(path).map_err(|source| Error::new("open", path, source))?;
        // On machines of 32 bits the number is signed.
        Ok(FileSystem::from_magic(state.f_type as u64 & 0xFFFF_FFFF))
    }

    /// The file system with the number `magic`.
    pub fn from_magic(magic: u64) -> FileSystem {
        let known = KNOWN.iter().find(|(number, ..)| *number == magic);
        FileSystem {
            magic,
            name: known.map(|(_, name, _)| *name),
            place: known.map_or(FileSystemPlace::Unknown, |(.., place)| *place),
        }
    }

    /// Whether the type is one that asks another machine.
    pub fn is_network(&self) -> bool {
        self.place == Network
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
    fn the_file_system_of_processes_has_its_number() {
        assert_eq!(FileSystem::at(Path::new("/proc")).unwrap().magic, 0x9FA0);
        let error = FileSystem::at(Path::new("/proc/absent")).unwrap_err();
        let expected = "cannot open '/proc/absent': No such file or directory";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn no_number_is_listed_twice() {
        for (at, (magic, ..)) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..at].iter().all(|(other, ..)| other != magic));
        }
    }

    #[test]
    fn what_is_known_has_a_name_and_the_rest_its_number() {
        assert_eq!(FileSystem::from_magic(0xEF53).to_string(), "ext4");
        assert!(FileSystem::from_magic(0x6969).is_network());
        assert_eq!(FileSystem::from_magic(0x6573_5546).place, UserSpace);
        let unknown = FileSystem::from_magic(0xABC);
        assert_eq!(unknown.to_string(), "file system 0xabc");
        assert_eq!(unknown.place, FileSystemPlace::Unknown);
    }

    #[test]
    fn the_memory_that_processes_share_is_a_tmpfs() {
        let path = Path::new("/dev/shm");
        if crate::is_directory(path) {
            assert_eq!(FileSystem::at(path).unwrap().name, Some("tmpfs"));
        }
    }
}
