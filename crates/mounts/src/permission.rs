//! Who may mount.

use crate::ImageKind;
use hedgerow_fs::{knows_file_system, may_mount};

/// Why images and overlays cannot be mounted here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// This user may not mount.
    NotAllowed,
    /// A user namespace may mount overlays, but no images.
    UserNamespace,
    /// The kernel has no overlays.
    NoOverlay,
    /// The kernel has no file system for images.
    NoImages,
}

impl Hindrance {
    /// The reason, as the end of a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Hindrance::NotAllowed => "mounting needs the rights of root (CAP_SYS_ADMIN)",
            Hindrance::UserNamespace => "a user namespace may not mount images",
            Hindrance::NoOverlay => "this kernel has no overlayfs",
            Hindrance::NoImages => "this kernel has neither EROFS nor SquashFS",
        }
    }
}

/// What hinders this process from mounting images and overlays above them, if
/// anything does that can be told beforehand.
pub fn hindrance() -> Option<Hindrance> {
    let (may, is_first) = may_mount();
    if !may {
        return Some(Hindrance::NotAllowed);
    }
    if !is_first {
        return Some(Hindrance::UserNamespace);
    }
    if !knows_file_system("overlay") {
        return Some(Hindrance::NoOverlay);
    }
    let is_known = ImageKind::ALL.iter().any(|kind| kind.is_known());
    (!is_known).then_some(Hindrance::NoImages)
}
