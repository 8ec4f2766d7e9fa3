//! Putting a new working tree on an image.

use super::ahead::{can_write_ahead, write_ahead};
use super::images::{mount_image, mounts, read_index, refuse_other_tree, stored_index};
use super::images::{Found, Images, Wanted};
use super::maker::ImageMaker;
use super::store::prune_images;
use super::watch::{is_watch_wished, vouching, vouching_for_image, watch};
use super::{layers_of, release_image, LAYERS};
use crate::checkout::{note_reset, Done};
use crate::index::IndexBytes;
use crate::repository::Repository;
use crate::worktree::write_options;
use crate::worktrees::populate::populate_fresh;
use crate::worktrees::tree_removal::remove_tree;
use crate::{Error, Result};
use bstr::BString;
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::LockFile;
use hedgerow_mounts::{hindrance, Base, Hindrance, LayeredTree, Lower};
use std::path::Path;

/// How often an image is looked for that somebody removes at the same time.
const ATTEMPTS: usize = 20;

/// A working tree that is mounted and has the index of its image.
pub(crate) struct OnImage {
    found: Found,
    /// What making the image had to tell.
    warnings: Vec<String>,
    /// What was written ahead of the mount, where the commit differs from the image.
    written: Option<Done>,
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
    /// The files that link it hold relative paths.
    pub is_relative: bool,
    /// The program that git asks what changed there.
    pub monitor: Option<&'a Path>,
    /// With fewer files than this to write, a single worker writes them.
    pub threshold: Option<u64>,
}

impl OnImage {
    /// The name of its image.
    pub(crate) fn image(&self) -> String {
        self.found.image.name.to_string()
    }
}

/// Finds or makes an image for a new working tree, makes its layers, and mounts it. If this fails,
/// nothing is left of it but the file of the image.
pub(crate) fn put_on_image(
    checkout: &Checkout<'_>,
    maker: &dyn ImageMaker,
    execution: &Execution,
) -> Result<OnImage> {
    let mut image = None;
    let put = put(checkout, maker, execution, &mut image);
    if let (Err(_), Some(image)) = (&put, image) {
        release_image(checkout.linked, &image);
    }
    put
}

/// The same, but if it fails, the image may stay mounted whose name `mounted` is.
fn put(
    checkout: &Checkout<'_>,
    maker: &dyn ImageMaker,
    execution: &Execution,
    mounted: &mut Option<String>,
) -> Result<OnImage> {
    let linked = checkout.linked;
    let mut warnings = Vec::new();
    let (found, lower, bytes) = mounted_image(checkout, maker, execution, &mut warnings, mounted)?;
    let directory = linked.git_dir().join(LAYERS);
    let layers = LayeredTree::create(&directory, checkout.top, found.state(&lower)?)?;
    let laid = match lay(checkout, &layers, &lower, &found, bytes, execution) {
        Ok(laid) => laid,
        Err(error) => {
            drop(lower);
            // The reason why it is not mounted is told.
            let _ = layers.remove_top(checkout.top);
            let _ = make_top_again(checkout);
            for name in ["gitdir", "index"] {
                let _ = hedgerow_fs::remove_file(&linked.git_dir().join(name));
            }
            let _ = remove_tree(&directory);
            return Err(error);
        }
    };
    drop(lower);
    if let Some(program) = checkout.monitor.filter(|_| laid.is_watched) {
        // Without it, git looks at every file.
        if let Err(error) = watch(linked, program) {
            warnings.push(format!("git is not told what changes here: {error}"));
        }
    }
    if found.is_new {
        // A store that is too large costs space only.
        let _ = prune_images(linked, false, false);
    }
    Ok(OnImage {
        found,
        warnings,
        written: laid.written,
    })
}

