//! A directory of images.
//!
//! `NAME.KIND` is an image, `NAME.index` what its maker keeps beside it; an image is there when both
//! are. Both get their names when they are complete. The time of the second file says when the image was
//! used last. `NAME.notes` is what its users have found out about it, `NAME.settings` what its maker says of the settings
//! that it was made with; both may be missing. `users/` names the repositories whose trees may be on images
//! of a shared store.

mod mounted;
mod name;
mod prune;

pub use mounted::MountedImages;
pub(crate) use name::lock_position;
pub use name::ImageName;

use crate::{Error, ImageKind, Result};
use hedgerow_fs::Timestamp;
use hedgerow_fs::{create_directories, list_directory, mount_image, stat, OpenImage, RangeLock};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const INDEX: &str = "index";
const NOTES: &str = "notes";
const SETTINGS: &str = "settings";

/// A directory of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageStore {
    directory: PathBuf,
}

/// An image in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredImage {
    /// Its name.
    pub name: ImageName,
    /// The file system in it.
    pub kind: ImageKind,
    /// Its file.
    pub path: PathBuf,
    /// What its maker keeps beside it.
    pub index: PathBuf,
    /// What its users keep beside it, which need not be there.
    pub notes: PathBuf,
    /// What its maker says of its settings, which need not be there.
    pub settings: PathBuf,
    /// Size of these files in bytes.
    pub bytes: u64,
    /// When it was used last.
    pub used: Timestamp,
}

impl StoredImage {
    /// Refuses an image that is cut, as far as its superblock and its size tell.
    ///
    /// # Errors
    /// [`Error::Image`].
    pub fn check(&self) -> Result<()> {
        self.kind.check(&self.path).map_err(|reason| Error::Image {
            path: self.path.clone(),
            reason,
        })
    }

    /// Notes that it was used now. In a store of others, that is not possible, nor needed.
    pub fn note_use(&self) {
        // Without it, the image only goes sooner.
        let _ = hedgerow_fs::touch(&self.index);
    }

    /// Mounts it on the directory `at`, unless it is cut.
    ///
    /// # Errors
    /// [`Error::Image`].
    pub fn mount_on(&self, at: &Path) -> Result<()> {
        self.check()?;
        mount_image(self.kind.name(), &self.path, at).map_err(|error| self.unmountable(&error))
    }

    /// Mounts it for this process alone, unless it is cut.
    ///
    /// # Errors
    /// [`Error::Image`].
    pub fn open(&self) -> Result<OpenImage> {
        self.check()?;
        OpenImage::open(self.kind.name(), &self.path).map_err(|error| self.unmountable(&error))
    }

    fn unmountable(&self, error: &hedgerow_fs::Error) -> Error {
        Error::Image {
            path: self.path.clone(),
            reason: error.reason(),
        }
    }
}

impl fmt::Display for StoredImage {
    /// Its name, size and kind, as in a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, self.bytes, self.kind.name())
    }
}

/// The right to make an image: nobody else makes the same one meanwhile.
#[derive(Debug)]
pub struct Making {
    /// Where the image is written, as a whole and at once.
    pub image: PathBuf,
    /// Where the file beside it is written, as a whole, after the image.
    pub index: PathBuf,
    /// Where it is written what the settings are, after these two; the image is there without it.
    pub settings: PathBuf,
    _lock: RangeLock,
}

/// Who makes an image.
#[derive(Debug)]
pub enum Maker {
    /// Nobody: it is there.
    Made(StoredImage),
    /// The caller.
    Us(Making),
}

impl ImageStore {
    /// The store in `directory`, which need not exist.
    pub fn at(directory: &Path) -> Self {
        ImageStore {
            directory: directory.to_owned(),
        }
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether this process may put images into it. It is made if it is missing.
    pub fn is_writable(&self) -> bool {
        create_directories(&self.directory).is_ok()
            && RangeLock::acquire(&self.lock_path(), 0, &|| true).is_ok()
    }

    fn lock_path(&self) -> PathBuf {
        self.directory.join("lock")
    }

    /// The image called `name`, if it is there.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find(&self, name: &ImageName) -> Result<Option<StoredImage>> {
        for kind in ImageKind::ALL {
            if let Some(image) = self.stored(name, kind)? {
                return Ok(Some(image));
            }
        }
        Ok(None)
    }

    fn stored(&self, name: &ImageName, kind: ImageKind) -> Result<Option<StoredImage>> {
        let path = self.file(name, kind.name());
        let index = self.file(name, INDEX);
        let (Some(of_image), Some(of_index)) = (stat(&path)?, stat(&index)?) else {
            return Ok(None);
        };
        let image = self.with_size(name, kind, of_image.size + of_index.size, of_index.mtime);
        let notes_bytes = stat(&image.notes)?.map_or(0, |of_notes| of_notes.size);
        let bytes = image.bytes + notes_bytes;
        Ok(Some(StoredImage { bytes, ..image }))
    }

    fn with_size(
        &self,
        name: &ImageName,
        kind: ImageKind,
        bytes: u64,
        used: Timestamp,
    ) -> StoredImage {
        StoredImage {
            name: name.clone(),
            kind,
            path: self.file(name, kind.name()),
            index: self.file(name, INDEX),
            notes: self.file(name, NOTES),
            settings: self.file(name, SETTINGS),
            bytes,
            used,
        }
    }

    /// Images without their index: what makers left who were killed, and what is being made now.
    fn unfinished(&self) -> Result<Vec<StoredImage>> {
        let mut images = Vec::new();
        for (name, kind) in self.names()? {
            if let Some(found) = stat(&self.file(&name, kind.name()))? {
                let image = self.with_size(&name, kind, found.size, found.mtime);
                images.extend((!hedgerow_fs::exists(&image.index)).then_some(image));
            }
        }
        Ok(images)
    }

    fn file(&self, name: &ImageName, ending: &str) -> PathBuf {
        self.directory.join(format!("{name}.{ending}"))
    }

    /// All images, the one that was used last first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list(&self) -> Result<Vec<StoredImage>> {
        let mut images = Vec::new();
        for (name, kind) in self.names()? {
            images.extend(self.stored(&name, kind)?);
        }
        images.sort_by(|a, b| (b.used, &b.name).cmp(&(a.used, &a.name)));
        Ok(images)
    }

    /// The names of the files of images.
    fn names(&self) -> Result<Vec<(ImageName, ImageKind)>> {
        let entries = list_directory(&self.directory)?.unwrap_or_default();
        let names = entries.iter().filter_map(|entry| {
            let file = OsStr::from_bytes(&entry.name);
            let stem = Path::new(file).file_stem().and_then(OsStr::to_str);
            Some((stem.and_then(ImageName::parse)?, ImageKind::of_file(file)?))
        });
        Ok(names.collect())
    }

    /// Waits for whoever makes the image called `name`, and finds it, or else gives the right to
    /// make one of this kind.
    ///
    /// # Errors
    /// If the store cannot be written, or `is_cancelled`.
    pub fn claim(
        &self,
        name: &ImageName,
        kind: ImageKind,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Maker> {
        create_directories(&self.directory)?;
        let position = lock_position(name.to_string().as_bytes());
        let lock = RangeLock::acquire(&self.lock_path(), position, is_cancelled)?;
        let lock = lock.ok_or(Error::Interrupted)?;
        Ok(match self.find(name)? {
            Some(image) => Maker::Made(image),
            None => Maker::Us(Making {
                image: self.file(name, kind.name()),
                index: self.file(name, INDEX),
                settings: self.file(name, SETTINGS),
                _lock: lock,
            }),
        })
    }
}
