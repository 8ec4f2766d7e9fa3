//! Mounting and unmounting working trees that are there.

use super::held::{hold, layered, lock_half_made, Held, INITIALIZING, LOCK_REASON};
use super::images::{
    mount_image, mounts, note_user, recorded_store, with_settings_of, Images, Wanted,
};
use super::maker::ImageMaker;
use super::plain::is_below_plain;
use crate::index::Index;
use crate::repository::Repository;
use crate::worktrees::tree_removal::remove_tree;
use crate::worktrees::words::{real_as_far_as_it_goes, GivenPath};
use crate::worktrees::{write_line, WorkingTree};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_mounts::{hindrance, sign_directory, Base, Hindrance, ImageName, LayeredTree, Lower};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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

impl WorkingTree {
    /// Whether it is mounted over an image; `None` if its files are ordinary ones.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub fn is_mounted(&self) -> Result<Option<bool>> {
        match layered(self)? {
            None => Ok(None),
            Some(layers) => Ok(Some(layers.is_mounted_on(&self.path)?)),
        }
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
    each(repository, words, visit, false, &|held| {
        mount_held(repository, held, images, execution)
    })
}

/// Unmounts the working trees that `words` mean; without words, all of them: where they are known to be, or
/// else where they are mounted. Their changes are kept.
///
/// # Errors
/// [`Error::Setup`] if there is none, or if it is an ordinary one.
pub fn unmount(repository: &Repository, words: &[BString], visit: VisitAttached<'_>) -> Result<()> {
    each(repository, words, visit, true, &|held| {
        let Held { tree, layers, .. } = held;
        let is_elsewhere = !layers.is_mounted_on(&tree.path)?;
        if is_elsewhere {
            layers.refuse_hidden(&tree.path)?;
            let Some(place) = seen_elsewhere(layers)? else {
                layers.check_place(&tree.path)?;
                return Ok(Attached::Already);
            };
            tree.path = place;
        }
        layers.unmount(&tree.path)?;
        if is_elsewhere {
            layers.remove_own_top(&tree.path)?;
        }
        release(repository, layers);
        Ok(Attached::Unmounted)
    })
}

