//! Finding the image that a working tree is put on, and making it.

use super::compare::differences;
use super::fingerprint::{Fingerprint, Ownership};
use super::index::{entry_stat, ImageContents};
use super::maker::ImageMaker;
use crate::archive::{nodes_of_checkout, CheckedOut};
use crate::config::{MountSettings, Sharing};
use crate::index::{Index, IndexBytes, Vouchers};
use crate::repository::{Commit, Repository};
use crate::sparse::current_rules;
use crate::tree::Difference;
use crate::worktree::name_rules;
use crate::worktree::sparse::SparsePatterns;
use crate::{Error, Result};
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{may_mount, MappedFile, OutputFile};
use hedgerow_mounts::{Base, ImageKind, ImageName, ImageStore, Lower};
use hedgerow_mounts::{Maker, Making, StoredImage, TreeState};
use hedgerow_pack::ObjectKind;
use hedgerow_tree::{Metadata, NodeError};
use hedgerow_walk::{nodes_of_directory, WalkOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where images are, in the common directory.
const STORE: &str = "hedgerow/images";
/// Where they are mounted, in the common directory.
const MOUNTS: &str = "hedgerow/mounts";
/// How many of the images used last are compared with a tree, to find the nearest.
const CANDIDATES: usize = 8;
/// What is noted beside an image is not believed if it is larger than this.
const NOTES_LIMIT_BYTES: u64 = 1 << 30;

/// The stores of images of a repository.
pub(crate) struct Stores {
    /// The one that several repositories share, if there is one.
    shared: Option<ImageStore>,
    own: ImageStore,
}

impl Stores {
    pub(crate) fn new(repository: &Repository, settings: &MountSettings) -> Self {
        Stores {
            shared: settings.shared_store.as_deref().map(ImageStore::at),
            own: ImageStore::at(&repository.common_dir().join(STORE)),
        }
    }

    /// All of them; what several share comes first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ImageStore> {
        self.shared.iter().chain([&self.own])
    }

    /// The one that new images are put into.
    fn for_new(&self, sharing: Sharing) -> &ImageStore {
        let is_writable = |store: &&ImageStore| {
            sharing.create_directories(store.directory()).is_ok() && store.is_writable()
        };
        let writable = self.shared.as_ref().filter(is_writable);
        writable.unwrap_or(&self.own)
    }

    /// What a working tree remembers of its store: the own one by its way from the common directory,
    /// so that a repository may be moved.
    pub(crate) fn recorded(&self, store: &ImageStore) -> PathBuf {
        if store == &self.own {
            STORE.into()
        } else {
            store.directory().to_owned()
        }
    }
}

/// The directory where images are mounted.
pub(crate) fn mounts(repository: &Repository) -> PathBuf {
    repository.common_dir().join(MOUNTS)
}

/// Mounts an image for the working trees of a repository, if it is not mounted yet.
pub(crate) fn mount_image(repository: &Repository, image: &StoredImage) -> Result<Lower> {
    let mounts = mounts(repository);
    let sharing = repository.settings().sharing;
    sharing.create_directories(&mounts)?;
    Ok(Base::new(&mounts, &image.name.to_string()).mount(image)?)
}

/// The index of an image, as bytes.
pub(crate) fn stored_index(repository: &Repository, image: &StoredImage) -> Result<IndexBytes> {
    let path = &image.index;
    let content = match MappedFile::open(path) {
        Err(error) if error.is_missing() => {
            let reason = format!("the index of the image, '{}', has gone", path.display());
            return Err(Error::Setup { reason });
        }
        opened => opened?,
    };
    IndexBytes::new(content, repository.hash_kind(), path).map_err(damaged)
}

/// Refuses an index of an image that says itself that it is of another tree.
pub(crate) fn refuse_other_tree(image: &StoredImage, bytes: &IndexBytes) -> Result<()> {
    let tree = ObjectId::from_hex(image.name.tree.as_bytes()).ok();
    match bytes.root() {
        Some(root) if Some(root) != tree => Err(damaged(Error::CorruptIndex {
            path: image.index.clone(),
            reason: format!("it is that of the tree {root}"),
        })),
        _ => Ok(()),
    }
}

/// The same, read.
pub(crate) fn read_index(image: &StoredImage, bytes: &IndexBytes) -> Result<Index> {
    bytes.read(&image.index).map_err(damaged)
}

