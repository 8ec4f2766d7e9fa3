use crate::alternates::object_directories;
use crate::midx::MultiPackIndex;
use crate::pack::Pack;
use crate::{loose, Error, HashKind, ObjectKind, Reader, Result};
use gix_hash::oid;
use hedgerow_fs::Timestamp;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
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
            object_size_limit: 4 << 30,
            alternates: Vec::new(),
        }
    }
}

/// The objects of a repository: its packs and loose objects, and those of its alternates, as they
/// were when it was opened.
///
/// It is immutable and read without locks. Objects that are added later are seen if they are
/// loose; for later packs, open another store.
#[derive(Debug)]
pub struct ObjectStore {
    pub(crate) options: StoreOptions,
    pub(crate) directories: Vec<PathBuf>,
    /// By directory, then newest first, as git searches them.
    pub(crate) packs: Vec<Pack>,
    pub(crate) multi_indexes: Vec<MultiIndex>,
    /// The packs that no multi-pack-index lists, in order of search.
    pub(crate) uncovered: Vec<u32>,
    /// The packs that one lists.
    pub(crate) covered: Vec<u32>,
    warnings: Mutex<Vec<String>>,
}

/// A multi-pack-index and the store's numbers of its packs.
#[derive(Debug)]
pub(crate) struct MultiIndex {
    pub path: PathBuf,
    pub file: MultiPackIndex,
    pub packs: Vec<u32>,
}

impl ObjectStore {
    /// Opens the object directory `objects` (`.git/objects`) and its alternates. Packs are listed
    /// now and mapped when first needed.
    pub fn open(objects: &Path, options: StoreOptions) -> Result<Self> {
        let mut warnings = Vec::new();
        let directories = object_directories(objects, &options.alternates, &mut warnings)?;
        let mut store = ObjectStore {
            options,
            directories: Vec::new(),
            packs: Vec::new(),
            multi_indexes: Vec::new(),
            uncovered: Vec::new(),
            covered: Vec::new(),
            warnings: Mutex::new(warnings),
        };
        for directory in &directories {
            store.add_packs(&directory.join("pack"))?;
        }
        store.directories = directories;
        Ok(store)
    }

    /// The hash function of the repository.
    pub fn hash_kind(&self) -> HashKind {
        self.options.hash
    }

    /// The repository's own object directory, where new objects go.
    pub fn directory(&self) -> &Path {
        self.directories
            .first()
            .map_or(Path::new(""), PathBuf::as_path)
    }

    /// What has been found broken so far but could be done without: accelerators, alternates,
    /// and packs. A file that no object was needed from has not been looked at.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = self.lock_warnings().clone();
        all.extend(self.packs.iter().flat_map(Pack::warnings));
        all
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

    fn add_packs(&mut self, directory: &Path) -> Result<()> {
        let Some(listing) = list_packs(directory)? else {
            return Ok(());
        };
        let mut numbers = HashMap::new();
        for found in listing.packs {
            let has_reverse = found.has_reverse && self.options.read_reverse_index;
            let path = directory.join(format!("{}.pack", found.stem));
            numbers.insert(found.stem, self.packs.len() as u32);
            self.packs
                .push(Pack::new(path, self.options.hash, has_reverse));
        }
        let mut covered = Vec::new();
        if listing.has_multi_index && self.options.read_multi_pack_index {
            let path = directory.join("multi-pack-index");
            match open_multi_index(&path, &numbers, self.options.hash) {
                Ok(multi_index) => {
                    covered.clone_from(&multi_index.packs);
                    self.multi_indexes.push(multi_index);
                }
                Err(reason) => self.warn(format!("ignoring '{}': {reason}", path.display())),
            }
        }
        let mut all: Vec<u32> = numbers.into_values().collect();
        all.sort_unstable();
        covered.sort_unstable();
        self.uncovered.extend(
            all.iter()
                .filter(|pack| covered.binary_search(pack).is_err()),
        );
        self.covered.extend(covered);
        Ok(())
    }
}

struct Listing {
    /// Newest first.
    packs: Vec<FoundPack>,
    has_multi_index: bool,
}

struct FoundPack {
    stem: String,
    has_reverse: bool,
    modified: Timestamp,
}

/// The packs in `directory` that have an index; `None` if there is no such directory.
fn list_packs(directory: &Path) -> Result<Option<Listing>> {
    let Some(entries) = hedgerow_fs::list_directory(directory)? else {
        return Ok(None);
    };
    let handle = hedgerow_fs::Dir::open(directory)?;
    let mut names: Vec<&[u8]> = entries.iter().map(|entry| entry.name.as_slice()).collect();
    names.sort_unstable();
    let has = |name: &str| names.binary_search(&name.as_bytes()).is_ok();
    let mut packs = Vec::new();
    for name in &names {
        let path = Path::new(std::ffi::OsStr::from_bytes(name));
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let (Some(stem), true) = (stem, path.extension().is_some_and(|e| e == "idx")) else {
            continue;
        };
        let pack = format!("{stem}.pack");
        if !has(&pack) {
            continue;
        }
        packs.push(FoundPack {
            stem: stem.to_owned(),
            has_reverse: has(&format!("{stem}.rev")),
            modified: handle.stat(pack.as_bytes())?.mtime,
        });
    }
    packs.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.stem.cmp(&b.stem))
    });
    Ok(Some(Listing {
        packs,
        has_multi_index: has("multi-pack-index"),
    }))
}

/// Opens a multi-pack-index all of whose packs are there, by `numbers` of their stems.
fn open_multi_index(
    path: &Path,
    numbers: &HashMap<String, u32>,
    hash: HashKind,
) -> Result<MultiIndex, String> {
    let file = MultiPackIndex::open(path, hash)?;
    let number = |name: &String| {
        let stem = name.trim_end_matches(".idx");
        numbers
            .get(stem)
            .copied()
            .ok_or_else(|| format!("its pack '{stem}' is missing"))
    };
    let packs = file
        .names()
        .iter()
        .map(number)
        .collect::<Result<_, String>>()?;
    Ok(MultiIndex {
        path: path.to_owned(),
        file,
        packs,
    })
}
