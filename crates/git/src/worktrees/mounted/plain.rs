//! Mounting a commit without a working tree: a look at its files, or a place to try something.

use super::images::{mount_image, Found, Images, Wanted};
use super::maker::ImageMaker;
use super::{lock_place, release_image, release_unused};
use crate::repository::Repository;
use crate::worktrees::tree_removal::remove_tree;
use crate::worktrees::words::real_as_far_as_it_goes;
use crate::worktrees::GivenPath;
use crate::{Error, Result};
use bstr::BStr;
use hedgerow_engine::Execution;
use hedgerow_fs::{create_directories, list_directory, may_mount, mount_at, real_path};
use hedgerow_mounts::{hindrance, lost_trees, ImageKind, LayeredTree, TreeState};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the layers of such mounts are, in the common directory.
const PLACES: &str = "hedgerow/plain";

/// Mounts the files of `revision` on the directory `path`, which is made if it is missing: read-only, or
/// with a layer for changes, which [`unmount_revision`] discards. Returns warnings of conversions.
///
/// # Errors
/// If the revision names no tree, if there is anything in the directory, or if it cannot be mounted.
pub fn mount_revision(
    repository: &Repository,
    revision: &BStr,
    path: &BStr,
    read_only: bool,
    maker: &dyn ImageMaker,
    execution: &Execution,
) -> Result<Vec<String>> {
    let refused = |reason: String| Err(Error::Setup { reason });
    if let Some(hindrance) = hindrance() {
        return refused(format!("cannot mount '{path}': {}", hindrance.reason()));
    }
    let wanted = Wanted::of_revision(repository, revision)?;
    let top = GivenPath::new(repository, path).path;
    if list_directory(&top)?.is_some_and(|entries| !entries.is_empty()) {
        return refused(format!("'{path}' is not an empty directory"));
    }
    let known = LayeredTree::open(&place(repository, &real_as_far_as_it_goes(&top)))?;
    if known.is_some_and(|layers| layers.has_changes().unwrap_or(true)) {
        return refused(format!(
            "'{path}' has changes of an earlier mount; 'hedgerow unmount --force' discards them"
        ));
    }
    let mut warnings = Vec::new();
    let mut find = || {
        repository
            .with_promised(|| Images::new(repository, maker, execution)?.of(&wanted, &mut warnings))
    };
    let mut found = find()?;
    let is_made = hedgerow_fs::lstat(&top)?.is_none();
    create_directories(&top)?;
    let top = real_path(&top)?;
    let mut mounted = put_on(repository, &found, (&top, path), read_only, execution);
    if mounted.is_err() && hedgerow_fs::lstat(&found.image.path)?.is_none() {
        // Somebody has removed the image meanwhile.
        mounted = find().and_then(|again| {
            found = again;
            put_on(repository, &found, (&top, path), read_only, execution)
        });
    }
    if mounted.is_err() && is_made {
        // One that somebody uses meanwhile stays.
        let _ = hedgerow_fs::remove_directory(&top);
    }
    mounted.map(|()| warnings)
}

/// Mounts an image on the empty directory `top`, which was given as `path`. Nothing stays mounted if it
/// is cancelled.
fn put_on(
    repository: &Repository,
    found: &Found,
    (top, path): (&Path, &BStr),
    read_only: bool,
    execution: &Execution,
) -> Result<()> {
    let is_cancelled = || execution.cancel.is_cancelled();
    if read_only {
        found.image.mount_on(top)?;
        if is_cancelled() {
            hedgerow_fs::unmount(top, false)?;
            return Err(Error::Interrupted);
        }
        return Ok(());
    }
    // The place first, then the image: as everywhere, so that nobody waits for somebody who waits.
    let _lock = lock_place(repository, top)?;
    if list_directory(top)?.is_some_and(|entries| !entries.is_empty()) {
        let reason = format!("'{path}' is not an empty directory");
        return Err(Error::Setup { reason });
    }
    let state = TreeState {
        image: found.image.name.to_string(),
        store: found.store.clone(),
        mtime_s: 0,
        is_privileged: may_mount().1,
    };
    let directory = place(repository, top);
    remove_tree(&directory)?;
    let mounted = mount_image(repository, &found.image).and_then(|lower| {
        let layers = LayeredTree::create(&directory, top, state)?;
        layers.save()?;
        Ok(layers.mount_unsigned(top, &lower)?)
    });
    if mounted.is_ok() && !is_cancelled() {
        return Ok(());
    }
    if mounted.is_ok() {
        hedgerow_fs::unmount(top, false)?;
    }
    remove_tree(&directory)?;
    release_image(repository, &found.image.name.to_string());
    mounted.and(Err(Error::Interrupted))
}

/// Whether a mount that [`mount_revision`] made is on the image with this name.
pub(super) fn is_below_plain(repository: &Repository, image: &str) -> bool {
    let places = repository.common_dir().join(PLACES);
    let Ok(entries) = list_directory(&places) else {
        return true;
    };
    entries.unwrap_or_default().iter().any(|entry| {
        let directory = places.join(OsStr::from_bytes(&entry.name));
        let layers = LayeredTree::open(&directory).ok().flatten();
        layers.is_some_and(|layers| {
            layers.state().is_ok_and(|state| state.image == image)
                && layers.places().is_ok_and(|places| !places.is_empty())
        })
    })
}

/// Removes the mount that [`mount_revision`] made on the directory `path`. Changes of its files are
/// discarded with `force`.
///
/// # Errors
/// If there is none, if it is in use, or if there are changes; nothing has changed then.
pub fn unmount_revision(repository: &Repository, path: &BStr, force: bool) -> Result<()> {
    let refused = |reason: String| Err(Error::Setup { reason });
    let top = real_path(&GivenPath::new(repository, path).path)?;
    let directory = place(repository, &top);
    let _lock = lock_place(repository, &top)?;
    if let Some(layers) = LayeredTree::open(&directory)? {
        if layers.has_changes()? && !force {
            return refused(format!(
                "files in '{path}' were changed; use --force to discard the changes"
            ));
        }
        if layers.is_mounted_on(&top)? {
            layers.unmount(&top)?;
        }
        layers.refuse_busy()?;
        remove_tree(&directory)?;
        release_unused(repository);
        return Ok(());
    }
    if let Some(lost) = lost_trees()?.into_iter().find(|lost| lost.top == top) {
        return Ok(lost.remove()?);
    }
    let is_image = |kind: &str| ImageKind::ALL.iter().any(|known| known.name() == kind);
    if !mount_at(&top)?.is_some_and(|mount| is_image(&mount.kind)) {
        return refused(format!("nothing that hedgerow has mounted is at '{path}'"));
    }
    Ok(hedgerow_fs::unmount(&top, false)?)
}

/// The directory for the layers of a mount on `top`.
fn place(repository: &Repository, top: &Path) -> PathBuf {
    let digest = Sha256::digest(top.as_os_str().as_bytes());
    let digits: String = digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    repository.common_dir().join(PLACES).join(digits)
}
