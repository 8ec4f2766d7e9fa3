//! Makes the index of a pack: git-index-pack(1).
//!
//! The first pass (`segments` for a file, `receive` for a stream) finds the entries and hashes
//! whole objects; the second (`resolve`) applies the deltas. The result is an [`IndexedPack`]; no
//! file has its final name until it is installed.

mod build;
mod check;
mod conclude;
mod deferred;
mod delta_trees;
mod examine;
mod existing;
mod index_pack;
mod install;
mod receive;
mod record;
mod resolve;
mod resolve_input;
mod scan;
mod segments;
mod statistics;
mod thin;
mod verify;

pub use crate::refusal::Refusal;
pub use check::{Severities, Severity};
pub use index_pack::{index_pack_file, receive_pack};
pub use install::Installation;
pub use statistics::PackedObject;

use crate::database::store::ObjectStore;
use crate::error::Result;
use crate::pack_file::index_writer::IndexEntry;
use check::Checks;
use existing::Existing;
use gix_hash::{Kind, ObjectId};
use hedgerow_engine::Execution;
use hedgerow_fs::OutputFile;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// Parents by commit.
pub type Grafted = Arc<HashMap<ObjectId, Vec<ObjectId>>>;
/// Those of some objects that no remote has promised.
pub type NotPromised = fn(&ObjectStore, &[ObjectId]) -> Vec<ObjectId>;

/// Options for indexing a pack.
#[derive(Clone, Debug)]
pub struct IndexOptions<'s> {
    /// The hash function of the objects.
    pub hash: Kind,
    /// How to run: progress is reported in [`Stage::Receiving`] and [`Stage::Resolving`].
    ///
    /// [`Stage::Receiving`]: hedgerow_engine::Stage::Receiving
    /// [`Stage::Resolving`]: hedgerow_engine::Stage::Resolving
    pub execution: Execution,
    /// The repository: objects are compared with existing ones, which may also be delta bases.
    pub store: Option<&'s ObjectStore>,
    /// Whether to add bases that are missing in the pack from the repository.
    pub fix_thin: bool,
    /// The severities of git-fsck's rules; `None` disables these checks.
    pub rules: Option<Severities>,
    /// Whether the objects that commits and tags name must be of the kind that these say, as far as the pack tells; with
    /// `rules` or `links` they always must.
    pub kinds: bool,
    /// Whether all referenced objects must be in the pack or in the repository.
    pub links: bool,
    /// The parents that count for that, instead of those that commits name: grafts, and the boundary of
    /// a shallow clone.
    pub grafts: Grafted,
    /// In a partial clone, which missing objects break `rules`; without it, all do.
    pub not_promised: Option<NotPromised>,
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
            kinds: false,
            grafts: Grafted::default(),
            not_promised: None,
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
            kinds: self.checks_kinds(),
            grafts: self.grafts.clone(),
            not_promised: self.not_promised,
        }
    }

    fn checks_kinds(&self) -> bool {
        self.kinds || self.links || self.rules.is_some()
    }

    fn existing(&self, own: Option<&Path>) -> Result<Option<Existing<'_>>> {
        let existing = |store| Existing::new(store, own);
        self.store.map(existing).transpose()
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
