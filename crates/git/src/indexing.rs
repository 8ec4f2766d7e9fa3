//! Indexing packs, in a repository or outside of any: git-index-pack(1). What the configuration says of
//! it, and where the files of a pack go.

use crate::config::{Environment, Fsync};
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_engine::Execution;
use hedgerow_fs::ReadFile;
use hedgerow_pack::indexer::{
    receive_pack, Grafted, IndexOptions, IndexedPack, Installation, NotPromised,
};
use hedgerow_pack::{HashKind, IndexLayout, ObjectStore};
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// zlib's fastest level.
const BEST_SPEED: i32 = 1;

/// Where packs are indexed.
pub struct IndexingPlace {
    /// The repository, if there is one.
    pub repository: Option<Repository>,
}

/// A small file beside a pack: its extension, and the message in it.
pub type Note<'n> = (&'static str, Option<&'n str>);

/// What an indexed pack becomes.
#[derive(Clone, Debug)]
pub struct IndexedFiles<'f> {
    /// The pack; without a path, under the name of its checksum in the repository.
    pub pack: Option<PathBuf>,
    /// Whether the pack was received and gets its name now.
    pub is_received: bool,
    /// The index; without a path, beside the pack.
    pub index: Option<PathBuf>,
    /// The form of the index.
    pub layout: IndexLayout,
    /// Whether there is a reverse index.
    pub reverse: bool,
    /// The notes beside the pack.
    pub notes: &'f [Note<'f>],
}

