//! The kinds of images.

use hedgerow_fs::knows_file_system;
use std::ffi::OsStr;
use std::path::Path;

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

    /// Whether the kernel has it.
    pub fn is_known(self) -> bool {
        knows_file_system(self.name())
    }
}
