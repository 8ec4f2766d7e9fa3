//! Makes the index of a pack: git-index-pack(1).
//!
//! The first pass (`segments` for a file, `receive` for a stream) finds the entries and hashes
//! whole objects; the second (`resolve`) applies the deltas. The result is an [`IndexedPack`]; no
//! file has its final name until it is installed.

mod build;
mod check;
mod conclude;
mod delta_trees;
mod examine;
mod existing;
mod install;
mod large;
mod named;
mod receive;
mod record;
mod refusal;
mod resolve;
mod scan;
mod segments;
mod statistics;
mod thin;
mod verify;

pub use check::{Severities, Severity};
pub use install::Installation;
pub use refusal::Refusal;
pub use statistics::PackedObject;

use crate::index_writer::{IndexEntry, IndexLayout};
use crate::map::Map;
use crate::{Error, ObjectStore, Result};
use check::Checks;
use conclude::Conclusion;
use examine::Examination;
use existing::Existing;
use gix_hash::{Kind, ObjectId};
use hedgerow_engine::{Execution, Stage};
use hedgerow_fs::{OutputFile, ReadFile};
use std::num::NonZeroUsize;
use std::path::Path;

/// Options for indexing a pack.
#[derive(Clone, Debug)]
pub struct IndexOptions<'s> {
    /// The hash function of the objects.
    pub hash: Kind,
    /// How to run: progress is reported in [`Stage::Receiving`] and [`Stage::Resolving`].
    pub execution: Execution,
    /// The repository: objects are compared with existing ones, which may also be delta bases.
    pub store: Option<&'s ObjectStore>,
    /// Whether to add bases that are missing in the pack from the repository.
    pub fix_thin: bool,
    /// The severities of git-fsck's rules; `None` disables these checks.
    pub rules: Option<Severities>,
    /// Whether all referenced objects must be in the pack or in the repository.
    pub links: bool,
    /// Whether a duplicate object is an error.
    pub unique: bool,
    /// Maximum size of the pack, in bytes.
    pub max_input_bytes: Option<u64>,
    /// The zlib level for objects added to a thin pack.
    pub compression: i32,
    /// Whether to collect [`IndexedPack::objects`].
    pub statistics: bool,
}

impl IndexOptions<'_> {
    /// Options with this hash function and one thread, without a repository and without checks.
    pub fn new(hash: Kind) -> Self {
        IndexOptions {
            hash,
            execution: Execution::with_threads(NonZeroUsize::MIN),
            store: None,
            fix_thin: false,
            rules: None,
            links: false,
            unique: false,
            max_input_bytes: None,
            compression: -1,
            statistics: false,
        }
    }

    fn checks(&self) -> Checks {
        Checks {
            hash: self.hash,
            rules: self.rules.clone(),
            links: self.links,
        }
    }

    fn existing(&self, own: Option<&Path>) -> Result<Option<Existing<'_>>> {
        let list = |store| Existing::list(store, own);
        self.store.map(list).transpose()
    }
}

/// A pack whose objects are known.
#[derive(Debug)]
pub struct IndexedPack {
    /// The trailing hash of the pack.
    pub checksum: ObjectId,
    /// The entries of its index, in order of ids.
    pub entries: Vec<IndexEntry>,
    /// Its objects in pack order, if requested.
    pub objects: Vec<PackedObject>,
    /// Broken rules that are only warnings, with git's messages.
    pub warnings: Vec<String>,
    /// Whether the pack refers to objects that only the repository has.
    pub refers_outside: bool,
    /// Blobs named `.gitmodules` in a tree that do not exist.
    pub missing_modules: Vec<ObjectId>,
    /// Number of bases added to a thin pack.
    pub added: usize,
    /// Bytes read from the stream after the end of the pack; they do not belong to it.
    pub rest: Vec<u8>,
    /// The pack file, if it was received.
    file: Option<OutputFile>,
}

/// Indexes the pack at `path`.
///
/// # Errors
/// [`Error::Refused`] and [`Error::Checked`] for errors in the pack; [`Error::Interrupted`].
pub fn index_pack_file(path: &Path, options: &IndexOptions<'_>) -> Result<IndexedPack> {
    let map = Map::open(path)?;
    let count = receive::parse_header(&map)?;
    if let Some(limit) = options.max_input_bytes {
        if map.len() as u64 > limit {
            return Err(Refusal::TooLarge { limit }.into());
        }
    }
    let end = map.len().checked_sub(options.hash.len_in_bytes());
    let end = end.filter(|end| *end as u64 >= crate::entry::PACK_HEADER_BYTES);
    let (data, trailer) = map.split_at(end.ok_or(Refusal::EarlyEnd)?);
    let progress = &options.execution.progress;
    progress.stage(Stage::Receiving).expect(u64::from(count));
    let (checks, existing) = (options.checks(), options.existing(Some(path))?);
    let examination = Examination {
        hash: options.hash,
        existing: existing.as_ref(),
        checks: &checks,
        execution: &options.execution,
    };
    let hash_all = || {
        let mut hasher = crate::hashed_file::TrailerHasher::new(options.hash);
        hasher.update(data);
        hasher.finish()
    };
    let scan = || segments::scan(data, count, examination);
    let (checksum, scanned) = hedgerow_fs::threads::both("hash", hash_all, scan);
    let checksum = checksum.expect("hashing does not panic");
    let (records, findings) = scanned?;
    if checksum.as_bytes() != trailer {
        return Err(Refusal::Checksum.into());
    }
    let concluded = Conclusion::resolve_and_check(data, records, findings, options, examination)?;
    if !concluded.outside.is_empty() {
        return Err(Error::ForeignLocation);
    }
    concluded.into_pack(checksum, options, Vec::new(), None)
}

/// Receives a pack from `input`, of which `before` was already read, into an unnamed file in
/// `directory`, and indexes it.
///
/// # Errors
/// As [`index_pack_file`].
pub fn receive_pack(
    input: &ReadFile,
    before: &[u8],
    directory: &Path,
    options: &IndexOptions<'_>,
) -> Result<IndexedPack> {
    let target = directory.join("tmp_pack");
    let file = OutputFile::create_with_prefix(&target, "")?;
    let (checks, existing) = (options.checks(), options.existing(None)?);
    let examination = Examination {
        hash: options.hash,
        existing: existing.as_ref(),
        checks: &checks,
        execution: &options.execution,
    };
    let limit = options.max_input_bytes;
    let received = receive::receive(input, before, &file, limit, examination)?;
    let map = Map::of(&file, &target)?;
    let data = map.get(..received.end as usize).unwrap_or_default();
    let (records, findings) = (received.records, received.findings);
    let concluded = Conclusion::resolve_and_check(data, records, findings, options, examination)?;
    drop(map);
    let (checksum, added) = if concluded.outside.is_empty() {
        (received.checksum, Vec::new())
    } else {
        let thin = thin::complete(&file, received.end, &concluded, options)?;
        (thin.checksum, thin.added)
    };
    let mut indexed = concluded.into_pack(checksum, options, added, Some(file))?;
    indexed.rest = received.rest;
    Ok(indexed)
}

impl IndexedPack {
    /// The layout of the offsets in the index at `path`, for comparing a new index with it.
    ///
    /// # Errors
    /// A reason, if the index does not exist or cannot be used.
    pub fn layout_of(path: &Path, hash: Kind) -> std::result::Result<IndexLayout, String> {
        verify::layout(path, hash)
    }
}
