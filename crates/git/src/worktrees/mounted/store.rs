//! What is in the stores of images: listing, removing, checking.

use super::images::{mounts, Images, Stores, Wanted};
use super::maker::ImageMaker;
use super::{layers_of, release_unused};
use crate::config::MountSettings;
use crate::repository::Repository;
use crate::Result;
use bstr::BString;
use hedgerow_engine::Execution;
use hedgerow_mounts::{Base, ImageStore, StoredImage};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An image with what is known of its use.
#[derive(Clone, Debug)]
pub struct ImageUse {
    /// The image.
    pub image: StoredImage,
    /// It is mounted for working trees of this repository.
    pub is_mounted: bool,
    /// Working trees are on it, here or in another repository that shares the store.
    pub is_needed: bool,
}

impl fmt::Display for ImageUse {
    /// A line of a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let note = match (self.is_mounted, self.is_needed) {
            (true, _) => " mounted",
            (_, true) => " needed",
            _ => "",
        };
        write!(f, "{}{note}", self.image)
    }
}

/// The result of a check of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageCheck {
    /// It has what a checkout of its tree writes.
    Sound,
    /// These paths differ from a checkout.
    Differs(Vec<BString>),
    /// It was made with other settings, or its tree is not in this repository.
    NotComparable,
}

impl ImageCheck {
    /// Whether the image must not be used.
    pub fn is_bad(&self) -> bool {
        matches!(self, ImageCheck::Differs(_))
    }
}

impl fmt::Display for ImageCheck {
    /// What is said of the image after its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageCheck::Sound => f.write_str("ok"),
            ImageCheck::NotComparable => f.write_str("has other settings, or no tree here"),
            ImageCheck::Differs(paths) => {
                f.write_str("differs from a checkout of its tree:")?;
                let mut shown = paths.iter();
                shown.try_for_each(|path| write!(f, "\n  {path}"))
            }
        }
    }
}

/// The images of all stores of `repository`.
///
/// # Errors
/// If a store cannot be read.
pub fn list_images(repository: &Repository) -> Result<Vec<ImageUse>> {
    let settings = MountSettings::load(repository.config())?;
    let stores = Stores::new(repository, &settings);
    let mut found = Vec::new();
    for store in stores.all() {
        let needed = needed(repository, store)?;
        for image in store.list()? {
            let name = image.name.to_string();
            found.push(ImageUse {
                is_mounted: Base::new(&mounts(repository), &name).is_mounted()?,
                is_needed: needed.contains(&name),
                image,
            });
        }
    }
    Ok(found)
}

/// Makes the images of `revisions` that are missing, so that nobody has to wait for them later, and keeps
/// the size of the stores. `visit` is shown each that was made, and the warnings of making it.
///
/// # Errors
/// If a revision names no tree, before anything is made; if an image cannot be made; if it is
/// cancelled.
pub fn make_images(
    repository: &Repository,
    revisions: &[BString],
    maker: &dyn ImageMaker,
    execution: &Execution,
    visit: &mut dyn FnMut(&StoredImage, &[String]),
) -> Result<()> {
    let wanted = |revision: &BString| Wanted::of_revision(repository, revision.as_ref());
    let wanted: Vec<Wanted> = revisions.iter().map(wanted).collect::<Result<_>>()?;
    let images = Images::new(repository, maker, execution)?;
    for wanted in &wanted {
        let mut warnings = Vec::new();
        let found = repository.with_promised(|| images.of(wanted, &mut warnings))?;
        found.image.note_use();
        if found.is_new {
            visit(&found.image, &warnings);
        }
    }
    prune_images(repository, false, false)?;
    Ok(())
}

/// Removes images that no working tree is on, those first that were not used for longest, until a
/// store has no more than `hedgerow.imageStoreSize` allows, or with `all` every one of them. Returns
/// what was removed; with `dry_run`, what would be.
///
/// # Errors
/// If a store cannot be read, or an image not be removed.
pub fn prune_images(repository: &Repository, all: bool, dry_run: bool) -> Result<Vec<StoredImage>> {
    let settings = MountSettings::load(repository.config())?;
    let limit_bytes = if all { 0 } else { settings.store_bytes };
    if !dry_run {
        release_unused(repository);
    }
    let mut removed = Vec::new();
    for store in Stores::new(repository, &settings).all() {
        let needed = needed(repository, store)?;
        let keeps = |image: &StoredImage| {
            let name = image.name.to_string();
            let base = Base::new(&mounts(repository), &name);
            needed.contains(&name) || base.is_mounted().unwrap_or(true)
        };
        removed.extend(store.prune(limit_bytes, &keeps, dry_run)?);
    }
    Ok(removed)
}

/// Compares every image with a checkout of its tree; `visit` is shown the result.
///
/// # Errors
/// If a store or an object cannot be read.
pub fn verify_images(
    repository: &Repository,
    maker: &dyn ImageMaker,
    execution: &Execution,
    visit: &mut dyn FnMut(&StoredImage, Result<ImageCheck>),
) -> Result<()> {
    let images = Images::new(repository, maker, execution)?;
    for ImageUse { image, .. } in list_images(repository)? {
        let check = images
            .differences(&image)
            .map(|differences| match differences {
                None => ImageCheck::NotComparable,
                Some(paths) if paths.is_empty() => ImageCheck::Sound,
                Some(paths) => ImageCheck::Differs(paths),
            });
        // One that was pruned meanwhile is none.
        if check.is_err() && hedgerow_fs::lstat(&image.path)?.is_none() {
            continue;
        }
        visit(&image, check);
    }
    Ok(())
}

/// The names of the images that working trees are on: of this repository, and of the others that use
/// the store.
fn needed(repository: &Repository, store: &ImageStore) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let own = repository.common_dir().to_owned();
    for common in store.users()?.iter().chain([&own]) {
        names_in(&common.join("worktrees"), &mut names)?;
    }
    Ok(names)
}

fn names_in(directory: &Path, names: &mut BTreeSet<String>) -> Result<()> {
    for entry in hedgerow_fs::list_directory(directory)?.unwrap_or_default() {
        let admin = directory.join(OsStr::from_bytes(&entry.name));
        let layers = layers_of(&admin)?;
        // Which image damaged layers need, nobody knows.
        names.extend(layers.and_then(|it| Some(it.state().ok()?.image.clone())));
    }
    Ok(())
}
