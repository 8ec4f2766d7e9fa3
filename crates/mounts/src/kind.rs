//! The kinds of images.

use hedgerow_fs::{knows_file_system, stat, FileKind, ReadFile};
use std::ffi::OsStr;
use std::path::Path;

/// Where the superblock of EROFS is.
const EROFS_AT: usize = 1024;
const HEADER_BYTES: usize = EROFS_AT + 128;

/// The file system that an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageKind {
    /// EROFS.
    Erofs,
    /// SquashFS.
    Squashfs,
}

impl ImageKind {
    /// All of them, the preferred one first.
    pub const ALL: [ImageKind; 2] = [ImageKind::Erofs, ImageKind::Squashfs];

    /// What the kernel calls it, which is also the ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            ImageKind::Erofs => "erofs",
            ImageKind::Squashfs => "squashfs",
        }
    }

    /// The kind of the image in a file with this name.
    pub(crate) fn of_file(name: &OsStr) -> Option<Self> {
        let ending = Path::new(name).extension()?;
        Self::ALL.into_iter().find(|kind| ending == kind.name())
    }

    /// The best kind that the kernel has; the preferred one if it has none.
    pub fn best() -> Self {
        let known = Self::ALL.into_iter().find(|kind| kind.is_known());
        known.unwrap_or(ImageKind::Erofs)
    }

    /// Refuses a file that is no image of this kind or too short for what its superblock says, which the
    /// kernel would mount, and fail to read later.
    pub(crate) fn check(self, path: &Path) -> Result<(), String> {
        let told = |error: hedgerow_fs::Error| error.reason();
        let stat = stat(path).map_err(told)?;
        let is_file = |stat: &hedgerow_fs::Stat| stat.kind == FileKind::File;
        let size = stat.filter(is_file).ok_or("it is no file")?.size;
        let mut start = [0; HEADER_BYTES];
        let count = ReadFile::open(path).and_then(|file| file.read_at(&mut start, 0));
        let start = &start[..count.map_err(told)?];
        let number = |at: usize, bytes: usize| {
            let field = start.get(at..at + bytes)?;
            Some(
                field
                    .iter()
                    .rev()
                    .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)),
            )
        };
        let is_magic = |at: usize, magic: u64| number(at, 4) == Some(magic);
        // squashfs_super_block and erofs_super_block of the kernel, little-endian.
        let expected = match self {
            ImageKind::Squashfs if is_magic(0, 0x7371_7368) => number(40, 8),
            ImageKind::Erofs if is_magic(EROFS_AT, 0xe0f5_e1e2) => {
                let shift = number(EROFS_AT + 12, 1).filter(|shift| *shift < 32);
                let blocks = number(EROFS_AT + 36, 4);
                shift.and_then(|shift| Some(blocks? << shift))
            }
            _ => None,
        };
        match expected {
            None => Err("it has no superblock".into()),
            Some(expected) if size < expected => {
                Err(format!("it has {size} bytes instead of {expected}"))
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether the kernel has it.
    pub fn is_known(self) -> bool {
        knows_file_system(self.name())
    }
}
