//! A writable tree: the layers of an overlay, and what is known of them while it is not mounted.

use crate::sign::{is_sign, remove_sign, write_sign};
use crate::{Error, Result};
use hedgerow_fs::{
    create_directories, list_directory, mount_at, mount_overlay, read_file, real_path,
};
use hedgerow_fs::{unmount, LockFile, Overlay};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The source that the table of mounts shows for the trees of this program.
pub const SOURCE: &str = "hedgerow";

/// The file that names the image.
const STATE: &str = "image";
const STATE_LIMIT_BYTES: u64 = 64 << 10;

/// What a tree is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeState {
    /// The name of the image.
    pub image: String,
    /// The store that has it.
    pub store: PathBuf,
    /// The time of all files of the image, in seconds since 1970: what it takes to make it again.
    pub mtime_s: i64,
    /// Whether the notes of the overlay are in attributes that only root may write. An overlay that
    /// a user namespace mounts has others, and would not see those.
    pub is_privileged: bool,
}

/// A tree over an image: a directory of its own with the changes, and a top where it is mounted.
#[derive(Clone, Debug)]
pub struct LayeredTree {
    directory: PathBuf,
    /// What it is made of.
    pub state: TreeState,
}

impl LayeredTree {
    /// Makes the layers of a new tree in `directory`.
    ///
    /// # Errors
    /// If they cannot be made.
    pub fn create(directory: &Path, state: TreeState) -> Result<Self> {
        let tree = LayeredTree {
            directory: directory.to_owned(),
            state,
        };
        create_directories(&tree.upper())?;
        create_directories(&tree.work())?;
        tree.write_state()?;
        Ok(tree)
    }

    /// The tree whose layers are in `directory`; `None` if there are none.
    ///
    /// # Errors
    /// If what is there cannot be read.
    pub fn open(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(STATE);
        let Some(content) = read_file(&path, STATE_LIMIT_BYTES)? else {
            return Ok(None);
        };
        let damaged = || Error::Damaged {
            path: path.clone(),
            reason: "does not name the image of a working tree",
        };
        Ok(Some(LayeredTree {
            directory: directory.to_owned(),
            state: TreeState::parse(&content).ok_or_else(damaged)?,
        }))
    }

    /// Puts the tree on another image. Only for one without changes that is not mounted.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn set_state(&mut self, state: TreeState) -> Result<()> {
        self.state = state;
        self.write_state()
    }

    fn write_state(&self) -> Result<()> {
        let mut file = LockFile::acquire(&self.directory.join(STATE))?;
        file.write_all(&self.state.to_bytes())?;
        file.commit()?;
        Ok(())
    }

    /// The directory with its layers.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory with the changes.
    pub fn upper(&self) -> PathBuf {
        self.directory.join("upper")
    }

    fn work(&self) -> PathBuf {
        self.directory.join("work")
    }

    /// Mounts the tree on `top`, above the directory `lower` with the contents of its image. Where
    /// `top` is missing, it is made, with the sign that is seen while the tree is not mounted.
    ///
    /// # Errors
    /// If there is anything else in `top`, which would be hidden, or if it cannot be mounted.
    pub fn mount(&self, top: &Path, lower: &Path) -> Result<()> {
        let entries = list_directory(top)?.unwrap_or_default();
        if !entries.is_empty() && !is_sign(top) {
            return Err(Error::Damaged {
                path: top.to_owned(),
                reason: "is not empty: a mount would hide what is there",
            });
        }
        write_sign(top, &self.directory)?;
        self.mount_unsigned(top, lower)
    }

    /// The same without the sign: nobody takes what is seen there for a working tree.
    ///
    /// # Errors
    /// If it cannot be mounted.
    pub fn mount_unsigned(&self, top: &Path, lower: &Path) -> Result<()> {
        let overlay = Overlay {
            lower,
            upper: &self.upper(),
            work: &self.work(),
            is_privileged: self.state.is_privileged,
        };
        Ok(mount_overlay(&overlay, top)?)
    }

    /// Removes the mount on `top`; the sign is seen there then.
    ///
    /// # Errors
    /// [`Error::InUse`] among others.
    pub fn unmount(&self, top: &Path) -> Result<()> {
        unmount(top, false).map_err(|error| match error.kind() {
            std::io::ErrorKind::ResourceBusy => Error::InUse {
                path: top.to_owned(),
            },
            _ => error.into(),
        })
    }

    /// Removes the sign from `top`, and `top` if nothing else is there.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove_top(&self, top: &Path) -> Result<()> {
        remove_sign(top)?;
        if list_directory(top)?.is_some_and(|entries| entries.is_empty()) {
            hedgerow_fs::remove_directory(top)?;
        }
        Ok(())
    }

    /// Whether anything but the file `.git` is in the layer of changes.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn has_changes(&self) -> Result<bool> {
        let entries = list_directory(&self.upper())?.unwrap_or_default();
        Ok(entries.iter().any(|entry| entry.name != b".git"))
    }
}

/// Whether a tree of this program is mounted on `top`.
///
/// # Errors
/// If the system does not tell.
pub fn is_layered(top: &Path) -> Result<bool> {
    let real = match real_path(top) {
        Ok(real) => real,
        Err(error) if error.is_missing() => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let mount = mount_at(&real)?;
    Ok(mount.is_some_and(|mount| mount.kind == "overlay" && mount.source == SOURCE))
}

impl TreeState {
    /// Lines of KEY VALUE; the path of the store comes last and ends with a NUL.
    fn to_bytes(&self) -> Vec<u8> {
        let attributes = if self.is_privileged {
            "trusted"
        } else {
            "user"
        };
        let TreeState { image, mtime_s, .. } = self;
        let mut bytes =
            format!("image {image}\nmtime {mtime_s}\nattributes {attributes}\nstore ").into_bytes();
        bytes.extend_from_slice(self.store.as_os_str().as_bytes());
        bytes.extend_from_slice(b"\0\n");
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.splitn(4, |byte| *byte == b'\n');
        let mut value = |key: &str| {
            parts
                .next()?
                .strip_prefix(key.as_bytes())?
                .strip_prefix(b" ")
        };
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let image = text(value("image")?)?;
        let mtime_s = text(value("mtime")?)?.parse().ok()?;
        let is_privileged = match value("attributes")? {
            b"trusted" => true,
            b"user" => false,
            _ => return None,
        };
        let store = value("store")?.strip_suffix(b"\0\n")?;
        // It becomes part of paths.
        let is_name = !image.is_empty() && !image.contains('/') && !image.starts_with('.');
        (is_name && !store.is_empty()).then(|| TreeState {
            image,
            store: OsString::from_vec(store.to_vec()).into(),
            mtime_s,
            is_privileged,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let state = TreeState {
            image: "0123-ab".into(),
            store: "/a b\n/c".into(),
            mtime_s: -5,
            is_privileged: true,
        };
        let bytes = state.to_bytes();
        assert_eq!(TreeState::parse(&bytes), Some(state));
        for cut in 0..bytes.len() {
            assert_eq!(TreeState::parse(&bytes[..cut]), None, "{cut}");
        }
        let hostile = b"image ../x\nmtime 1\nattributes trusted\nstore /s\0\n";
        assert_eq!(TreeState::parse(hostile), None);
    }
}
