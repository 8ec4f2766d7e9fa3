//! The mount of an image that all trees on it share.

use crate::store::{lock_position, StoredImage};
use crate::{Error, Result};
use hedgerow_fs::{create_directories, mount_at, real_path, RangeLock};
use std::path::{Path, PathBuf};

/// The place where an image is mounted.
#[derive(Clone, Debug)]
pub struct Base {
    mounts: PathBuf,
    name: String,
}

/// A mounted image. It stays mounted at least as long as this is held.
#[derive(Debug)]
pub struct Lower {
    /// The directory with its contents.
    pub path: PathBuf,
    _lock: RangeLock,
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

    /// The mount, if it is there.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn mounted(&self) -> Result<Option<Lower>> {
        if !self.is_mounted()? {
            return Ok(None);
        }
        let lower = Lower {
            path: self.path(),
            _lock: self.lock()?,
        };
        Ok(self.is_mounted()?.then_some(lower))
    }

    /// Mounts `image` if that is not done yet.
    ///
    /// # Errors
    /// If it cannot be mounted.
    pub fn mount(&self, image: &StoredImage) -> Result<Lower> {
        let path = self.path();
        create_directories(&self.mounts)?;
        let _lock = self.lock()?;
        create_directories(&path)?;
        if !self.is_mounted()? {
            image.mount_on(&path)?;
        }
        Ok(Lower { path, _lock })
    }

    /// Removes the mount and its directory, unless it `is_used`. Overlays above it stay as they are: the
    /// kernel keeps the image for them.
    ///
    /// # Errors
    /// If it is in use otherwise, or cannot be unmounted.
    pub fn unmount_unless(&self, is_used: &dyn Fn() -> bool) -> Result<()> {
        let path = self.path();
        if !hedgerow_fs::is_directory(&path) {
            return Ok(());
        }
        let _lock = self.lock()?;
        if is_used() {
            return Ok(());
        }
        if self.is_mounted()? {
            hedgerow_fs::unmount(&path, false)?;
        }
        Ok(hedgerow_fs::remove_directory(&path)?)
    }

    /// Held while the mount is made or removed, and while an overlay above it is made.
    fn lock(&self) -> Result<RangeLock> {
        let position = lock_position(self.name.as_bytes());
        let lock = RangeLock::acquire(&self.mounts.join("lock"), position, &|| false)?;
        lock.ok_or(Error::Interrupted)
    }
}
