//! A writable tree: the layers of an overlay, and what is known of them while it is not mounted.

use crate::base::Lower;
use crate::changes::mounted_below;
use crate::sign::{is_same, remove_sign, write_sign, Place};
use crate::{Error, Result, TreeState};
use hedgerow_fs::{
    create_directories, list_directory, mount_at, mount_overlay, prepare_overlay, read_file,
    real_path,
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
/// How long a mount may be in use by somebody who is just leaving.
const IN_USE_LIMIT: Duration = Duration::from_millis(300);
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// A tree over an image: a directory of its own with the changes, and a top where it is mounted.
/// Whoever changes something holds its [`TreeLock`](crate::TreeLock).
#[derive(Clone, Debug)]
pub struct LayeredTree {
    directory: PathBuf,
    state: Option<TreeState>,
}

impl LayeredTree {
    /// Makes the layers of a new tree in `directory`. The root of the tree gets the group and the
    /// permissions of the directory `top`. Until it is saved, it cannot be opened.
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
            let own = hedgerow_fs::stat(&tree.upper())?;
            if own.is_some_and(|own| own.gid != stat.gid) {
                hedgerow_fs::set_group(&tree.upper(), stat.gid)?;
            }
            hedgerow_fs::set_permissions(&tree.upper(), stat.mode & 0o7777)?;
        }
        Ok(tree)
    }

    /// A tree of which nothing but the place of its layers is known.
    pub(crate) fn without_state(directory: &Path) -> Self {
        LayeredTree {
            directory: directory.to_owned(),
            state: None,
        }
    }

    /// Writes what the tree is made of: from now on it is there, also if it was forgotten.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn save(&self) -> Result<()> {
        let mut file = LockFile::acquire(&self.directory.join(STATE))?;
        file.write_all(&self.state()?.to_bytes())?;
        file.sync()?;
        file.commit()?;
        hedgerow_fs::remove_file(&self.directory.join(REMOVED))?;
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

    /// What the table of mounts shows as the source of this tree, and of no other; `None` if its layers are
    /// gone.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn source(&self) -> Result<Option<String>> {
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

    /// Whether the tree is mounted nowhere, as far as this mount namespace tells, and its place `top` shows
    /// no files either: only the sign, or a file `.git`, or nothing.
    pub fn is_missed_at(&self, top: &Path) -> bool {
        if self.places().is_ok_and(|places| !places.is_empty()) {
            return false;
        }
        let entries = list_directory(top).ok().flatten().unwrap_or_default();
        crate::sign::sign_directory(&top.join(".git")).is_some()
            || entries.iter().all(|entry| entry.name == b".git")
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

    /// Refuses to go on while the tree is mounted elsewhere than on `top`, or where something hides it.
    ///
    /// # Errors
    /// [`Error::Elsewhere`] among others.
    pub fn refuse_elsewhere(&self, top: &Path) -> Result<()> {
        let is_seen = self.is_mounted_on(top)?;
        let top = real_path(top).unwrap_or_else(|_| top.to_owned());
        let mut places = self.places()?.into_iter();
        let other = places.find(|place| !is_seen || place != &top);
        other.map_or(Ok(()), |place| {
            Err(Error::Elsewhere {
                upper: self.upper(),
                place,
            })
        })
    }

    /// Refuses to go on while the tree is mounted on `top`, where something hides it.
    ///
    /// # Errors
    /// [`Error::Elsewhere`] among others.
    pub fn refuse_hidden(&self, top: &Path) -> Result<()> {
        let real = real_path(top).unwrap_or_else(|_| top.to_owned());
        if self.places()?.contains(&real) {
            return self.refuse_elsewhere(top);
        }
        Ok(())
    }

    /// Puts the sign on `top`, which is seen while the tree is not mounted. A missing directory is made.
    ///
    /// # Errors
    /// If `top` is the place of another tree, or has anything else, which a mount would hide.
    pub fn sign(&self, top: &Path) -> Result<()> {
        self.check_place(top)?;
        if hedgerow_fs::exists(top) && !hedgerow_fs::is_directory(top) {
            return Err(Error::Damaged {
                path: top.to_owned(),
                reason: "is no directory: a working tree is to be mounted there",
            });
        }
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
        self.use_layers(top, lower, &|overlay| mount_overlay(overlay, top))
    }

    /// Lets the kernel note in the layers of a tree that was just made, and will be on `top`, what it notes
    /// when they are first mounted: afterwards, mounting them changes nothing in them.
    ///
    /// # Errors
    /// If it cannot be mounted.
    pub fn prepare(&self, top: &Path, lower: &Lower) -> Result<()> {
        self.use_layers(top, lower, &prepare_overlay)
    }

    fn use_layers(
        &self,
        top: &Path,
        lower: &Lower,
        act: &dyn Fn(&Overlay<'_>) -> hedgerow_fs::Result<()>,
    ) -> Result<()> {
        let (upper, work) = (self.upper(), self.work());
        let source = self.source()?.ok_or_else(|| Error::Damaged {
            path: upper.clone(),
            reason: "is missing, and with it the changes of the working tree; 'hedgerow worktree remove \
                     --force' removes what is left",
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
        while_busy(BUSY_LIMIT, || act(&overlay)).map_err(|error| match error.kind() {
            ErrorKind::ResourceBusy => Error::Busy { upper },
            ErrorKind::InvalidInput => Error::BadPlace {
                top: top.to_owned(),
                upper,
            },
            _ => error.into(),
        })
    }

    /// Removes the mount on `top`; the sign is seen there then.
    ///
    /// # Errors
    /// [`Error::InUse`] among others.
    pub fn unmount(&self, top: &Path) -> Result<()> {
        let within = || mounted_below(top).ok()?.into_iter().next();
        while_busy(IN_USE_LIMIT, || unmount(top, false)).map_err(|error| match error.kind() {
            ErrorKind::ResourceBusy => match within() {
                Some(inner) => Error::HasMounts {
                    path: top.to_owned(),
                    inner: top.join(OsString::from_vec(inner)),
                },
                None => Error::InUse {
                    path: top.to_owned(),
                },
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

    /// The same where this tree has left its sign; any other directory stays.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove_own_top(&self, top: &Path) -> Result<()> {
        match crate::sign::sign_directory(&top.join(".git")) {
            Some(directory) if is_same(&directory, &self.directory) => self.remove_top(top),
            _ => Ok(()),
        }
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

/// Repeats `call` while the kernel says that something is busy, up to `limit`.
fn while_busy(
    limit: Duration,
    call: impl Fn() -> hedgerow_fs::Result<()>,
) -> hedgerow_fs::Result<()> {
    let started = Instant::now();
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::ResourceBusy && started.elapsed() < limit => {
                std::thread::sleep(BUSY_PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Whether it is the mount of a tree of this program.
pub(crate) fn is_tree(mount: &Mount) -> bool {
    mount.kind == "overlay" && mount.source.as_bytes().starts_with(SOURCE.as_bytes())
}

/// The mount of a tree of this program that is seen on `top`, as a whole.
fn tree_at(top: &Path) -> Result<Option<Mount>> {
    let real = match real_path(top) {
        Ok(real) => real,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(mount_at(&real)?.filter(|mount| is_tree(mount) && mount.is_whole()))
}