fn damaged(error: Error) -> Error {
    Error::Setup {
        reason: format!("{error}; delete this index of an image; the image will be rebuilt"),
    }
}

/// What vouches for all files of an image, if that was noted beside its index, which is `bytes`.
pub(super) fn noted_vouchers(image: &StoredImage, bytes: &IndexBytes) -> Option<Vouchers> {
    let content = hedgerow_fs::read_file(&image.notes, NOTES_LIMIT_BYTES).ok()??;
    Vouchers::parse(&content, bytes.hash()).filter(|found| bytes.fits(found))
}

/// Notes what vouches for all files of an image.
pub(super) fn note_vouchers(
    repository: &Repository,
    image: &StoredImage,
    vouchers: &Vouchers,
) -> Result<()> {
    let file = OutputFile::create(&image.notes)?;
    file.write_at(&vouchers.serialize(), 0)?;
    repository.settings().sharing.open_output(&file)?;
    Ok(file.commit(true)?)
}

/// The images that checkouts in a repository, with its settings, can be put on.
pub(crate) struct Images<'a> {
    repository: &'a Repository,
    maker: &'a dyn ImageMaker,
    execution: &'a Execution,
    settings: MountSettings,
    stores: Stores,
    ownership: Ownership,
    fingerprint: Fingerprint,
    sparse: Option<Arc<SparsePatterns>>,
}

/// An image that was found or made.
#[derive(Debug)]
pub(crate) struct Found {
    pub image: StoredImage,
    /// What is in it.
    pub tree: ObjectId,
    /// What makes that the tree that was wanted, if it is another one.
    pub changes: Option<Difference>,
    /// What a working tree remembers of its store.
    pub store: PathBuf,
    /// What is said of its settings.
    pub settings: String,
    /// It was just made.
    pub is_new: bool,
}

impl Found {
    /// What the layers over it, mounted at `lower`, remember of it.
    pub(super) fn state(&self, lower: &Lower) -> Result<TreeState> {
        Ok(TreeState {
            image: self.image.name.to_string(),
            store: self.store.clone(),
            mtime_s: hedgerow_fs::lstat(&lower.path)?.map_or(0, |stat| stat.mtime.seconds),
            is_privileged: may_mount().1,
            settings: self.settings.clone(),
        })
    }
}

/// What is to be checked out.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub tree: ObjectId,
    /// What filters are told.
    pub commit: Option<Commit>,
    pub reference: Option<BString>,
}

impl Wanted {
    /// The tree that `revision` names; filters are told its commit.
    pub(crate) fn of_revision(repository: &Repository, revision: &BStr) -> Result<Self> {
        let id = repository.resolve(revision)?;
        let Some(tree) = repository.peel(&id, Some(ObjectKind::Tree))? else {
            let reason = format!("'{revision}' is not a tree object");
            return Err(Error::Setup { reason });
        };
        let commit = repository.peel(&id, Some(ObjectKind::Commit))?;
        Ok(Wanted {
            tree,
            commit: commit.map(|id| repository.commit(&id)).transpose()?,
            reference: None,
        })
    }
}

impl<'a> Images<'a> {
    pub(crate) fn new(
        repository: &'a Repository,
        maker: &'a dyn ImageMaker,
        execution: &'a Execution,
    ) -> Result<Self> {
        let is_sparse = repository.settings().sparse_checkout;
        let own = Ownership::own(repository)?;
        Images::made_by(repository, maker, execution, own, is_sparse)
    }

    /// The same for a working tree in the directory `top`, which is there.
    pub(crate) fn within(
        top: &Path,
        repository: &'a Repository,
        maker: &'a dyn ImageMaker,
        execution: &'a Execution,
    ) -> Result<Self> {
        let is_sparse = repository.settings().sparse_checkout;
        let own = Ownership::within(top, repository)?;
        Images::made_by(repository, maker, execution, own, is_sparse)
    }