impl IndexingPlace {
    /// The repository that `environment` leads to; none is no error.
    ///
    /// # Errors
    /// If there is one that cannot be used.
    pub fn find(environment: &Environment) -> Result<Self> {
        let repository = match Repository::discover(environment) {
            Ok(repository) => Some(repository),
            Err(Error::NotARepository | Error::NotARepositoryUpTo { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(IndexingPlace { repository })
    }

    /// The hash function of the repository, or git's default.
    pub fn hash(&self) -> HashKind {
        let hash = self.repository.as_ref().map(Repository::hash_kind);
        hash.unwrap_or(HashKind::Sha1)
    }

    /// The objects of the repository, if their hash function is `hash`.
    pub fn store(&self, hash: HashKind) -> Option<&ObjectStore> {
        let store = self.repository.as_ref().map(Repository::objects);
        store.filter(|store| store.hash_kind() == hash)
    }

    /// The parents that count instead of those that commits name.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn grafts(&self) -> Result<Grafted> {
        let Some(repository) = &self.repository else {
            return Ok(Grafted::default());
        };
        let grafts = repository.grafts()?.iter();
        let owned = grafts.map(|(commit, parents)| (*commit, parents.to_vec()));
        Ok(Grafted::new(owned.collect()))
    }

    /// In a partial clone, which objects that are missing a remote has not promised. It has promised all
    /// that a pack names that `is_promised` itself.
    pub fn not_promised(&self, is_promised: bool) -> Option<NotPromised> {
        let repository = self.repository.as_ref();
        repository.filter(|repository| !repository.promisor_remotes().is_empty())?;
        Some(if is_promised {
            |_, _| Vec::new()
        } else {
            hedgerow_reach::not_promised
        })
    }

    /// How many threads to use: those asked for, over `pack.threads`; 0 is one for each processor.
    ///
    /// # Errors
    /// A setting that is no number.
    pub fn threads(&self, asked: Option<usize>) -> Result<NonZeroUsize> {
        let configured = self.integer("pack.threads")?;
        let configured = configured.and_then(|threads| usize::try_from(threads).ok());
        let threads = asked.or(configured).and_then(NonZeroUsize::new);
        Ok(threads.unwrap_or_else(|| Execution::default().threads()))
    }

    /// What is waited for until it is on the disk. `warn` is told of words that mean nothing.
    ///
    /// # Errors
    /// As [`Repository::fsync`].
    pub fn fsync(&self, warn: &mut dyn FnMut(String)) -> Result<Fsync> {
        match &self.repository {
            Some(repository) => repository.fsync(warn),
            None => Ok(Fsync::default()),
        }
    }

    /// The zlib level of what is added to a thin pack: git's for loose objects.
    ///
    /// # Errors
    /// A setting that is no level.
    pub fn compression(&self) -> Result<i32> {
        let level = match self.integer("core.looseCompression")? {
            Some(level) => Some(level),
            None => self.integer("core.compression")?,
        };
        let Some(level) = level else {
            return Ok(BEST_SPEED);
        };
        let checked = i32::try_from(level).ok();
        let checked = checked.filter(|level| (-1..=9).contains(level));
        checked.ok_or_else(|| Error::Config {
            reason: format!("bad zlib compression level {level}"),
        })
    }

    /// The form of an index: `pack.indexVersion`.
    ///
    /// # Errors
    /// A setting that is no version.
    pub fn index_layout(&self) -> Result<IndexLayout> {
        let mut layout = IndexLayout::default();
        if let Some(version) = self.integer("pack.indexVersion")? {
            let known = u32::try_from(version).ok().filter(|version| *version <= 2);
            layout.version = known.ok_or_else(|| Error::Config {
                reason: format!("bad pack.indexVersion={version}"),
            })?;
        }
        Ok(layout)
    }

    /// Whether there is a reverse index: `pack.writeReverseIndex`.
    ///
    /// # Errors
    /// A setting that is no boolean.
    pub fn writes_reverse_index(&self) -> Result<bool> {
        let configured = match &self.repository {
            Some(repository) => repository.config().bool("pack.writeReverseIndex")?,
            None => None,
        };
        Ok(configured.unwrap_or(true))
    }

    /// Receives a pack as [`receive_pack`] does, in the directory of `pack` or that of the repository's
    /// packs.
    ///
    /// # Errors
    /// As [`receive_pack`].
    pub fn receive(
        &self,
        input: &ReadFile,
        before: &[u8],
        pack: Option<&Path>,
        options: &IndexOptions<'_>,
    ) -> hedgerow_pack::Result<IndexedPack> {
        let directory = match (pack.and_then(Path::parent), &self.repository) {
            (Some(parent), _) => parent.to_owned(),
            (None, Some(repository)) => {
                let directory = repository.objects().directory().join("pack");
                create_for_packs(repository, &directory)?;
                directory
            }
            (None, None) => PathBuf::new(),
        };
        receive_pack(input, before, &directory, options)
    }

    /// Gives `indexed` and what belongs to it their names, as `files` says. Returns which of the notes
    /// are new.
    ///
    /// # Errors
    /// If a name has not the extension that belongs to it, or a file cannot be written.
    pub fn install(
        &self,
        indexed: &mut IndexedPack,
        files: IndexedFiles<'_>,
        threads: NonZeroUsize,
        warn: &mut dyn FnMut(String),
    ) -> Result<Vec<bool>> {
        let fsync = self.fsync(warn)?;
        let pack = match (files.pack, &self.repository) {
            (Some(pack), _) => pack,
            (None, Some(repository)) => {
                let directory = repository.objects().directory().join("pack");
                directory.join(format!("pack-{}.pack", indexed.checksum))
            }
            (None, None) => {
                let reason = "--stdin requires a git repository".into();
                return Err(Error::Setup { reason });
            }
        };
        let index = files.index.unwrap_or_else(|| pack.with_extension("idx"));
        let reverse = if files.reverse {
            Some(with_extension(&index, "idx", "rev")?)
        } else {
            None
        };
        let mut notes = Vec::new();
        for (extension, message) in files.notes {
            let text = message.filter(|text| !text.is_empty());
            let text = text.map(|text| format!("{text}\n")).unwrap_or_default();
            notes.push((with_extension(&pack, "pack", extension)?, text.into_bytes()));
        }
        let places = Installation {
            index,
            layout: files.layout,
            reverse,
            pack: files.is_received.then_some(pack),
            notes,
            sync_pack: fsync.pack,
            sync_indexes: fsync.pack_metadata,
            threads,
        };
        let new_notes = indexed.install(&places)?;
        self.share(&places.index)?;
        Ok(new_notes)
    }

    /// Lets those who share the repository, if there is one, read the files of the pack with this index.
    ///
    /// # Errors
    /// If that is not allowed.
    pub fn share(&self, index: &Path) -> Result<()> {
        let repository = self.repository.as_ref();
        repository.map_or(Ok(()), |repository| repository.share_pack(index))
    }

    fn integer(&self, key: &str) -> Result<Option<i64>> {
        match &self.repository {
            Some(repository) => repository.config().integer(key),
            None => Ok(None),
        }
    }
}

/// Makes the directory of packs. That of the repository's own objects has to be there: a clone that is
/// interrupted meanwhile is removed, and must not come back in parts.
fn create_for_packs(repository: &Repository, packs: &Path) -> hedgerow_pack::Result<()> {
    if !packs.starts_with(repository.common_dir()) {
        return Ok(hedgerow_fs::create_directories(packs)?);
    }
    match hedgerow_fs::create_directory(packs) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => Ok(made?),
    }
}

/// `path` with the extension `other`.
///
/// # Errors
/// If it does not have `extension` before.
pub fn with_extension(path: &Path, extension: &str, other: &str) -> Result<PathBuf> {
    if path.extension().is_some_and(|found| found == extension) {
        return Ok(path.with_extension(other));
    }
    let path = path.display();
    Err(Error::Setup {
        reason: format!("packfile name '{path}' does not end with '.{extension}'"),
    })
}

/// The indexes of the packs in the own directory of `repository`, in order of their names.
///
/// # Errors
/// If the directory cannot be listed.
pub fn pack_indexes(repository: &Repository) -> Result<Vec<PathBuf>> {
    let directory = repository.objects().directory().join("pack");
    let entries = hedgerow_fs::list_directory(&directory)?.unwrap_or_default();
    let paths = entries
        .into_iter()
        .map(|entry| directory.join(OsStr::from_bytes(&entry.name)));
    let is_index = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "idx")
            && hedgerow_fs::exists(&path.with_extension("pack"))
    };
    let mut indexes: Vec<PathBuf> = paths.filter(is_index).collect();
    indexes.sort();
    Ok(indexes)
}