/// The image for a new working tree, mounted, and its index.
fn mounted_image(
    checkout: &Checkout<'_>,
    maker: &dyn ImageMaker,
    execution: &Execution,
    warnings: &mut Vec<String>,
    mounted: &mut Option<String>,
) -> Result<(Found, Lower, IndexBytes)> {
    let linked = checkout.linked;
    let mut attempt = 1;
    loop {
        let found = linked.with_promised(|| {
            let commit = linked.commit(&checkout.commit)?;
            let wanted = Wanted {
                tree: commit.tree,
                commit: Some(commit),
                reference: checkout.branch.clone(),
            };
            Images::within(checkout.top, linked, maker, execution)?.base(&wanted, warnings)
        })?;
        let image = &found.image;
        let name = mounted.insert(image.name.to_string());
        refuse_hindered(&Base::new(&mounts(linked), name))?;
        let read = mount_image(linked, image).and_then(|lower| {
            let bytes = stored_index(linked, image)?;
            refuse_other_tree(image, &bytes)?;
            Ok((lower, bytes))
        });
        // Once it is mounted, it is not pruned any more.
        let has_gone = || !hedgerow_fs::exists(&image.path) || !hedgerow_fs::exists(&image.index);
        match read {
            Ok((lower, bytes)) => return Ok((found, lower, bytes)),
            Err(_) if has_gone() && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A working tree that was just mounted.
struct Laid {
    /// Git is to ask what changes there.
    is_watched: bool,
    /// What was written ahead.
    written: Option<Done>,
}

/// Makes the layers of a working tree, its links and its index, and mounts it. Git sees a working tree
/// there as soon as it is mounted, and then all of it is there: what differs from the image was written
/// ahead, as far as that is possible.
fn lay(
    checkout: &Checkout<'_>,
    layers: &LayeredTree,
    lower: &Lower,
    found: &Found,
    bytes: IndexBytes,
    execution: &Execution,
) -> Result<Laid> {
    let (linked, top) = (checkout.linked, checkout.top);
    let upper = layers.upper();
    let dot_git = upper.join(".git");
    linked.link_worktree_by(top, &dot_git, linked.git_dir(), checkout.is_relative)?;
    let wants_watch = |entry_count| {
        Ok::<_, Error>(checkout.monitor.is_some() && is_watch_wished(linked, entry_count)?)
    };
    let is_ahead = can_write_ahead(linked, layers.state()?.is_privileged)?;
    let laid = if let Some(changes) = found.changes.as_ref().filter(|_| is_ahead) {
        // Whoever is killed from here on leaves leftovers, not changes.
        layers.forget()?;
        let image = read_index(&found.image, &bytes)?;
        let (done, mut index) = write_ahead(checkout, &upper, &image, changes, execution)?;
        let is_watched = wants_watch(index.entries().len())?;
        let content = if is_watched {
            // From here on, nothing changes in the layer.
            layers.prepare(top, lower)?;
            vouching(linked, layers, lower, &mut index)?
        } else {
            let mut content = Vec::new();
            index.write(&mut content, &write_options(linked)?);
            content
        };
        write_index(linked, &[&content])?;
        Laid {
            is_watched,
            written: Some(done),
        }
    } else {
        let is_watched = wants_watch(bytes.entry_count())?;
        if is_watched {
            layers.prepare(top, lower)?;
            let [same, rest] = vouching_for_image(linked, layers, lower, &found.image, &bytes)?;
            write_index(linked, &[&same, &rest])?;
        } else {
            write_index(linked, &[bytes.as_slice()])?;
        }
        Laid {
            is_watched,
            written: None,
        }
    };
    layers.save()?;
    layers.mount(top, lower)?;
    Ok(laid)
}

fn write_index(linked: &Repository, parts: &[&[u8]]) -> Result<()> {
    let mut lock = LockFile::acquire(linked.index_path())?;
    for part in parts {
        lock.write_all(part)?;
    }
    linked.settings().sharing.open_lock(&lock)?;
    lock.commit()?;
    Ok(())
}

/// Makes the top again, for files: it went with the sign.
fn make_top_again(checkout: &Checkout<'_>) -> Result<()> {
    let sharing = checkout.linked.settings().sharing;
    sharing.create_directories(checkout.top)
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

/// Checks out in the working tree `linked` what differs from its image.
pub(crate) fn fill(
    linked: &Repository,
    on_image: OnImage,
    threshold: Option<u64>,
    execution: &Execution,
) -> Result<Done> {
    let head = linked.head()?.id();
    let tree = head.map(|id| linked.commit(&id)).transpose()?;
    let mut done = if let Some(written) = on_image.written {
        note_reset(linked, execution)?;
        written
    } else if tree.is_some_and(|commit| commit.tree == on_image.found.tree) {
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

/// Undoes what [`put_on_image`] did, for a working tree that is not finished; returns whether that
/// succeeded.
pub(crate) fn take_off_image(admin: &Path, top: &Path) -> bool {
    let undo = || {
        if let Some(layers) = layers_of(admin)? {
            layers.unmount(top)?;
        }
        Ok::<(), Error>(())
    };
    undo().is_ok()
}