    /// The same for the files of somebody else, and with the patterns of the sparse checkout or without,
    /// whatever the repository says.
    fn made_by(
        repository: &'a Repository,
        maker: &'a dyn ImageMaker,
        execution: &'a Execution,
        ownership: Ownership,
        is_sparse: bool,
    ) -> Result<Self> {
        let settings = MountSettings::load(repository.config())?;
        let sparse = if is_sparse {
            let rules = current_rules(repository)?;
            let ignore_case = repository.settings().ignore_case;
            rules.map(|(rules, _)| Arc::new(rules.matcher(ignore_case)))
        } else {
            None
        };
        Ok(Images {
            stores: Stores::new(repository, &settings),
            fingerprint: Fingerprint::new(repository, ownership, is_sparse)?,
            repository,
            maker,
            execution,
            settings,
            ownership,
            sparse,
        })
    }

    /// The name of the image of `tree`.
    pub(crate) fn name(&self, tree: ObjectId) -> ImageName {
        ImageName {
            tree: tree.to_string(),
            settings: self.fingerprint.digits.clone(),
        }
    }

    /// The settings that images are made with.
    pub(super) fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The image to put `wanted` on: its own, or one that differs little, or else its own, which is
    /// made. Warnings of making it go to `warnings`.
    pub(crate) fn base(&self, wanted: &Wanted, warnings: &mut Vec<String>) -> Result<Found> {
        let found = match self.find(wanted.tree)? {
            Some(found) => Some(found),
            None => self.nearest(wanted.tree)?,
        };
        let found = match found {
            Some(found) => found,
            None => self.make(wanted, None, warnings)?,
        };
        found.image.note_use();
        for store in self.stores.all() {
            if self.stores.recorded(store) == found.store {
                note_user(self.repository, store)?;
            }
        }
        Ok(found)
    }

    /// The image of `wanted` itself, which is made if it is missing. Warnings of making it go to
    /// `warnings`.
    pub(crate) fn of(&self, wanted: &Wanted, warnings: &mut Vec<String>) -> Result<Found> {
        match self.find(wanted.tree)? {
            Some(found) => Ok(found),
            None => self.make(wanted, None, warnings),
        }
    }

    /// The image of `tree`, if there is one.
    pub(crate) fn find(&self, tree: ObjectId) -> Result<Option<Found>> {
        let name = self.name(tree);
        for store in self.stores.all() {
            if let Some(image) = store.find(&name)? {
                return Ok(Some(self.found(image, tree, store)));
            }
        }
        Ok(None)
    }

    /// Whether an image is in the repository although another store is named.
    pub(super) fn is_in_own_store_only(&self, found: &Found) -> bool {
        let own = self.stores.recorded(&self.stores.own);
        self.stores.shared.is_some() && found.store == own
    }

    fn found(&self, image: StoredImage, tree: ObjectId, store: &ImageStore) -> Found {
        Found {
            image,
            tree,
            changes: None,
            store: self.stores.recorded(store),
            settings: self.fingerprint.parts.clone(),
            is_new: false,
        }
    }

