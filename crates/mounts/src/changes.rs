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
        let prefix = if is_privileged {
            PRIVILEGED
        } else {
            UNPRIVILEGED
        };
        let mut found = LayerChanges {
            paths: mounted_below(top)?,
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
            if !path.is_empty() && replaces(directory, prefix)? {
                found.paths.push(path);
                continue;
            }
            for entry in directory.list()? {
                let kind = match entry.kind {
                    Some(kind) => kind,
                    None => directory.stat(&entry.name)?.kind,
                };
                let below = joined(&path, &entry.name);
                match kind {
                    FileKind::Directory => pending.push(below),
                    _ => found.paths.push(below),
                }
            }
            found.directories.push(path);
        }
        Ok(Some(found))
    }
}

/// Whether a directory of the layer stands in the place of what the image has at its path.
fn replaces(directory: &Dir, prefix: &[u8]) -> Result<bool> {
    let attributes = directory.xattrs_of(b"")?;
    let mut own = attributes
        .iter()
        .filter_map(|(name, _)| name.strip_prefix(prefix));
    Ok(own.any(|name| !HARMLESS.contains(&name)))
}

/// What else is mounted within the tree.
fn mounted_below(top: &Path) -> Result<Vec<Vec<u8>>> {
    let top = real_path(top)?;
    let mounts = mounts()?.into_iter();
    let below = mounts.filter_map(|mount| {
        let path = mount.path.strip_prefix(&top).ok()?;
        let path = path.as_os_str().as_bytes();
        (!path.is_empty()).then(|| path.to_vec())
    });
    Ok(below.collect())
}

fn joined(above: &[u8], name: &[u8]) -> Vec<u8> {
    if above.is_empty() {
        name.to_vec()
    } else {
        [above, b"/", name].concat()
    }
}
