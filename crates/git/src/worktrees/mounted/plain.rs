//! Mounting a commit without a working tree: a look at its files, or a place to try something.

use super::attach::{lower, refuse_within_unmounted};
use super::images::{mount_image, Found, Images, Wanted};
use super::maker::ImageMaker;
use super::{lock_place, release, release_image, release_unused};
use crate::config::Environment;
use crate::repository::Repository;
use crate::worktrees::tree_removal::remove_tree;
use crate::worktrees::words::real_as_far_as_it_goes;
use crate::worktrees::GivenPath;
use crate::{Error, Result};
use bstr::BStr;
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{create_directories, list_directory, mount_at, real_path};
use hedgerow_mounts::{hindrance, lost_trees, ImageKind, LayeredTree};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
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
    refuse_filled(&top, path)?;
    refuse_within_unmounted(&top, path)?;
    let known = LayeredTree::open(&place(repository, &real_as_far_as_it_goes(&top)))?;
    if let Some(layers) = known.filter(|layers| layers.has_changes().unwrap_or(true)) {
        let tree = layers.state()?.image.split('-').next().unwrap_or_default();
        let upper = layers.upper();
        if read_only || ObjectId::from_hex(tree.as_bytes()).ok() != Some(wanted.tree) {
            return refused(format!(
                "'{path}' has changes of an earlier mount of the tree {tree}, in '{}'; 'hedgerow mount \
                 {tree} {path}' brings them back, 'hedgerow unmount --force {path}' discards them",
                upper.display()
            ));
        }
        bring_back(repository, &layers, (&top, path), maker, execution)?;
        return Ok(vec![format!(
            "'{path}' has the changes of an earlier mount again"
        )]);
    }
    let mut warnings = Vec::new();
    let mut find = || {
        repository
            .with_promised(|| Images::new(repository, maker, execution)?.of(&wanted, &mut warnings))
    };
    let mut found = find()?;
    found.image.note_use();
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

/// Mounts layers with changes, whose mount was lost, on the directory `top` again, which was given as
/// `path`.
fn bring_back(
    repository: &Repository,
    layers: &LayeredTree,
    (top, path): (&Path, &BStr),
    maker: &dyn ImageMaker,
    execution: &Execution,
) -> Result<()> {
    let is_made = hedgerow_fs::lstat(top)?.is_none();
    create_directories(top)?;
    let top = real_path(top)?;
    let mount = || {
        let _lock = lock_place(repository, &top)?;
        refuse_filled(&top, path)?;
        let lower =
            repository.with_promised(|| lower(repository, &top, layers, maker, execution))?;
        Ok::<_, Error>(layers.mount_unsigned(&top, &lower)?)
    };
    let mounted = mount();
    if mounted.is_err() {
        release(repository, layers);
    }
    if mounted.is_err() && is_made {
        // One that somebody uses meanwhile stays.
        let _ = hedgerow_fs::remove_directory(&top);
    }
    mounted
}

fn refuse_filled(top: &Path, path: &BStr) -> Result<()> {
    if list_directory(top)?.is_some_and(|entries| !entries.is_empty()) {
        let reason = format!("'{path}' is not an empty directory");
        return Err(Error::Setup { reason });
    }
    Ok(())
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
    refuse_filled(top, path)?;
    let directory = place(repository, top);
    remove_tree(&directory)?;
    let mounted = mount_image(repository, &found.image).and_then(|lower| {
        let layers = LayeredTree::create(&directory, top, found.state(&lower)?)?;
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

/// The layers of the mounts that [`mount_revision`] made in the repository with this common directory.
fn all_layers(common: &Path) -> Result<Vec<LayeredTree>> {
    let places = common.join(PLACES);
    let entries = list_directory(&places)?.unwrap_or_default();
    let layers = entries.iter().filter_map(|entry| {
        let directory = places.join(OsStr::from_bytes(&entry.name));
        LayeredTree::open(&directory).ok().flatten()
    });
    Ok(layers.collect())
}

/// Whether a mount that [`mount_revision`] made is on the image with this name.
pub(super) fn is_below_plain(repository: &Repository, image: &str) -> bool {
    let all = all_layers(repository.common_dir());
    all.map_or(true, |all| {
        all.iter().any(|layers| {
            layers.state().is_ok_and(|state| state.image == image)
                && layers.places().is_ok_and(|places| !places.is_empty())
        })
    })
}

/// Adds the names of the images that such mounts are on, or were on if their changes are there.
pub(super) fn add_needed(common: &Path, names: &mut BTreeSet<String>) -> Result<()> {
    for layers in all_layers(common)? {
        let is_mounted = || layers.places().map_or(true, |places| !places.is_empty());
        if layers.has_changes().unwrap_or(true) || is_mounted() {
            // Which image damaged layers need, nobody knows.
            names.extend(layers.state().ok().map(|state| state.image.clone()));
        }
    }
    Ok(())
}

/// Removes the mount that [`mount_revision`] made on the directory `path`, wherever its repository is.
/// Changes of its files are discarded with `force`; of a mount that was lost, also if the directory is gone.
///
/// # Errors
/// If there is none, if it is in use, or if there are changes; nothing has changed then.
pub fn unmount_revision(environment: &Environment, path: &BStr, force: bool) -> Result<()> {
    let refused = |reason: String| Err(Error::Setup { reason });
    let given = environment.cwd.join(OsStr::from_bytes(path));
    let top = real_as_far_as_it_goes(&given);
    let here = Repository::discover_unmounted(environment).map(|(repository, _)| repository);
    let is_known = |repository: &Repository| hedgerow_fs::is_directory(&place(repository, &top));
    let home = match &here {
        Ok(repository) if is_known(repository) => None,
        _ => home_of(environment, &top)?,
    };
    if let Some(repository) = home.as_ref().or(here.as_ref().ok()) {
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
    }
    let hint = match here {
        Ok(_) => "",
        Err(_) => "; of one that was lost, its repository knows: run this there",
    };
    let nothing = format!("nothing that hedgerow has mounted is at '{path}'{hint}");
    let top = match real_path(&given) {
        Err(error) if error.is_missing() && here.is_err() => return refused(nothing),
        top => top?,
    };
    if let Some(lost) = lost_trees()?.into_iter().find(|lost| lost.top == top) {
        return Ok(lost.remove()?);
    }
    let is_image = |kind: &str| ImageKind::ALL.iter().any(|known| known.name() == kind);
    if mount_at(&top)?.is_some_and(|mount| is_image(&mount.kind)) {
        return Ok(hedgerow_fs::unmount(&top, false)?);
    }
    refused(nothing)
}

/// The repository of the mount that [`mount_revision`] made and that is seen on `top`.
fn home_of(environment: &Environment, top: &Path) -> Result<Option<Repository>> {
    if !hedgerow_fs::is_directory(top) {
        return Ok(None);
    }
    let upper = mount_at(top)?.and_then(|mount| mount.option("upperdir"));
    let upper = upper.map(PathBuf::from).unwrap_or_default();
    // COMMON/PLACES/DIGITS/upper
    let places = upper.ancestors().nth(2).filter(|it| it.ends_with(PLACES));
    let common = places.and_then(|places| places.ancestors().nth(2));
    let Some(common) = common.filter(|common| hedgerow_fs::is_directory(common)) else {
        return Ok(None);
    };
    let repository = Repository::open_at(common, environment)?;
    Ok(hedgerow_fs::is_directory(&place(&repository, top)).then_some(repository))
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