/// Where the tree of `layers` is seen, as a whole, wherever it is known to be.
fn seen_elsewhere(layers: &LayeredTree) -> Result<Option<PathBuf>> {
    for place in layers.places()? {
        if layers.is_mounted_on(&place)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// The tree that is mounted at `word`, although it is known to be elsewhere.
fn mounted_at(
    repository: &Repository,
    trees: &[WorkingTree],
    word: &BStr,
) -> Result<Option<WorkingTree>> {
    let place = real_as_far_as_it_goes(&GivenPath::new(repository, word).path);
    for tree in trees {
        if let Some(layers) = layered(tree)? {
            if layers.places()?.contains(&place) {
                return Ok(Some(tree.clone()));
            }
        }
    }
    Ok(None)
}

/// Does something with the working trees that `words` mean, or with all: those first that others are in,
/// or last with `inner_first`.
fn each(
    repository: &Repository,
    words: &[BString],
    visit: VisitAttached<'_>,
    inner_first: bool,
    act: &dyn Fn(&mut Held) -> Result<Attached>,
) -> Result<()> {
    let trees = repository.worktrees()?;
    let mut chosen = Vec::new();
    for word in words {
        let tree = match mounted_at(repository, &trees, word.as_ref())? {
            Some(tree) if inner_first => tree,
            _ => repository.find_worktree(trees.clone(), word.as_ref())?,
        };
        if layered(&tree)?.is_none() {
            return Err(ordinary(repository, &tree, word.as_ref())?);
        }
        chosen.push(tree);
    }
    if words.is_empty() {
        chosen = trees;
    }
    chosen.sort_by(|a, b| a.path.cmp(&b.path));
    if inner_first {
        chosen.reverse();
    }
    for tree in chosen {
        match hold(repository, &tree) {
            Ok(None) if !inner_first && is_stopped(repository, &tree)? => {
                let word = tree.path.as_os_str().as_bytes();
                visit(&tree, Err(ordinary(repository, &tree, word.into())?));
            }
            Ok(None) => {}
            Ok(Some(mut held)) => {
                let done = act(&mut held);
                visit(&held.tree, done);
            }
            Err(error) => visit(&tree, Err(error)),
        }
    }
    Ok(())
}

fn ordinary(repository: &Repository, tree: &WorkingTree, word: &BStr) -> Result<Error> {
    let reason = if is_stopped(repository, tree)? {
        format!("an 'add' or 'remove' of '{word}' was stopped; 'hedgerow worktree prune' ends it")
    } else {
        format!("'{word}' is an ordinary working tree: it was added without --mount")
    };
    Ok(Error::Setup { reason })
}

/// Whether it is what a killed `add` or `remove` left.
fn is_stopped(repository: &Repository, tree: &WorkingTree) -> Result<bool> {
    let Some(id) = &tree.id else {
        return Ok(false);
    };
    Ok(lock_half_made(repository, id.as_ref())?.is_some())
}

/// Mounts a working tree at the place where it is known to be, and makes its `.git` file lead to its
/// administrative directory, wherever the repository was moved.
fn mount_held(
    repository: &Repository,
    held: &Held,
    images: &dyn ImageMaker,
    execution: &Execution,
) -> Result<Attached> {
    let Held { tree, layers, .. } = held;
    layers.check_place(&tree.path)?;
    layers.refuse_elsewhere(&tree.path)?;
    let attached = if layers.is_mounted_on(&tree.path)? {
        Attached::Already
    } else {
        refuse_hidden_parent(repository, tree)?;
        refuse_missing_parent(tree)?;
        drop_plain_link(tree)?;
        let linked = repository.open_admin(&tree.git_dir, &tree.path)?;
        let lower = lower(&linked, &tree.path, layers, images, execution)?;
        if let Err(error) = layers.mount(&tree.path, &lower) {
            drop(lower);
            release(repository, layers);
            return Err(error.into());
        }
        Attached::Mounted
    };
    relink(repository, tree)?;
    end_adding(repository, held)?;
    Ok(attached)
}

/// Refuses to make the place of a working tree in that of another one that is not mounted.
fn refuse_hidden_parent(repository: &Repository, tree: &WorkingTree) -> Result<()> {
    for other in repository.worktrees()? {
        let is_above = tree.path != other.path && tree.path.starts_with(&other.path);
        if is_above && other.is_mounted()? == Some(false) {
            return Err(Error::Setup {
                reason: format!(
                    "cannot mount '{}': it is in '{}', which is not mounted",
                    tree.path.display(),
                    other.path.display()
                ),
            });
        }
    }
    Ok(())
}

/// Refuses to put anything new, which was given as `shown`, into the place of a working tree that is not
/// mounted: it would be in the way of the mount.
pub(crate) fn refuse_within_unmounted(place: &Path, shown: &BStr) -> Result<()> {
    let place = real_as_far_as_it_goes(place);
    let is_signed = |above: &&Path| sign_directory(&above.join(".git")).is_some();
    match place.ancestors().skip(1).find(is_signed) {
        None => Ok(()),
        Some(above) => Err(Error::Setup {
            reason: format!(
                "'{shown}' is in '{}', the place of a working tree that is not mounted; 'hedgerow worktree \
                 mount' brings that back",
                above.display()
            ),
        }),
    }
}

/// Refuses a place whose directory is missing: the working tree was moved with all that is around it, or
/// the file system of its place is not there yet.
fn refuse_missing_parent(tree: &WorkingTree) -> Result<()> {
    let parent = tree.path.parent().unwrap_or(&tree.path);
    if hedgerow_fs::is_directory(parent) {
        return Ok(());
    }
    Err(Error::Setup {
        reason: format!(
            "cannot mount '{}': there is no directory '{}'; if the working tree was moved, 'hedgerow \
             worktree repair NEW-PATH' says where it is, else make that directory",
            tree.path.display(),
            parent.display()
        ),
    })
}

/// Ends the making of a working tree whose maker was killed: its lock is held, so nobody makes it.
fn end_adding(repository: &Repository, held: &Held) -> Result<()> {
    let tree = &held.tree;
    match tree.lock_reason()? {
        Some(reason) if reason == INITIALIZING => {}
        Some(_) => return Ok(()),
        None => return write_line(&tree.git_dir.join("locked"), LOCK_REASON.as_bytes()),
    }
    for name in ["HEAD.lock", "ORIG_HEAD.lock"] {
        hedgerow_fs::remove_file(&tree.git_dir.join(name))?;
    }
    let head = tree
        .head
        .id()
        .map(|id| repository.commit(&id))
        .transpose()?;
    // The index of the commit is written when all its files are there; until then it is the image's.
    let hash = repository.hash_kind();
    let index = Index::load(&tree.git_dir.join("index"), &tree.git_dir, hash)?;
    let index = index
        .as_ref()
        .and_then(|(index, _)| index.cache_tree()?.root_id());
    if head.is_none() || index.copied() != head.map(|head| head.tree) {
        let path = tree.path.display();
        return Err(Error::Setup {
            reason: format!(
                "'{path}' is mounted, but whoever added it was stopped before all its files were \
                 those of its commit; remove it with 'hedgerow worktree remove --force', or use \
                 'git reset --hard' in it and 'hedgerow worktree unlock'"
            ),
        });
    }
    write_line(&tree.git_dir.join("locked"), LOCK_REASON.as_bytes())
}

/// Removes what `git worktree repair` writes where the sign was deleted: a `.git` file alone, by which
/// all files would seem to be deleted.
pub(crate) fn drop_plain_link(tree: &WorkingTree) -> Result<()> {
    let entries = hedgerow_fs::list_directory(&tree.path)?.unwrap_or_default();
    let dot_git = tree.path.join(".git");
    if entries.len() == 1 && leads_to_admin(&dot_git, tree)? {
        hedgerow_fs::remove_file(&dot_git)?;
    }
    Ok(())
}

/// The mounted image of the layers of a tree at `top`, with the settings of `linked`; it is mounted, and
/// made again, as necessary.
pub(super) fn lower(
    linked: &Repository,
    top: &Path,
    layers: &LayeredTree,
    images: &dyn ImageMaker,
    execution: &Execution,
) -> Result<Lower> {
    let state = layers.state()?;
    let base = Base::new(&mounts(linked), &state.image);
    let refused = |reason: &str| {
        let upper = layers.upper();
        Error::Setup {
            reason: format!(
                "cannot mount '{}': {reason}; its changes are in '{}'",
                top.display(),
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
    if let Some(lower) = base.mounted()? {
        return Ok(lower);
    }
    let name = ImageName::parse(&state.image).ok_or_else(|| refused("it names no image"))?;
    let store = recorded_store(linked, &state.store);
    if let Some(image) = store.find(&name)? {
        // The repository may have been moved since.
        note_user(linked, &store)?;
        return mount_image(linked, &image);
    }
    let lost = |why: &str| refused(&format!("its image {name} is gone, and {why}"));
    let id = ObjectId::from_hex(name.tree.as_bytes());
    let id = id.map_err(|_| lost("its name is no tree"))?;
    if !linked.has_tree(&id) {
        return Err(lost("the repository has no such tree any more"));
    }
    let wanted = Wanted {
        tree: id,
        commit: None,
        reference: None,
    };
    let mtime_s = Some(state.mtime_s).filter(|seconds| *seconds != 0);
    let mut make = |makes: &Images<'_>| makes.make(&wanted, mtime_s, &mut Vec::new());
    let settings = (&name, state.settings.as_str());
    let made = with_settings_of(linked, settings, images, execution, &mut make);
    let made = made.map_err(|error| match error {
        Error::Setup { reason } => lost(&reason),
        error => error,
    });
    let Some(made) = made? else {
        let now = Images::new(linked, images, execution)?;
        let changed = now.fingerprint().changed_since(&state.settings);
        let changed = match changed.as_slice() {
            [] => "the settings that it was made with".to_owned(),
            changed => changed.join(" and "),
        };
        return Err(lost(&format!(
            "no working tree has its settings any more: {changed} changed since; with the settings of \
             then, in any working tree, 'hedgerow image-store make {id}' makes it again"
        )));
    };
    note_user(linked, &recorded_store(linked, &made.store))?;
    mount_image(linked, &made.image)
}

/// Moves the top of a working tree to the path `to`; it is mounted there if it was before. Its
/// administrative directory knows the new place then.
pub(crate) fn move_top(
    repository: &Repository,
    held: &Held,
    to: &Path,
    is_relative: bool,
) -> Result<()> {
    let Held { tree, layers, .. } = held;
    let from = &tree.path;
    layers.refuse_elsewhere(from)?;
    let own = hedgerow_fs::real_path(from).unwrap_or_else(|_| from.clone());
    let why = if to != own && to.starts_with(&own) {
        Some("Invalid argument")
    } else if !to.parent().is_some_and(hedgerow_fs::is_directory) {
        Some("No such file or directory")
    } else {
        None
    };
    if let Some(why) = why {
        let (from, to) = (from.display(), to.display());
        let reason = format!("failed to move '{from}' to '{to}': {why}");
        return Err(Error::Setup { reason });
    }
    let is_mounted = layers.is_mounted_on(from)?;
    let lower = if is_mounted {
        let lower = Base::new(&mounts(repository), &layers.state()?.image).mounted()?;
        let reason = || Error::Setup {
            reason: format!(
                "cannot move '{}' while the mount of its image is lost: unmount it first",
                from.display()
            ),
        };
        Some(lower.ok_or_else(reason)?)
    } else {
        None
    };
    if is_mounted {
        layers.unmount(from)?;
    }
    // From here on, whoever is killed leaves a working tree that is not mounted, at one place or the
    // other, and `hold` removes the other sign.
    let moved = layers
        .note_moving(from, to)
        .and_then(|()| layers.sign(to))
        .map_err(Error::from)
        .and_then(|()| {
            let upper = layers.upper();
            repository.link_worktree_by(to, &upper.join(".git"), &tree.git_dir, is_relative)
        });
    let place = if moved.is_ok() { to } else { from.as_path() };
    let ended = layers.end_moving(place);
    if let Some(lower) = &lower {
        layers.mount(place, lower)?;
    }
    moved?;
    Ok(ended?)
}

/// Makes an administrative directory name the top of its working tree.
pub(crate) fn point_to_top(admin: &Path, top: &Path) -> Result<()> {
    let dot_git = hedgerow_fs::real_path(top)?.join(".git");
    write_line(&admin.join("gitdir"), dot_git.as_os_str().as_bytes())
}

/// Makes the `.git` file of a mounted working tree lead to its administrative directory.
fn relink(repository: &Repository, tree: &WorkingTree) -> Result<()> {
    if leads_to_admin(&tree.path.join(".git"), tree)? {
        return Ok(());
    }
    let gitdir = tree.git_dir.join("gitdir");
    let named = hedgerow_fs::read_file(&gitdir, LINK_LIMIT_BYTES)?.unwrap_or_default();
    repository.link_worktree(&tree.path, &tree.git_dir, !named.starts_with(b"/"))
}

/// Whether the `.git` file at `path` leads to the administrative directory of `tree`.
fn leads_to_admin(path: &Path, tree: &WorkingTree) -> Result<bool> {
    let is_file = |stat: hedgerow_fs::Stat| stat.kind == hedgerow_fs::FileKind::File;
    if !hedgerow_fs::lstat(path)?.is_some_and(is_file) {
        return Ok(false);
    }
    let known = hedgerow_fs::read_file(path, LINK_LIMIT_BYTES)?.unwrap_or_default();
    let target = known.strip_prefix(b"gitdir: ").unwrap_or_default();
    let target = Path::new(std::ffi::OsStr::from_bytes(target.trim_ascii_end()));
    let leads_to = hedgerow_fs::real_path(&tree.path.join(target)).ok();
    Ok(leads_to == Some(hedgerow_fs::real_path(&tree.git_dir)?))
}

/// Unmounts the image of `layers` if no working tree is mounted on it any more.
pub(crate) fn release(repository: &Repository, layers: &LayeredTree) {
    if let Ok(state) = layers.state() {
        release_image(repository, &state.image);
    }
}

/// The same for all images: whoever is killed while mounting or unmounting leaves one that nothing is on.
pub(crate) fn release_unused(repository: &Repository) {
    let entries = hedgerow_fs::list_directory(&mounts(repository));
    for entry in entries.ok().flatten().unwrap_or_default() {
        if let Ok(image) = entry.name.to_str() {
            release_image(repository, image);
        }
    }
}

/// The same for the image with this name.
pub(crate) fn release_image(repository: &Repository, image: &str) {
    let is_on = |tree: &WorkingTree| {
        let layers = layered(tree).ok().flatten();
        layers.is_some_and(|layers| {
            layers.state().is_ok_and(|other| other.image == image)
                && layers.is_mounted_on(&tree.path).unwrap_or(true)
        })
    };
    let is_used = || {
        let trees = repository.worktrees();
        trees.map_or(true, |trees| trees.iter().any(is_on)) || is_below_plain(repository, image)
    };
    // One that somebody else uses stays mounted.
    let _ = Base::new(&mounts(repository), image).unmount_unless(&is_used);
}

/// Removes a mounted working tree: its top, its layers and its administrative directory. Whoever is killed
/// leaves one that is not mounted, and can be removed again or pruned.
pub(crate) fn remove_held(repository: &Repository, held: &Held) -> Result<()> {
    let Held { tree, layers, .. } = held;
    let is_foreign = layers.check_place(&tree.path).is_err();
    if !is_foreign {
        layers.refuse_elsewhere(&tree.path)?;
    }
    if layers.is_mounted_on(&tree.path)? {
        layers.unmount(&tree.path)?;
    }
    layers.refuse_busy()?;
    release(repository, layers);
    if !is_foreign {
        layers.remove_top(&tree.path)?;
    }
    hedgerow_fs::remove_file(&tree.git_dir.join("locked"))?;
    layers.forget()?;
    // As long as any of them is there, it is known that they are leftovers.
    remove_tree(&layers.upper())
}
