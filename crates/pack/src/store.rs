use crate::alternates::object_directories;
use crate::directory_state::DirectoryStates;
use crate::generation::{Generation, Known};
use crate::{loose, BitOrder, Error, HashKind, ObjectKind, Reader, Result};
use gix_hash::oid;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The warnings that are kept; a thoroughly broken repository could make any number.
const MAX_WARNINGS: usize = 100;

/// How to open an [`ObjectStore`].
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The hash function of the repository.
    pub hash: HashKind,
    /// Whether to use `.rev` files (`pack.readReverseIndex`).
    pub read_reverse_index: bool,
    /// Whether to use a multi-pack-index (`core.multiPackIndex`).
    pub read_multi_pack_index: bool,
    /// Whether nothing is believed that only makes reading faster, and the index of a pack only when
    /// its hash is right: for those who delete what they do not find. There is no reverse index and
    /// no multi-pack-index then.
    pub unaided: bool,
    /// Whether to note, in the object directory, which accelerators were found right, so that the
    /// next process need not check them again.
    pub note_verified: bool,
    /// The largest object, or delta base, that is built in memory, in bytes. Streamed objects may
    /// be larger.
    pub object_size_limit: u64,
    /// Further object directories, searched after the repository's own
    /// (`GIT_ALTERNATE_OBJECT_DIRECTORIES`).
    pub alternates: Vec<PathBuf>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions {
            hash: HashKind::Sha1,
            read_reverse_index: true,
            read_multi_pack_index: true,
            unaided: false,
            note_verified: false,
            object_size_limit: 4 << 30,
            alternates: Vec::new(),
        }
    }
}

/// The objects of a repository: its packs and loose objects, and those of its alternates.
///
/// It is read without locks. Packs that appear after it was opened are looked for when an object
/// is in none of those that were there: so a repack by somebody else is survived. What was found
/// once is never given up, so that places of objects stay good for as long as the store lives.
#[derive(Debug)]
pub struct ObjectStore {
    pub(crate) options: StoreOptions,
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) first: Generation,
    /// The pack directories as they were before they were listed last; held while that is done
    /// again.
    pub(crate) listed: Mutex<DirectoryStates>,
    warnings: Mutex<Vec<String>>,
}

impl ObjectStore {
    /// Opens the object directory `objects` (`.git/objects`) and its alternates. Packs are listed
    /// now and mapped when first needed.
    pub fn open(objects: &Path, options: StoreOptions) -> Result<Self> {
        let mut warnings = Vec::new();
        let directories = object_directories(objects, &options.alternates, &mut warnings)?;
        let listed = DirectoryStates::ask(&directories);
        let known = Known::new();
        let first = Generation::list(&directories, &options, &known, 0, &mut warnings)?;
        let store = ObjectStore {
            options,
            directories,
            first,
            listed: Mutex::new(listed),
            warnings: Mutex::new(Vec::new()),
        };
        warnings.into_iter().for_each(|warning| store.warn(warning));
        Ok(store)
    }

    /// The object directory of the repository itself.
    pub fn directory(&self) -> &Path {
        self.directories
            .first()
            .map_or(Path::new(""), PathBuf::as_path)
    }

    /// All its object directories, the repository's own first.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Whether it has objects of other object directories, too.
    pub fn has_alternates(&self) -> bool {
        self.directories.len() > 1
    }

    /// The hash function of the repository.
    pub fn hash_kind(&self) -> HashKind {
        self.options.hash
    }

    /// What has been found broken so far but could be done without: accelerators, alternates,
    /// and packs. A file that no object was needed from has not been looked at.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = self.lock_warnings().clone();
        all.extend(self.packs().flat_map(|(_, pack)| pack.warnings()));
        all
    }

    /// The packs: the number of each, its path, and how many objects it has; `None` for one that
    /// cannot be used.
    pub fn pack_files(&self) -> impl Iterator<Item = (u32, &Path, Option<u32>)> {
        self.packs().map(|(number, pack)| {
            let count = pack.index().ok().map(crate::index::PackIndex::count);
            (number, pack.path(), count)
        })
    }

    /// The order in which bitmaps number the objects of the pack `number`.
    ///
    /// # Errors
    /// The reason why the pack or its index cannot be used.
    pub fn pack_order(&self, number: u32) -> Result<BitOrder<'_>, &str> {
        let pack = self.pack(number).ok_or("no such pack")?;
        BitOrder::of_pack(pack, number)
    }

    /// The object `id`, whole. For more than a few objects, use a [`Reader`].
    pub fn read(&self, id: &oid) -> Result<(ObjectKind, Vec<u8>)> {
        let missing = || Error::Missing { id: id.to_owned() };
        let location = self.locate(id)?.ok_or_else(missing)?;
        let mut reader = Reader::new(self);
        let (kind, content) = reader.read(id, location)?;
        Ok((kind, content.to_vec()))
    }

    /// Opens the file of a loose object.
    pub(crate) fn open_loose(
        &self,
        directory: u32,
        id: &oid,
    ) -> hedgerow_fs::Result<hedgerow_fs::ReadFile> {
        let objects = self
            .directories
            .get(directory as usize)
            .map(PathBuf::as_path);
        hedgerow_fs::ReadFile::open(&loose::path(objects.unwrap_or("".as_ref()), id))
    }

    /// The length of the file of a loose object, if it is there.
    pub(crate) fn loose_file_size(&self, directory: u32, id: &oid) -> Option<u64> {
        let objects = self.directories.get(directory as usize)?;
        Some(hedgerow_fs::stat(&loose::path(objects, id)).ok()??.size)
    }

    pub(crate) fn warn(&self, warning: String) {
        let mut warnings = self.lock_warnings();
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    fn lock_warnings(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        // A list of strings is whole even if a thread panicked while it held the lock.
        self.warnings
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
