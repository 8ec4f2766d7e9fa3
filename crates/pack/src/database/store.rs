use super::alternates::object_directories;
use super::directory_state::DirectoryStates;
use super::generation::{Generation, Known};
use super::options::StoreOptions;
use crate::error::Result;
use gix_hash::Kind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// The warnings that are kept; a thoroughly broken repository could make any number.
const MAX_WARNINGS: usize = 100;

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
    /// The number of the main pack, once it was asked for.
    pub(crate) main: OnceLock<Option<u32>>,
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
            main: OnceLock::new(),
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
    pub fn hash_kind(&self) -> Kind {
        self.options.hash
    }

    /// What has been found broken so far but could be done without: accelerators, alternates,
    /// and packs. A file that no object was needed from has not been looked at.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = self.lock_warnings().clone();
        all.extend(self.packs().flat_map(|(_, pack)| pack.warnings()));
        all
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
