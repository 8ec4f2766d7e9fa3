//! Removing a whole directory tree, in parallel.

use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::Listing;
use hedgerow_writer::{remove_trees, RemovalEvent, TreeRemoval};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Removes the directory `path` with all that is in it. What is not there counts as removed, and a
/// file or a link in its place is removed.
///
/// # Errors
/// The first thing that cannot be removed; everything else is.
pub(crate) fn remove_tree(path: &Path) -> Result<()> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => remove_tree_below(parent, name.as_bytes().as_bstr()),
        _ => Err(Error::Setup {
            reason: format!("'{}' cannot be removed", path.display()),
        }),
    }
}

/// The same for the path `inner` in the directory `root`. No link below `root` is followed, whatever
/// takes the place of a directory meanwhile.
pub(crate) fn remove_tree_below(root: &Path, inner: &BStr) -> Result<()> {
    let path = root.join(OsStr::from_bytes(inner));
    let is_directory = match hedgerow_fs::lstat(&path)? {
        None => return Ok(()),
        Some(stat) => stat.kind == hedgerow_fs::FileKind::Directory,
    };
    let tree = Tree {
        path: inner.to_owned(),
        is_directory,
    };
    let options = Execution::default().options("remove");
    let removed = remove_trees(root, &tree, &options);
    let removed = removed.map_err(|source| hedgerow_fs::Error::new("open", root, source))?;
    removed.ended.map_err(|error| Error::Internal {
        reason: error.to_string(),
    })?;
    let events = removed.trees.into_iter().flatten();
    for event in events.flat_map(|tree| tree.events) {
        if let RemovalEvent::Failed(inner, source) | RemovalEvent::Unknown(inner, source) = event {
            let path = root.join(OsStr::from_bytes(&inner));
            return Err(hedgerow_fs::Error::new("remove", path, source).into());
        }
    }
    Ok(())
}

struct Tree {
    path: BString,
    is_directory: bool,
}

impl TreeRemoval for Tree {
    fn count(&self) -> usize {
        1
    }

    fn path(&self, _: usize) -> &[u8] {
        &self.path
    }

    fn is_directory(&self, _: usize) -> bool {
        self.is_directory
    }

    fn keeps(&self, _: &[u8], _: Option<&Listing>) -> bool {
        false
    }

    fn current_directory(&self) -> Option<&[u8]> {
        None
    }

    fn is_dry_run(&self) -> bool {
        false
    }
}