    /// The image from which `tree` differs in the fewest files, if these are few enough. One with other
    /// attributes does not count: they may change files that are the same in both trees.
    fn nearest(&self, tree: ObjectId) -> Result<Option<Found>> {
        let mut nearest: Option<(usize, Found)> = None;
        for store in self.stores.all() {
            let images = store.list()?.into_iter();
            let fitting = images.filter(|image| image.name.settings == self.fingerprint.digits);
            for image in fitting.take(CANDIDATES) {
                let Ok(other) = ObjectId::from_hex(image.name.tree.as_bytes()) else {
                    continue;
                };
                // Its tree may be gone from this repository.
                if !self.repository.has_tree(&other) {
                    continue;
                }
                let Some(difference) = self.difference(other, tree)? else {
                    continue;
                };
                let distance = difference.changes().len();
                if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                    let mut found = self.found(image, other, store);
                    found.changes = Some(difference);
                    nearest = Some((distance, found));
                }
            }
        }
        Ok(nearest.map(|(_, found)| found))
    }

    /// In which files the trees differ, if they are not too many.
    fn difference(&self, from: ObjectId, to: ObjectId) -> Result<Option<Difference>> {
        let names = name_rules(self.repository);
        let options = self.execution.options("trees");
        let between = Difference::between(self.repository, Some(from), Some(to), names, &options);
        let difference = match between {
            // One of its directories is gone.
            Err(Error::Tree { .. } | Error::Pack(_)) => return Ok(None),
            difference => difference?,
        };
        let changes = difference.changes();
        let is_near = changes.len() as u64 <= self.settings.distance;
        let is_of_attributes = changes.iter().any(|change| {
            let path = difference.path(change);
            path == ".gitattributes" || path.ends_with(b"/.gitattributes")
        });
        Ok((is_near && !is_of_attributes).then_some(difference))
    }

    /// The image of `wanted`, which is made unless somebody else does it or has done it. `mtime_s` is
    /// the time of its files; by default, a moment ago.
    pub(crate) fn make(
        &self,
        wanted: &Wanted,
        mtime_s: Option<i64>,
        warnings: &mut Vec<String>,
    ) -> Result<Found> {
        let is_inside = |path: &BStr, _| {
            let sparse = self.sparse.as_ref();
            !sparse.is_some_and(|sparse| sparse.excludes(path))
        };
        let engine = self.execution.options("trees");
        self.repository
            .require_contents(wanted.tree, &is_inside, &engine)?;
        let sharing = self.repository.settings().sharing;
        let store = self.stores.for_new(sharing);
        let name = self.name(wanted.tree);
        sharing.create_directories(store.directory())?;
        if let Some(shared) = self
            .stores
            .shared
            .as_ref()
            .filter(|shared| *shared != store)
        {
            warnings.push(format!(
                "the store of images '{}' cannot be written; the image is put into the repository",
                shared.directory().display()
            ));
        }
        let is_cancelled = || self.execution.cancel.is_cancelled();
        let mut is_new = false;
        let image = match store.claim(&name, self.kind(), &is_cancelled)? {
            Maker::Made(image) => image,
            Maker::Us(making) => {
                is_new = true;
                self.write(wanted, mtime_s, &making, warnings)?;
                store.find(&name)?.ok_or_else(|| Error::Setup {
                    reason: format!("the image '{}' has gone", making.image.display()),
                })?
            }
        };
        Ok(Found {
            is_new,
            ..self.found(image, wanted.tree, store)
        })
    }

    fn write(
        &self,
        wanted: &Wanted,
        mtime_s: Option<i64>,
        making: &Making,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let time = mtime_s.or(self.mounted_time(wanted.tree)?);
        let checkout = self.checked_out(wanted, time.unwrap_or_else(a_moment_ago));
        let mut stats = Vec::new();
        let mut tell = |path: &[u8], metadata: &Metadata| {
            stats.push((BString::from(path), entry_stat(metadata)));
        };
        let made = nodes_of_checkout(self.repository, &checkout, |mut nodes| {
            let (image, execution) = (&making.image, self.execution);
            self.maker
                .make(self.kind(), &mut nodes, image, execution, &mut tell)
        })?;
        if self.execution.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        warnings.extend(made.warnings);
        made.outcome.map_err(|error| Error::Setup {
            reason: format!("cannot make an image of tree {}: {error}", wanted.tree),
        })?;
        if let Some(failure) = made.filter_failure {
            // It may work the next time; an image would keep for everybody what it did not do. Without an
            // index, the file is no image.
            hedgerow_fs::remove_file(&making.image)?;
            return Err(Error::Setup {
                reason: format!("no image is made of tree {}: {failure}", wanted.tree),
            });
        }
        self.repository
            .settings()
            .sharing
            .open_file(&making.image)?;
        stats.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let contents = ImageContents {
            repository: self.repository,
            tree: wanted.tree,
            stats,
            sparse: self.sparse.as_deref(),
        };
        contents.write_index(&making.index, self.execution)?;
        let settings = OutputFile::create(&making.settings)?;
        settings.write_at(self.fingerprint.parts.as_bytes(), 0)?;
        self.repository.settings().sharing.open_output(&settings)?;
        Ok(settings.commit(true)?)
    }

    /// The time of an image of `tree` that is mounted although its file was deleted: the new one gets
    /// the same, so that its index fits the files that are seen until it is mounted itself.
    fn mounted_time(&self, tree: ObjectId) -> Result<Option<i64>> {
        let base = Base::new(&mounts(self.repository), &self.name(tree).to_string());
        if !base.is_mounted()? {
            return Ok(None);
        }
        let root = hedgerow_fs::lstat(&base.path())?;
        Ok(root.map(|root| root.mtime.seconds))
    }

    /// The kind of new images.
    fn kind(&self) -> ImageKind {
        self.settings.image_kind.unwrap_or_else(ImageKind::best)
    }

    fn checked_out(&self, wanted: &Wanted, mtime_s: i64) -> CheckedOut<'_> {
        CheckedOut {
            tree: wanted.tree,
            commit: wanted.commit.clone(),
            reference: wanted.reference.clone(),
            mtime_s,
            owner: self.ownership.owner,
            umask: self.ownership.umask,
            set_group: self.ownership.set_group,
            sparse: self.sparse.clone(),
            cancel: &self.execution.cancel,
        }
    }

    /// The paths at which an image of `tree`, which was made with these settings, differs from a checkout.
    pub(crate) fn differences(&self, found: &StoredImage, tree: ObjectId) -> Result<Vec<BString>> {
        let wanted = Wanted {
            tree,
            commit: None,
            reference: None,
        };
        // Mounted apart: nobody waits, and nothing is left of a check that is killed.
        let opened = found.open()?;
        let bytes = stored_index(self.repository, found)?;
        refuse_other_tree(found, &bytes)?;
        read_index(found, &bytes)?;
        let checkout = self.checked_out(&wanted, 0);
        let walk = WalkOptions {
            execution: self.execution.clone(),
            metadata: true,
            ..WalkOptions::default()
        };
        let compared = nodes_of_checkout(self.repository, &checkout, |nodes| {
            nodes_of_directory(&opened.path(), walk, |stored| differences(stored, nodes))
        })?;
        let unreadable = |error: NodeError| Error::Setup {
            reason: format!(
                "cannot compare the image '{}': {error}",
                found.path.display()
            ),
        };
        if let Some(failure) = compared.filter_failure {
            return Err(unreadable(NodeError::entry(Error::Setup {
                reason: failure,
            })));
        }
        let paths = compared.outcome.map_err(unreadable)?.map_err(unreadable)?;
        Ok(paths)
    }
}

