//! Mounting and unmounting working trees that are there.

use super::images::{mounts, recorded_store, Images, Wanted};
use super::maker::ImageMaker;
use crate::repository::Repository;
use crate::worktrees::{write_line, WorkingTree};
use crate::{Error, Result};
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_mounts::{hindrance, is_layered, Base, Hindrance, ImageName, LayeredTree};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The directory with the layers, in the administrative directory.
pub(crate) const LAYERS: &str = "hedgerow";

/// Why the administrative directory of a mounted working tree is locked. `git worktree remove` would
/// delete it with the layer of changes, and fail at the mount.
pub(crate) const LOCK_REASON: &str =
    "mounted by hedgerow; 'hedgerow worktree' removes, moves and prunes it";

const LINK_LIMIT_BYTES: u64 = 64 << 10;

/// What became of a working tree that was to be mounted or unmounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// It was so already.
    Already,
    /// It is mounted now.
    Mounted,
    /// It is not mounted any more.
    Unmounted,
}

impl fmt::Display for Attached {
    /// A word for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Attached::Already => "unchanged",
            Attached::Mounted => "mounted",
            Attached::Unmounted => "unmounted",
        })
    }
}

/// Is shown what became of a working tree.
pub type VisitAttached<'v> = &'v mut dyn FnMut(&WorkingTree, Result<Attached>);

/// The layers of the working tree with the administrative directory `admin`, if it is one that is
/// mounted.
pub(crate) fn layers_of(admin: &Path) -> Result<Option<LayeredTree>> {
    Ok(LayeredTree::open(&admin.join(LAYERS))?)
}

impl WorkingTree {
    /// Whether it is mounted over an image; `None` if its files are ordinary ones.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub fn is_mounted(&self) -> Result<Option<bool>> {
        if self.is_main() || layers_of(&self.git_dir)?.is_none() {
            return Ok(None);
        }
        Ok(Some(is_layered(&self.path)?))
    }
}

/// Mounts the working trees that `words` mean; without words, all that are not ordinary ones. What
/// cannot be mounted tells where its changes are.
///
/// # Errors
/// [`Error::Setup`] if there is none, or if it is an ordinary one.
pub fn mount(
    repository: &Repository,
    words: &[BString],
    images: &dyn ImageMaker,
    execution: &Execution,
    visit: VisitAttached<'_>,
) -> Result<()> {
    each(repository, words, visit, &|tree, layers| {
        mount_at_top(repository, tree, layers, images, execution)
    })
}

/// Unmounts the working trees that `words` mean; without words, all of them. Their changes are kept.
///
/// # Errors
/// [`Error::Setup`] if there is none, or if it is an ordinary one.
pub fn unmount(repository: &Repository, words: &[BString], visit: VisitAttached<'_>) -> Result<()> {
    each(repository, words, visit, &|tree, layers| {
        if !is_layered(&tree.path)? {
            return Ok(Attached::Already);
        }
        detach(repository, tree, layers)?;
        Ok(Attached::Unmounted)
    })
}

fn each(
    repository: &Repository,
    words: &[BString],
    visit: VisitAttached<'_>,
    act: &dyn Fn(&WorkingTree, &LayeredTree) -> Result<Attached>,
) -> Result<()> {
    let trees = repository.worktrees()?;
    for word in words {
        let tree = repository.find_worktree(trees.clone(), word.as_ref())?;
        let Some(layers) = layered(&tree)? else {
            return Err(ordinary(word.as_ref()));
        };
        visit(&tree, act(&tree, &layers));
    }
    for tree in trees.iter().filter(|_| words.is_empty()) {
        match layered(tree) {
            Ok(None) => {}
            Ok(Some(layers)) => visit(tree, act(tree, &layers)),
            Err(error) => visit(tree, Err(error)),
        }
    }
    Ok(())
}

fn layered(tree: &WorkingTree) -> Result<Option<LayeredTree>> {
    if tree.is_main() {
        return Ok(None);
    }
    layers_of(&tree.git_dir)
}

fn ordinary(word: &BStr) -> Error {
    Error::Setup {
        reason: format!("'{word}' is an ordinary working tree: it was added without --mount"),
    }
}

/// Mounts a working tree at the place where it is known to be, and makes its `.git` file lead to its
/// administrative directory, wherever the repository was moved.
pub(crate) fn mount_at_top(
    repository: &Repository,
    tree: &WorkingTree,
    layers: &LayeredTree,
    images: &dyn ImageMaker,
    execution: &Execution,
) -> Result<Attached> {
    let attached = if is_layered(&tree.path)? {
        Attached::Already
    } else {
        let lower = lower(repository, tree, layers, images, execution)?;
        layers.mount(&tree.path, &lower)?;
        Attached::Mounted
    };
    relink(tree)?;
    Ok(attached)
}

