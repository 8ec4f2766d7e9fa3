//! Which images are mounted, whoever did it.

use super::StoredImage;
use crate::sign::is_same;
use crate::{ImageKind, Result};
use hedgerow_fs::mounts;
use std::path::PathBuf;

/// The files of images that this mount namespace has mounted.
#[derive(Clone, Debug)]
pub struct MountedImages(Vec<PathBuf>);

impl MountedImages {
    /// Those of now.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn now() -> Result<Self> {
        let is_image = |kind: &str| ImageKind::ALL.iter().any(|known| known.name() == kind);
        let images = mounts()?.into_iter().filter(|mount| is_image(&mount.kind));
        Ok(MountedImages(
            images.filter_map(|mount| mount.file()).collect(),
        ))
    }

    /// Whether the file of `image` is among them. The system knows a file by the path that it had when it
    /// was mounted; its name stays the same.
    pub fn has(&self, image: &StoredImage) -> bool {
        self.0.iter().any(|file| {
            file.file_name() == image.path.file_name()
                && (!hedgerow_fs::exists(file) || is_same(file, &image.path))
        })
    }
}
