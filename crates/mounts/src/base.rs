//! The mount of an image that all trees on it share.

use crate::store::{lock_position, StoredImage};
use crate::{Error, Result};
use hedgerow_fs::{create_directories, mount_at, mount_image, real_path, RangeLock};
use std::path::{Path, PathBuf};

/// The place where an image is mounted.
#[derive(Clone, Debug)]
pub struct Base {
    mounts: PathBuf,
    name: String,
}

impl Base {
    /// The place for the image called `name` in `mounts`, the directory for such mounts.
    pub fn new(mounts: &Path, name: &str) -> Self {
        Base {
            mounts: mounts.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The directory on which the image is or will be mounted.
    pub fn path(&self) -> PathBuf {
        self.mounts.join(&self.name)
    }

    /// Whether it is mounted.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn is_mounted(&self) -> Result<bool> {
        match real_path(&self.path()) {
            Ok(path) => Ok(mount_at(&path)?.is_some()),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Mounts `image` if that is not done yet; returns the directory with its contents.
    ///
    /// # Errors
    /// If it cannot be mounted.
    pub fn mount(&self, image: &StoredImage) -> Result<PathBuf> {
        let path = self.path();
        create_directories(&path)?;
        let _lock = self.lock()?;
        if !self.is_mounted()? {
            mount_image(image.kind.name(), &image.path, &path)?;
        }
        Ok(path)
    }

    /// Removes the mount and its directory. Overlays above it stay as they are: the kernel keeps the
    /// image for them.
    ///
    /// # Errors
    /// If it is in use otherwise, or cannot be unmounted.
    pub fn unmount(&self) -> Result<()> {
        let path = self.path();
        if !hedgerow_fs::is_directory(&path) {
            return Ok(());
        }
        let _lock = self.lock()?;
        if self.is_mounted()? {
            hedgerow_fs::unmount(&path, false)?;
        }
        Ok(hedgerow_fs::remove_directory(&path)?)
    }

    /// Held while the mount is made or removed.
    fn lock(&self) -> Result<RangeLock> {
        let position = lock_position(&self.name);
        let lock = RangeLock::acquire(&self.mounts.join("lock"), position, &|| false)?;
        lock.ok_or(Error::Interrupted)
    }
}
