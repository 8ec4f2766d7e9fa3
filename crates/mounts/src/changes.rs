//! What may differ between a tree that is mounted and its image, as its layer of changes tells.
//!
//! Format of the layer: Documentation/filesystems/overlayfs.rst of Linux. A file that was changed is in
//! the layer as a whole, one that was deleted as a device. A directory is there as soon as anything
//! changed in it; attributes tell whether the one in the image below counts as well.

use crate::{LayeredTree, Result};
use hedgerow_fs::{mounts, real_path, Dir, FileKind};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Where attributes of the overlay are, as of [`TreeState::is_privileged`](crate::TreeState).
const PRIVILEGED: &[u8] = b"trusted.overlay.";
const UNPRIVILEGED: &[u8] = b"user.overlay.";
/// Attributes that a directory has whose names are those of the layer and of the image. With any
/// other, such as `opaque` or `redirect`, the image has something else at its path, or nothing.
const HARMLESS: [&[u8]; 4] = [b"origin", b"impure", b"nlink", b"uuid"];

/// The paths at which a tree may differ from its image, from its top, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerChanges {
    /// At these paths and below them anything may be different.
    pub paths: Vec<Vec<u8>>,
    /// In these directories names may have been added or removed; what else is in them is as it was. The
    /// top has an empty path.
    pub directories: Vec<Vec<u8>>,
    /// Something else is mounted within the tree; `paths` has where.
    pub has_mounts: bool,
}

impl LayeredTree {
    /// What may differ between the tree, which is mounted on `top`, and its image. `None` if this
    /// process cannot tell: it is not mounted there, or the attributes of the overlay are not to be
    /// seen.
    ///
    /// # Errors
    /// If the layer cannot be read.
    pub fn changes(&self, top: &Path) -> Result<Option<LayerChanges>> {
        let is_privileged = self.state()?.is_privileged;
        let (may_mount, is_first) = hedgerow_fs::may_mount();
        // Attributes of one kind are hidden from others.
        if is_privileged && !(may_mount && is_first) || !self.is_mounted_on(top)? {
            return Ok(None);
        }
        let prefix = prefix(is_privileged);
        let mounted = mounted_below(top)?;
        let mut found = LayerChanges {
            has_mounts: !mounted.is_empty(),
            paths: mounted,
            directories: Vec::new(),
        };
        let upper = Dir::open(&self.upper())?;
        let mut pending = vec![Vec::new()];
        while let Some(path) = pending.pop() {
            let directory = if path.is_empty() {
                None
            } else {
                Some(upper.open_dir(&path)?)
            };
            let directory = directory.as_ref().unwrap_or(&upper);
            // At the top, they tell of the layer.
            if !path.is_empty() && standing(directory, prefix)? != Standing::Merged {
                found.paths.push(path);
                continue;
            }
            for (name, is_directory) in names(directory)? {
                let below = joined(&path, &name);
                if is_directory {
                    pending.push(below);
                } else {
                    found.paths.push(below);
                }
            }
            found.directories.push(path);
        }
        Ok(Some(found))
    }
}

/// The names in a directory, and whether each is that of a directory.
pub(crate) fn names(directory: &Dir) -> Result<Vec<(Vec<u8>, bool)>> {
    let entries = directory.list()?.into_iter();
    let names = entries.map(|entry| {
        let kind = match entry.kind {
            Some(kind) => kind,
            None => directory.stat(&entry.name)?.kind,
        };
        Ok((entry.name.to_vec(), kind == FileKind::Directory))
    });
    names.collect()
}

/// What the names of the attributes begin with.
pub(crate) fn prefix(is_privileged: bool) -> &'static [u8] {
    if is_privileged {
        PRIVILEGED
    } else {
        UNPRIVILEGED
    }
}

/// How a directory of the layer stands to that at its path in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its names are those of the layer and of the image.
    Merged,
    /// It stands in its place.
    Alone,
    /// It is merged with what is at another path of the image.
    Moved,
}

/// How `directory` stands to the image, by its attributes that begin with `prefix`.
pub(crate) fn standing(directory: &Dir, prefix: &[u8]) -> Result<Standing> {
    let mut standing = Standing::Merged;
    for (name, _) in directory.xattrs_of(b"")? {
        match name.strip_prefix(prefix) {
            None => {}
            Some(b"redirect") => return Ok(Standing::Moved),
            Some(own) if HARMLESS.contains(&own) => {}
            Some(_) => standing = Standing::Alone,
        }
    }
    Ok(standing)
}

/// What else is mounted within the tree.
pub(crate) fn mounted_below(top: &Path) -> Result<Vec<Vec<u8>>> {
    let top = real_path(top)?;
    let mounts = mounts()?.into_iter();
    let below = mounts.filter_map(|mount| {
        let path = mount.path.strip_prefix(&top).ok()?;
        let path = path.as_os_str().as_bytes();
        (!path.is_empty()).then(|| path.to_vec())
    });
    Ok(below.collect())
}

pub(crate) fn joined(above: &[u8], name: &[u8]) -> Vec<u8> {
    if above.is_empty() {
        name.to_vec()
    } else {
        [above, b"/", name].concat()
    }
}
