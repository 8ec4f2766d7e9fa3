//! The packs of an object store as they were listed at one time.

use super::options::StoreOptions;
use crate::error::Result;
use crate::format::verified::VerifiedFiles;
use crate::midx::{Layers, Loaded, MultiPackIndex, PLAIN_NAME};
use crate::pack_file::pack::Pack;
use hedgerow_fs::Timestamp;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Packs that were found by one listing of the pack directories. Those that appear later are in
/// a generation after it, so that numbers and references stay what they are.
#[derive(Debug, Default)]
pub(crate) struct Generation {
    /// The number of its first pack.
    pub first: u32,
    /// By directory, then newest first, as git searches them.
    pub packs: Vec<Pack>,
    pub multi_indexes: Vec<MultiIndex>,
    /// The numbers of those packs that no multi-pack-index lists, in order of search.
    pub uncovered: Vec<u32>,
    /// The packs that appeared since.
    pub next: OnceLock<Box<Generation>>,
}

/// One file of a multi-pack-index and the store's numbers of its packs.
#[derive(Debug)]
pub(crate) struct MultiIndex {
    pub path: PathBuf,
    pub file: MultiPackIndex,
    pub packs: Vec<u32>,
    /// What was found right before of the files of its directory.
    pub verified: Arc<VerifiedFiles>,
}

impl MultiIndex {
    /// Whether it is one of a chain of files.
    pub fn is_layer(&self) -> bool {
        self.path.file_name() != Some(PLAIN_NAME.as_ref())
    }
}

/// The packs that a store has already, by the paths of their files.
pub(crate) type Known = HashMap<PathBuf, u32>;

impl Generation {
    /// Lists the packs of the object directories `objects` that are not `known`. The first of
    /// them gets the number `first`. What is wrong is told in `warnings`.
    pub fn list(
        objects: &[PathBuf],
        options: &StoreOptions,
        known: &Known,
        first: u32,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let mut generation = Generation {
            first,
            ..Generation::default()
        };
        for directory in objects {
            generation.add(directory, options, known, warnings)?;
        }
        Ok(generation)
    }

    fn add(
        &mut self,
        objects: &Path,
        options: &StoreOptions,
        known: &Known,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let directory = &objects.join("pack");
        let Some(listing) = list_packs(directory)? else {
            return Ok(());
        };
        let verified = Arc::new(VerifiedFiles::new(objects, options.note_verified));
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut new = Vec::new();
        for found in listing.packs {
            let path = directory.join(format!("{}.pack", found.stem));
            let number = known.get(&path).copied().unwrap_or_else(|| {
                let number = self.first + self.packs.len() as u32;
                let has_reverse = found.has_reverse && options.read_reverse_index;
                let verified = Arc::clone(&verified);
                let pack = Pack::new(
                    path,
                    options.hash,
                    has_reverse && !options.unaided,
                    verified,
                )
                .of_size(found.size_bytes);
                self.packs.push(if options.unaided {
                    pack.hashing_its_index()
                } else {
                    pack
                });
                new.push(number);
                number
            });
            numbers.insert(found.stem, number);
        }
        let mut covered = Vec::new();
        if listing.has_multi_index && options.read_multi_pack_index && !options.unaided {
            let added = self.add_multi_indexes(directory, &numbers, &verified, options, warnings);
            covered = added?;
        }
        covered.sort_unstable();
        let is_uncovered = |pack: &u32| covered.binary_search(pack).is_err();
        self.uncovered.extend(new.into_iter().filter(is_uncovered));
        Ok(())
    }

    /// Adds the layers of the multi-pack-index of `directory` all of whose packs are there, by
    /// `numbers` of their stems. Returns the packs they cover.
    fn add_multi_indexes(
        &mut self,
        directory: &Path,
        numbers: &HashMap<String, u32>,
        verified: &Arc<VerifiedFiles>,
        options: &StoreOptions,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<u32>> {
        let loaded = Loaded::open(directory, options.hash)?;
        warnings.extend(loaded.complaints());
        let mut covered = Vec::new();
        // The newest layer is searched first.
        for layer in Layers::into_layers(loaded.layers).into_iter().rev() {
            let number = |name: &String| {
                let stem = name.strip_suffix(".idx").unwrap_or(name);
                numbers.get(stem).copied().ok_or_else(|| stem.to_owned())
            };
            let packs: Result<Vec<u32>, String> = layer.file.names().iter().map(number).collect();
            match packs {
                Ok(packs) => {
                    covered.extend(&packs);
                    self.multi_indexes.push(MultiIndex {
                        path: layer.path,
                        file: layer.file,
                        packs,
                        verified: Arc::clone(verified),
                    });
                }
                Err(stem) => warnings.push(format!(
                    "ignoring '{}': its pack '{stem}' is missing",
                    layer.path.display()
                )),
            }
        }
        Ok(covered)
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
    size_bytes: u64,
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
        let stat = match handle.stat(pack.as_bytes()) {
            Ok(stat) => stat,
            // Somebody repacks.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        packs.push(FoundPack {
            stem: stem.to_owned(),
            has_reverse: has(&format!("{stem}.rev")),
            modified: stat.mtime,
            size_bytes: stat.size,
        });
    }
    packs.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.stem.cmp(&b.stem))
    });
    Ok(Some(Listing {
        packs,
        has_multi_index: has(PLAIN_NAME) || has("multi-pack-index.d"),
    }))
}