/// The result of `act` with the first settings of a working tree of `repository` that are those of
/// the image called `name`, of which `noted` says what its maker said of them. `None` if no working tree
/// has these.
pub(super) fn with_settings_of<T>(
    repository: &Repository,
    (name, noted): (&ImageName, &str),
    maker: &dyn ImageMaker,
    execution: &Execution,
    act: &mut dyn FnMut(&Images<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let own = Ownership::own(repository)?;
    let owners = [Some(own), Ownership::noted(noted).filter(|it| *it != own)];
    let mut attempt = |repository: &Repository| {
        let sparse = repository.settings().sparse_checkout;
        // `git sparse-checkout disable` leaves the patterns where they were.
        let ways = owners.into_iter().flatten();
        for (owner, is_sparse) in ways.flat_map(|owner| [(owner, sparse), (owner, !sparse)]) {
            let images = Images::made_by(repository, maker, execution, owner, is_sparse)?;
            if images.fingerprint.digits == name.settings {
                return act(&images).map(Some);
            }
        }
        Ok(None)
    };
    if let Some(done) = attempt(repository)? {
        return Ok(Some(done));
    }
    for tree in repository.worktrees()?.iter().filter(|tree| !tree.is_bare) {
        // One that cannot be read has no settings.
        let Ok(other) = repository.open_admin(&tree.git_dir, &tree.path) else {
            continue;
        };
        if let Some(done) = attempt(&other)? {
            return Ok(Some(done));
        }
    }
    Ok(None)
}

/// The time of new images: an index that is written now is newer than its files.
fn a_moment_ago() -> i64 {
    hedgerow_fs::file_time().seconds - 1
}

/// Notes in a store that working trees of `repository` are on its images, where that can be written.
pub(crate) fn note_user(repository: &Repository, store: &ImageStore) -> Result<()> {
    if !hedgerow_fs::is_directory(store.directory()) || !store.is_writable() {
        return Ok(());
    }
    let sharing = repository.settings().sharing;
    sharing.create_directories(&store.users_directory())?;
    let common = hedgerow_fs::real_path(repository.common_dir())?;
    if let Some(file) = store.add_user(&common)? {
        sharing.open_file(&file)?;
    }
    Ok(())
}

/// The store that a working tree has remembered.
pub(crate) fn recorded_store(repository: &Repository, recorded: &Path) -> ImageStore {
    ImageStore::at(&repository.common_dir().join(recorded))
}
