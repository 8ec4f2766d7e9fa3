//! What is in the stores of images: listing, removing, checking.

use super::images::{mounts, with_settings_of, Images, Stores, Wanted};
use super::maker::ImageMaker;
use super::plain::add_needed;
use super::{layers_of, release_unused};
use crate::config::MountSettings;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::BString;
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_mounts::{hindrance, Base, ImageStore, MountedImages, StoredImage};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What is noted of settings is not believed if it is longer than this.
const SETTINGS_LIMIT_BYTES: u64 = 64 << 10;

/// An image with what is known of its use.
#[derive(Clone, Debug)]
pub struct ImageUse {
    /// The image.
    pub image: StoredImage,
    /// It is mounted, for working trees of this repository or for a look.
    pub is_mounted: bool,
    /// Working trees are on it, or the changes of a mount, here or in another repository that shares the
    /// store.
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
    /// It could not be compared, for this reason.
    NotCompared(String),
}

impl ImageCheck {
    /// Whether it is not known that the image is sound.
    pub fn is_bad(&self) -> bool {
        *self != ImageCheck::Sound
    }
}

impl fmt::Display for ImageCheck {
    /// What is said of the image after its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageCheck::Sound => f.write_str("ok"),
            ImageCheck::NotCompared(reason) => write!(f, "was not compared: {reason}"),
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
    let living = MountedImages::now()?;
    let mut found = Vec::new();
    for store in stores.all() {
        let needed = needed(repository, store)?;
        for image in store.list()? {
            let name = image.name.to_string();
            let base = Base::new(&mounts(repository), &name);
            found.push(ImageUse {
                is_mounted: living.has(&image) || base.is_mounted()?,
                is_needed: needed.contains(&name),
                image,
            });
        }
    }
    Ok(found)
}

/// Makes the images of `revisions` that are missing, so that nobody has to wait for them later, and keeps
/// the size of the stores. `visit` is shown the warnings of making each, and each that was made and stays.
///
/// # Errors
/// If a revision names no tree, before anything is made; if an image cannot be made; if it is
/// cancelled.
pub fn make_images(
    repository: &Repository,
    revisions: &[BString],
    maker: &dyn ImageMaker,
    execution: &Execution,
    visit: &mut dyn FnMut(Option<&StoredImage>, &[String]),
) -> Result<()> {
    let wanted = |revision: &BString| Wanted::of_revision(repository, revision.as_ref());
    let wanted: Vec<Wanted> = revisions.iter().map(wanted).collect::<Result<_>>()?;
    let images = Images::new(repository, maker, execution)?;
    let mut made = Vec::new();
    for wanted in &wanted {
        let mut warnings = Vec::new();
        let found = repository.with_promised(|| images.of(wanted, &mut warnings))?;
        found.image.note_use();
        if found.is_new {
            made.push((found.image, warnings));
        } else if images.is_in_own_store_only(&found) {
            let name = &found.image.name;
            let told = format!(
                "the image {name} is in the repository already, so it is not put into \
                 hedgerow.imageStore"
            );
            visit(None, &[told]);
        }
    }
    let removed = prune_images(repository, false, false)?;
    for (image, mut warnings) in made {
        let is_kept = removed.iter().all(|other| other.path != image.path);
        if !is_kept {
            warnings.push(format!(
                "the image {} is removed again: with those in use and those made later, it has no room in \
                 hedgerow.imageStoreSize",
                image.name
            ));
        }
        visit(is_kept.then_some(&image), &warnings);
    }
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
    let living = MountedImages::now()?;
    let mut removed = Vec::new();
    for store in Stores::new(repository, &settings).all() {
        let needed = needed(repository, store)?;
        let keeps = |image: &StoredImage| {
            let name = image.name.to_string();
            let base = Base::new(&mounts(repository), &name);
            needed.contains(&name) || living.has(image) || base.is_mounted().unwrap_or(true)
        };
        removed.extend(store.prune(limit_bytes, &keeps, dry_run)?);
    }
    Ok(removed)
}

/// Compares every image with a checkout of its tree; `visit` is shown the result. Settings are those of
/// any working tree that has those of the image.
///
/// # Errors
/// If a store or an object cannot be read, or if images cannot be mounted.
pub fn verify_images(
    repository: &Repository,
    maker: &dyn ImageMaker,
    execution: &Execution,
    visit: &mut dyn FnMut(&StoredImage, Result<ImageCheck>),
) -> Result<()> {
    let settings = MountSettings::load(repository.config())?;
    for store in Stores::new(repository, &settings).all() {
        for image in store.list()? {
            if let Some(hindrance) = hindrance() {
                let reason = format!("cannot compare images: {}", hindrance.reason());
                return Err(Error::Setup { reason });
            }
            let check = check(repository, store, &image, maker, execution);
            // One that was pruned meanwhile is none.
            if check.is_err() && hedgerow_fs::lstat(&image.path)?.is_none() {
                continue;
            }
            visit(&image, check);
        }
    }
    Ok(())
}

/// Compares an image of `store` with a checkout of its tree.
fn check(
    repository: &Repository,
    store: &ImageStore,
    image: &StoredImage,
    maker: &dyn ImageMaker,
    execution: &Execution,
) -> Result<ImageCheck> {
    let tree = ObjectId::from_hex(image.name.tree.as_bytes());
    let Some(tree) = tree.ok().filter(|tree| repository.has_tree(tree)) else {
        let own = hedgerow_fs::real_path(repository.common_dir())?;
        let others = store.users()?.into_iter().filter(|user| *user != own);
        let others: Vec<String> = others.map(|user| format!("'{}'", user.display())).collect();
        return Ok(ImageCheck::NotCompared(match others.as_slice() {
            [] => "the repository has no such tree any more".into(),
            others => format!(
                "this repository has no such tree; run 'hedgerow image-store verify' in {}",
                others.join(" or ")
            ),
        }));
    };
    let noted = hedgerow_fs::read_file(&image.settings, SETTINGS_LIMIT_BYTES)?.unwrap_or_default();
    let noted = String::from_utf8_lossy(&noted);
    let mut compare = |images: &Images<'_>| images.differences(image, tree);
    let settings = (&image.name, &*noted);
    Ok(
        match with_settings_of(repository, settings, maker, execution, &mut compare)? {
            Some(paths) if paths.is_empty() => ImageCheck::Sound,
            Some(paths) => ImageCheck::Differs(paths),
            None => {
                let now = Images::new(repository, maker, execution)?;
                let changed = now.fingerprint().changed_since(&noted);
                let changed = match changed.as_slice() {
                    [] => "the settings".to_owned(),
                    changed => changed.join(" and "),
                };
                ImageCheck::NotCompared(format!(
                    "no working tree has its settings ({changed} changed since); run 'hedgerow \
                     image-store verify' in one that has, or delete it where nothing needs it"
                ))
            }
        },
    )
}

/// The names of the images that working trees are on: of this repository, and of the others that use
/// the store.
fn needed(repository: &Repository, store: &ImageStore) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let own = repository.common_dir().to_owned();
    for common in store.users()?.iter().chain([&own]) {
        add_needed(common, &mut names)?;
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
