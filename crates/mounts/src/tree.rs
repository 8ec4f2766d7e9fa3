//! A writable tree: the layers of an overlay, and what is known of them while it is not mounted.

use crate::base::Lower;
use crate::sign::{is_same, remove_sign, write_sign, Place};
use crate::{Error, Result};
use hedgerow_fs::{
    create_directories, list_directory, mount_at, mount_overlay, read_file, real_path,
};
use hedgerow_fs::{unmount, LockFile, Mount, Overlay};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The start of the source that the table of mounts shows for the trees of this program. The device and
/// the number of the layer of changes follow: they stay the same wherever directories are moved, and
/// differ in a copy.
const SOURCE: &str = "hedgerow:";

/// The file that names the image.
const STATE: &str = "image";
/// What becomes of that file when the tree is removed.
const REMOVED: &str = "removed";
/// The file that names the places between which the tree is being moved.
const MOVING: &str = "moving";
const STATE_LIMIT_BYTES: u64 = 64 << 10;

/// How long layers may be in use by somebody who only happens to have copied the mount namespace, as the
/// start of a container does.
const BUSY_LIMIT: Duration = Duration::from_secs(3);
const BUSY_PAUSE: Duration = Duration::from_millis(10);

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
/// Whoever changes something holds its [`TreeLock`](crate::TreeLock).
#[derive(Clone, Debug)]
pub struct LayeredTree {
    directory: PathBuf,
    state: Option<TreeState>,
}

/// A mount of this program whose layers were deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostTree {
    /// Where it is mounted.
    pub top: PathBuf,
    /// Where its layers were.
    pub directory: PathBuf,
    /// The name of the image below it.
    pub image: String,
}

impl LayeredTree {
    /// Makes the layers of a new tree in `directory`. The root of the tree gets the permissions of the
    /// directory `top`. Until it is saved, it cannot be opened.
    ///
    /// # Errors
    /// If they cannot be made.
    pub fn create(directory: &Path, top: &Path, state: TreeState) -> Result<Self> {
        let tree = LayeredTree {
            directory: directory.to_owned(),
            state: Some(state),
        };
        create_directories(&tree.upper())?;
        create_directories(&tree.work())?;
        if let Some(stat) = hedgerow_fs::stat(top)? {
            hedgerow_fs::set_permissions(&tree.upper(), stat.mode & 0o7777)?;
        }
        Ok(tree)
    }