/// The mounted image of a working tree; it is mounted, and made again, as necessary.
fn lower(
    repository: &Repository,
    tree: &WorkingTree,
    layers: &LayeredTree,
    images: &dyn ImageMaker,
    execution: &Execution,
) -> Result<PathBuf> {
    let state = &layers.state;
    let base = Base::new(&mounts(repository), &state.image);
    let refused = |reason: &str| {
        let upper = layers.upper();
        Error::Setup {
            reason: format!(
                "cannot mount '{}': {reason}; its changes are in '{}'",
                tree.path.display(),
                upper.display()
            ),
        }
    };
    match hindrance() {
        Some(Hindrance::UserNamespace) if state.is_privileged => {
            return Err(refused("root has mounted it, and a user namespace may not"));
        }
        Some(Hindrance::UserNamespace) if base.is_mounted()? => {}
        Some(hindrance) => return Err(refused(hindrance.reason())),
        None => {}
    }
    if base.is_mounted()? {
        return Ok(base.path());
    }
    let name = ImageName::parse(&state.image).ok_or_else(|| refused("it names no image"))?;
    if let Some(image) = recorded_store(repository, &state.store).find(&name)? {
        return Ok(base.mount(&image)?);
    }
    let lost = |why: &str| refused(&format!("its image {name} is gone, and {why}"));
    let id = ObjectId::from_hex(name.tree.as_bytes());
    let id = id.map_err(|_| lost("its name is no tree"))?;
    if !repository.has_tree(&id) {
        return Err(lost("the repository has no such tree any more"));
    }
    let linked = repository.open_admin(&tree.git_dir, &tree.path)?;
    let makes = Images::new(&linked, images, execution)?;
    if makes.name(id) != name {
        return Err(lost("the settings of conversions have changed since"));
    }
    let wanted = Wanted {
        tree: id,
        commit: None,
        reference: None,
    };
    let made = makes.make(&wanted, Some(state.mtime_s), &mut Vec::new())?;
    Ok(base.mount(&made.image)?)
}

/// Moves the top of a working tree to the path `to`; it is mounted there if it was before. Its
/// administrative directory knows the new place then.
pub(crate) fn move_top(
    repository: &Repository,
    tree: &WorkingTree,
    layers: &LayeredTree,
    to: &Path,
) -> Result<()> {
    let is_mounted = is_layered(&tree.path)?;
    if is_mounted {
        layers.unmount(&tree.path)?;
    }
    let lower = Base::new(&mounts(repository), &layers.state.image).path();
    let moved = hedgerow_fs::rename(&tree.path, to);
    let place = if moved.is_ok() { to } else { &tree.path };
    if is_mounted {
        layers.mount(place, &lower)?;
    }
    moved?;
    point_to_top(&tree.git_dir, to)
}

/// Makes an administrative directory name the top of its working tree.
pub(crate) fn point_to_top(admin: &Path, top: &Path) -> Result<()> {
    let dot_git = hedgerow_fs::real_path(top)?.join(".git");
    write_line(&admin.join("gitdir"), dot_git.as_os_str().as_bytes())
}

/// Makes the `.git` file of a mounted working tree lead to its administrative directory.
fn relink(tree: &WorkingTree) -> Result<()> {
    let path = tree.path.join(".git");
    let known = hedgerow_fs::read_file(&path, LINK_LIMIT_BYTES)?.unwrap_or_default();
    let target = known.strip_prefix(b"gitdir: ").unwrap_or_default();
    let target = Path::new(std::ffi::OsStr::from_bytes(target.trim_ascii_end()));
    let leads_to = hedgerow_fs::real_path(&tree.path.join(target)).ok();
    let admin = hedgerow_fs::real_path(&tree.git_dir)?;
    if leads_to.as_ref() == Some(&admin) {
        return Ok(());
    }
    let line = [b"gitdir: ", admin.as_os_str().as_bytes()].concat();
    write_line(&path, &line)
}

fn detach(repository: &Repository, tree: &WorkingTree, layers: &LayeredTree) -> Result<()> {
    layers.unmount(&tree.path)?;
    release(repository, &layers.state.image);
    Ok(())
}

/// Unmounts an image if no working tree is mounted on it any more.
pub(crate) fn release(repository: &Repository, image: &str) {
    let is_used = |tree: &WorkingTree| {
        let layers = layered(tree).ok().flatten();
        layers.is_some_and(|layers| layers.state.image == image)
            && is_layered(&tree.path).unwrap_or(true)
    };
    let is_free = repository
        .worktrees()
        .is_ok_and(|trees| !trees.iter().any(is_used));
    if is_free {
        // One that somebody else uses stays mounted.
        let _ = Base::new(&mounts(repository), image).unmount();
    }
}

/// Unmounts the working tree `tree` before it is removed; its layers go with its administrative
/// directory.
pub(crate) fn detach_for_good(
    repository: &Repository,
    tree: &WorkingTree,
    layers: &LayeredTree,
) -> Result<()> {
    if is_layered(&tree.path)? {
        detach(repository, tree, layers)?;
    }
    Ok(layers.remove_top(&tree.path)?)
}
