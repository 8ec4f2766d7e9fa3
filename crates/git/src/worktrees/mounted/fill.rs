//! Putting a new working tree on an image.

use super::images::{mounts, Found, Images, Wanted};
use super::maker::ImageMaker;
use super::store::prune_images;
use super::{layers_of, release};
use crate::checkout::{note_reset, Done};
use crate::repository::Repository;
use crate::worktrees::populate::populate_fresh;
use crate::worktrees::tree_removal::remove_tree;
use crate::{Error, Result};
use bstr::BString;
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{may_mount, LockFile};
use hedgerow_mounts::{hindrance, remove_sign, Base, Hindrance, LayeredTree, TreeState};
use std::path::Path;

/// An index larger than this is refused.
const INDEX_LIMIT_BYTES: u64 = 4 << 30;

/// A working tree that is mounted, and has neither index nor files of its own yet.
pub(crate) struct OnImage {
    found: Found,
    /// What making the image had to tell.
    warnings: Vec<String>,
}

/// What is checked out in a new working tree.
pub(crate) struct Checkout<'a> {
    /// The working tree, by its administrative directory.
    pub linked: &'a Repository,
    pub commit: ObjectId,
    /// The full name of its branch.
    pub branch: Option<BString>,
    /// Where it is mounted: an empty directory.
    pub top: &'a Path,
}

/// Finds or makes an image for a new working tree, makes its layers, and mounts it. If this fails,
/// nothing is left of it but the image.
pub(crate) fn put_on_image(
    checkout: &Checkout<'_>,
    maker: &dyn ImageMaker,
    execution: &Execution,
) -> Result<OnImage> {
    let mut warnings = Vec::new();
    let found = checkout.linked.with_promised(|linked| {
        let commit = linked.commit(&checkout.commit)?;
        let wanted = Wanted {
            tree: commit.tree,
            commit: Some(commit),
            reference: checkout.branch.clone(),
        };
        Images::new(linked, maker, execution)?.base(&wanted, &mut warnings)
    })?;
    let base = Base::new(&mounts(checkout.linked), &found.image.name.to_string());
    refuse_hindered(&base)?;
    let lower = base.mount(&found.image)?;
    let mtime_s = hedgerow_fs::lstat(&lower)?.map_or(0, |stat| stat.mtime.seconds);
    let state = TreeState {
        image: found.image.name.to_string(),
        store: found.store.clone(),
        mtime_s,
        is_privileged: may_mount().1,
    };
    let directory = checkout.linked.git_dir().join(super::attach::LAYERS);
    let made = LayeredTree::create(&directory, state)
        .and_then(|layers| layers.mount(checkout.top, &lower));
    if let Err(error) = made {
        // The reason why it is not mounted is told.
        let _ = remove_sign(checkout.top);
        let _ = remove_tree(&directory);
        release(checkout.linked, &found.image.name.to_string());
        return Err(error.into());
    }
    if found.is_new {
        // A store that is too large costs space only.
        let _ = prune_images(checkout.linked, false, false);
    }
    Ok(OnImage { found, warnings })
}

/// Refuses what only shows now: a user namespace may use an image that is mounted, and no other.
fn refuse_hindered(base: &Base) -> Result<()> {
    let hindrance = hindrance();
    if hindrance == Some(Hindrance::UserNamespace) && base.is_mounted()? {
        return Ok(());
    }
    match hindrance {
        None => Ok(()),
        Some(hindrance) => Err(Error::Setup {
            reason: hindrance.reason().into(),
        }),
    }
}

/// Gives the working tree `linked` its index, and checks out what differs from the image.
pub(crate) fn fill(
    linked: &Repository,
    on_image: OnImage,
    threshold: Option<u64>,
    execution: &Execution,
) -> Result<Done> {
    install_index(linked, &on_image.found)?;
    let head = linked.head()?.id();
    let tree = head.map(|id| linked.commit(&id)).transpose()?;
    let mut done = if tree.is_some_and(|commit| commit.tree == on_image.found.tree) {
        note_reset(linked, execution)?;
        let hook = linked.run_post_index_change(true, false).err();
        Done {
            warnings: hook.map(|error| error.to_string()).into_iter().collect(),
            ..Done::default()
        }
    } else {
        populate_fresh(linked, threshold, execution)?
    };
    done.warnings.splice(0..0, on_image.warnings);
    Ok(done)
}

fn install_index(linked: &Repository, found: &Found) -> Result<()> {
    let path = &found.image.index;
    let content = hedgerow_fs::read_file(path, INDEX_LIMIT_BYTES)?;
    let content = content.ok_or_else(|| Error::Setup {
        reason: format!("the index of the image, '{}', has gone", path.display()),
    })?;
    let mut lock = LockFile::acquire(linked.index_path())?;
    lock.write_all(&content)?;
    linked.settings().sharing.open_lock(&lock)?;
    lock.commit()?;
    Ok(())
}

/// Undoes what [`put_on_image`] did, for a working tree that is not finished.
pub(crate) fn take_off_image(admin: &Path, top: &Path) {
    // The reason why it is not finished is told; git does not tell what stays behind, too.
    if let Ok(Some(layers)) = layers_of(admin) {
        let _ = layers.unmount(top);
    }
}
