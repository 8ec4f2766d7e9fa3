//! Mounts whose layers were deleted below them.

use crate::tree::is_tree;
use crate::{LayeredTree, Result};
use hedgerow_fs::{list_directory, unmount};
use std::path::PathBuf;

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
        LayeredTree::without_state(&self.directory).remove_top(&self.top)
    }
}
