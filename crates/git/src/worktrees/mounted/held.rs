//! The layers of working trees, and holding one for a change.

use crate::repository::Repository;
use crate::worktrees::list::top_of;
use crate::worktrees::WorkingTree;
use crate::Result;
use bstr::BStr;
use hedgerow_mounts::{LayeredTree, TreeLock};
use std::path::{Path, PathBuf};

/// The directory with the layers, in the administrative directory. While it has no layers that can be
/// opened, the working tree is being made; if nobody holds its lock, its maker was killed.
pub(crate) const LAYERS: &str = "hedgerow";

/// Why the administrative directory of a mounted working tree is locked. `git worktree remove` would
/// delete it with the layer of changes, and fail at the mount.
pub(crate) const LOCK_REASON: &str =
    "mounted by hedgerow; 'hedgerow worktree' removes, moves and prunes it";

/// Why a working tree is locked that is being made, in git's word.
pub(crate) const INITIALIZING: &str = "initializing";

/// A mounted working tree that nobody else mounts, unmounts, moves or removes meanwhile.
#[derive(Debug)]
pub(crate) struct Held {
    pub tree: WorkingTree,
    pub layers: LayeredTree,
    _lock: TreeLock,
}

/// The layers of the working tree with the administrative directory `admin`, if it is one that is
/// mounted.
pub(crate) fn layers_of(admin: &Path) -> Result<Option<LayeredTree>> {
    Ok(LayeredTree::open(&admin.join(LAYERS))?)
}

/// The layers of `tree`, if it is one that is mounted.
pub(crate) fn layered(tree: &WorkingTree) -> Result<Option<LayeredTree>> {
    if tree.is_main() {
        return Ok(None);
    }
    layers_of(&tree.git_dir)
}

/// The top of the working tree with the administrative directory `git_dir` if it is one that is mounted,
/// and is not mounted now: its index says what its place does not have.
pub(crate) fn unmounted_top(git_dir: &Path) -> Result<Option<PathBuf>> {
    if !hedgerow_fs::is_directory(&git_dir.join(LAYERS)) {
        return Ok(None);
    }
    // What cannot be read here tells its reason where it is needed.
    let Some(layers) = layers_of(git_dir).ok().flatten() else {
        return Ok(None);
    };
    let top = top_of(git_dir)?;
    Ok(top.filter(|top| layers.is_missed_at(top)))
}

/// Waits until nobody else works on `tree`, and looks at it again; `None` if it is an ordinary one, or
/// gone. A move that was killed is ended.
pub(crate) fn hold(repository: &Repository, tree: &WorkingTree) -> Result<Option<Held>> {
    let Some(id) = tree.id.as_ref() else {
        return Ok(None);
    };
    if layered(tree)?.is_none() {
        return Ok(None);
    }
    let lock = TreeLock::acquire(&locks(repository)?, id)?;
    let Some(tree) = repository.linked_worktree(id.as_ref())? else {
        return Ok(None);
    };
    let Some(layers) = layered(&tree)? else {
        return Ok(None);
    };
    let top = if layers.is_mounted_on(&tree.path)? {
        tree.path.clone()
    } else {
        layers.upper()
    };
    // Only those who hold the lock write these files: what is there was left by one who was killed.
    let admin = &tree.git_dir;
    for left in [admin.join("gitdir"), admin.join("locked"), top.join(".git")] {
        hedgerow_fs::remove_file(&left.with_extension("lock"))?;
    }
    layers.end_moving(&tree.path)?;
    Ok(Some(Held {
        tree,
        layers,
        _lock: lock,
    }))
}

/// The lock of the administrative directory `id`, which is made for a mounted working tree.
pub(crate) fn lock_admin(repository: &Repository, id: &BStr) -> Result<TreeLock> {
    Ok(TreeLock::acquire(&locks(repository)?, id)?)
}

/// The lock of the place `top`, where a mounted working tree is made.
pub(crate) fn lock_place(repository: &Repository, top: &Path) -> Result<TreeLock> {
    use std::os::unix::ffi::OsStrExt;
    let name = [b"place ", top.as_os_str().as_bytes()].concat();
    Ok(TreeLock::acquire(&locks(repository)?, &name)?)
}

/// The lock of the administrative directory `id` if that is what a killed maker left.
pub(crate) fn lock_half_made(repository: &Repository, id: &BStr) -> Result<Option<TreeLock>> {
    let admin = repository.admin_dir(id);
    if !is_half_made(&admin)? {
        return Ok(None);
    }
    let lock = TreeLock::try_acquire(&locks(repository)?, id)?;
    // Its maker may have come to its end meanwhile.
    let is_half_made = is_half_made(&admin)?;
    Ok(lock.filter(|_| is_half_made))
}

fn is_half_made(admin: &Path) -> Result<bool> {
    Ok(hedgerow_fs::is_directory(&admin.join(LAYERS)) && layers_of(admin)?.is_none())
}

/// The layer of changes of the administrative directory `id`, if anything is in it.
pub(crate) fn changes(repository: &Repository, id: &BStr) -> Result<Option<PathBuf>> {
    let layers = layers_of(&repository.admin_dir(id))?;
    match layers {
        Some(layers) if layers.has_changes()? => Ok(Some(layers.upper())),
        _ => Ok(None),
    }
}

/// The directory with the file of locks.
fn locks(repository: &Repository) -> Result<PathBuf> {
    let directory = repository.common_dir().join("hedgerow");
    let sharing = repository.settings().sharing;
    sharing.create_directories(&directory)?;
    Ok(directory)
}