    /// Writes what the tree is made of: from now on it is there.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn save(&self) -> Result<()> {
        let mut file = LockFile::acquire(&self.directory.join(STATE))?;
        file.write_all(&self.state()?.to_bytes())?;
        file.sync()?;
        file.commit()?;
        Ok(())
    }

    /// Removes the changes: the tree is not there any more, what is left are leftovers.
    ///
    /// # Errors
    /// If that fails.
    pub fn forget(&self) -> Result<()> {
        let path = self.directory.join(STATE);
        if hedgerow_fs::exists(&path) {
            return Ok(hedgerow_fs::rename(&path, &self.directory.join(REMOVED))?);
        }
        let mut file = LockFile::acquire(&self.directory.join(REMOVED))?;
        file.write_all(b"")?;
        file.commit()?;
        Ok(())
    }

    /// The tree whose layers are in `directory`; `None` if there are none, or only leftovers of one that
    /// was being made or removed. Changes without the file that names their image are no leftovers.
    ///
    /// # Errors
    /// If what is there cannot be read.
    pub fn open(directory: &Path) -> Result<Option<Self>> {
        let content = read_file(&directory.join(STATE), STATE_LIMIT_BYTES)?;
        let tree = LayeredTree {
            directory: directory.to_owned(),
            state: content.as_deref().and_then(TreeState::parse),
        };
        let is_there = content.is_some()
            || !hedgerow_fs::exists(&directory.join(REMOVED)) && tree.has_changes()?;
        Ok(is_there.then_some(tree))
    }

    /// What it is made of.
    ///
    /// # Errors
    /// If the file that says so is damaged.
    pub fn state(&self) -> Result<&TreeState> {
        self.state.as_ref().ok_or_else(|| Error::BadLayers {
            path: self.directory.join(STATE),
            reason: "does not name the image of a working tree",
            upper: self.upper(),
        })
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

    /// What the table of mounts shows as the source of this tree; `None` if its layers are gone.
    fn source(&self) -> Result<Option<String>> {
        let stat = hedgerow_fs::stat(&self.upper())?;
        Ok(stat.map(|stat| format!("{SOURCE}{:x}:{:x}", stat.dev, stat.ino)))
    }

    /// Where it is mounted in this mount namespace, whoever did it.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn places(&self) -> Result<Vec<PathBuf>> {
        let Some(source) = self.source()? else {
            return Ok(Vec::new());
        };
        let mounts = hedgerow_fs::mounts()?.into_iter();
        let own = mounts.filter(|mount| mount.kind == "overlay" && mount.source == *source);
        Ok(own.map(|mount| mount.path).collect())
    }

    /// Whether it is this tree that is seen on `top`.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn is_mounted_on(&self, top: &Path) -> Result<bool> {
        let Some(mount) = tree_at(top)? else {
            return Ok(false);
        };
        Ok(self.source()?.is_some_and(|source| mount.source == *source))
    }

    /// Refuses to touch `top` if that is the place of another tree: one that is mounted there, or whose
    /// sign is there.
    ///
    /// # Errors
    /// [`Error::Foreign`] among others.
    pub fn check_place(&self, top: &Path) -> Result<()> {
        let foreign = |other: PathBuf| Error::Foreign {
            path: top.to_owned(),
            other,
            own: self.directory.clone(),
        };
        if let Some(mount) = tree_at(top)? {
            if self.is_mounted_on(top)? {
                return Ok(());
            }
            let upper = mount.option("upperdir").unwrap_or_default();
            let upper = PathBuf::from(upper);
            return Err(foreign(upper.parent().unwrap_or(&upper).to_owned()));
        }
        match crate::sign::sign_directory(&top.join(".git")) {
            // Where the repository was moved, it names what is not there.
            Some(other) if hedgerow_fs::exists(&other) && !is_same(&other, &self.directory) => {
                Err(foreign(other))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to go on while the tree is mounted elsewhere than on `top`.
    ///
    /// # Errors
    /// [`Error::Elsewhere`] among others.
    pub fn refuse_elsewhere(&self, top: &Path) -> Result<()> {
        let top = real_path(top).unwrap_or_else(|_| top.to_owned());
        let other = self.places()?.into_iter().find(|place| place != &top);
        other.map_or(Ok(()), |place| {
            Err(Error::Elsewhere {
                upper: self.upper(),
                place,
            })
        })
    }

    /// Puts the sign on `top`, which is seen while the tree is not mounted. A missing directory is made.
    ///
    /// # Errors
    /// If `top` is the place of another tree, or has anything else, which a mount would hide.
    pub fn sign(&self, top: &Path) -> Result<()> {
        self.check_place(top)?;
        if Place::look(top)? == Place::Taken {
            return Err(Error::Damaged {
                path: top.to_owned(),
                reason: "is not empty: a mount would hide what is there",
            });
        }
        write_sign(top, &self.directory)
    }

    /// Mounts the tree on `top`, above its image `lower`, and puts the sign there before.
    ///
    /// # Errors
    /// As of [`sign`](Self::sign), or if it is mounted, or if it cannot be mounted.
    pub fn mount(&self, top: &Path, lower: &Lower) -> Result<()> {
        self.sign(top)?;
        self.mount_unsigned(top, lower)
    }

    /// The same without the sign: nobody takes what is seen there for a working tree.
    ///
    /// # Errors
    /// If it is mounted, or if it cannot be mounted.
    pub fn mount_unsigned(&self, top: &Path, lower: &Lower) -> Result<()> {
        if let Some(place) = self.places()?.into_iter().next() {
            let upper = self.upper();
            return Err(Error::Elsewhere { upper, place });
        }
        let (upper, work) = (self.upper(), self.work());
        let source = self.source()?.ok_or_else(|| Error::BadLayers {
            path: upper.clone(),
            reason: "is missing",
            upper: upper.clone(),
        })?;
        // Empty whenever it is not mounted.
        create_directories(&work)?;
        let overlay = Overlay {
            source: &source,
            lower: &lower.path,
            upper: &upper,
            work: &work,
            is_privileged: self.state()?.is_privileged,
        };
        let started = Instant::now();
        loop {
            match mount_overlay(&overlay, top) {
                Err(error) if error.kind() != ErrorKind::ResourceBusy => return Err(error.into()),
                Err(_) if started.elapsed() > BUSY_LIMIT => return Err(Error::Busy { upper }),
                Err(_) => std::thread::sleep(BUSY_PAUSE),
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Removes the mount on `top`; the sign is seen there then.
    ///
    /// # Errors
    /// [`Error::InUse`] among others.
    pub fn unmount(&self, top: &Path) -> Result<()> {
        unmount(top, false).map_err(|error| match error.kind() {
            ErrorKind::ResourceBusy => Error::InUse {
                path: top.to_owned(),
            },
            ErrorKind::InvalidInput if !hedgerow_fs::may_mount().1 => Error::Outside {
                path: top.to_owned(),
            },
            _ => error.into(),
        })
    }

    /// Refuses to go on while the layers of a tree that is not mounted here are in use elsewhere, as far
    /// as the kernel tells.
    ///
    /// # Errors
    /// [`Error::Busy`] among others.
    pub fn refuse_busy(&self) -> Result<()> {
        if self.state.as_ref().is_none_or(|state| !state.is_privileged) {
            return Ok(());
        }
        let started = Instant::now();
        while hedgerow_fs::is_layer_in_use(&self.upper(), &self.work()) {
            if started.elapsed() > BUSY_LIMIT {
                let upper = self.upper();
                return Err(Error::Busy { upper });
            }
            std::thread::sleep(BUSY_PAUSE);
        }
        Ok(())
    }

    /// Removes the sign of this tree from `top`, and `top` if nothing else is there.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove_top(&self, top: &Path) -> Result<()> {
        if self.check_place(top).is_err() {
            return Ok(());
        }
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

    /// Notes that the tree is on its way from one place to another, for
    /// [`end_moving`](Self::end_moving) after a kill.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn note_moving(&self, from: &Path, to: &Path) -> Result<()> {
        let [from, to] = [from, to].map(|path| path.as_os_str().as_bytes());
        let path = self.directory.join(MOVING);
        hedgerow_fs::remove_file(&self.directory.join(format!("{MOVING}.lock")))?;
        let mut file = LockFile::acquire(&path)?;
        file.write_all(&[from, b"\0", to].concat())?;
        file.commit()?;
        Ok(())
    }

    /// Ends a move, whether it was killed or not: the sign stays at `top` only.
    ///
    /// # Errors
    /// If another sign cannot be removed.
    pub fn end_moving(&self, top: &Path) -> Result<()> {
        let path = self.directory.join(MOVING);
        let Some(content) = read_file(&path, 2 * STATE_LIMIT_BYTES)? else {
            return Ok(());
        };
        let places = content.split(|byte| *byte == 0);
        let places = places.map(|place| PathBuf::from(OsString::from_vec(place.to_vec())));
        for place in places.filter(|place| place.is_absolute() && place != top) {
            if Place::look(&place)? != Place::Taken {
                self.remove_top(&place)?;
            }
        }
        hedgerow_fs::remove_file(&path)?;
        Ok(())
    }
}

/// Whether a tree of this program is mounted on `top`.
///
/// # Errors
/// If the system does not tell.
pub fn is_layered(top: &Path) -> Result<bool> {
    Ok(tree_at(top)?.is_some())
}

/// The mounts of this program whose layers were deleted below them: they show nothing any more.
///
/// # Errors
/// If the system does not tell.
pub fn lost_trees() -> Result<Vec<LostTree>> {
    let mounts = hedgerow_fs::mounts()?.into_iter().filter(is_tree);
    let lost = mounts.filter_map(|mount| {
        let upper = PathBuf::from(mount.option("upperdir")?);
        // The kernel may remember that nothing was left in it.
        let is_lost = match list_directory(&mount.path) {
            Ok(entries) => entries.is_none_or(|entries| entries.is_empty()),
            Err(error) => error.is_missing(),
        };
        let lower = PathBuf::from(mount.option("lowerdir").unwrap_or_default());
        (is_lost && !hedgerow_fs::exists(&upper)).then(|| LostTree {
            image: lower
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into(),
            top: mount.path,
            directory: upper.parent().unwrap_or(&upper).to_owned(),
        })
    });
    Ok(lost.collect())
}

impl LostTree {
    /// Removes the mount, the sign below it, and its place.
    ///
    /// # Errors
    /// If it is in use, or something cannot be removed.
    pub fn remove(&self) -> Result<()> {
        unmount(&self.top, false)?;
        let tree = LayeredTree {
            directory: self.directory.clone(),
            state: None,
        };
        tree.remove_top(&self.top)
    }
}

fn is_tree(mount: &Mount) -> bool {
    mount.kind == "overlay" && mount.source.as_bytes().starts_with(SOURCE.as_bytes())
}

/// The mount of a tree of this program that is seen on `top`.
fn tree_at(top: &Path) -> Result<Option<Mount>> {
    let real = match real_path(top) {
        Ok(real) => real,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(mount_at(&real)?.filter(is_tree))
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
