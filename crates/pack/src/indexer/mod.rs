//! Makes the index of a pack: git-index-pack(1).
//!
//! The first pass (`segments` for a file, `receive` for a stream) finds the entries and hashes
//! those that are whole; the second (`resolve`) applies the deltas. What comes out is an
//! [`IndexedPack`], of which nothing is on the disk under its name until it is installed.

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
use std::num::NonZeroUsize;
use std::path::Path;

/// How to index a pack.
#[derive(Clone, Debug)]
pub struct IndexOptions<'s> {
    /// The hash function of the objects.
    pub hash: Kind,
    /// How it is run: [`Stage::Receiving`] and [`Stage::Resolving`] say how far it is.
    pub execution: Execution,
    /// The repository: objects are compared with what it has, and deltas may stand on that.
    pub store: Option<&'s ObjectStore>,
    /// Whether bases that are missing in the pack are taken from the repository and added.
    pub fix_thin: bool,
    /// How bad it is to break the rules of git-fsck; `None` checks nothing.
    pub rules: Option<Severities>,
    /// Whether all that objects refer to must be in the pack or in the repository.
    pub links: bool,
    /// Whether an object that is there twice is an error.
    pub unique: bool,
    /// The largest pack that is taken, in bytes.
    pub max_input_bytes: Option<u64>,
    /// The zlib level of what is added to a thin pack.
    pub compression: i32,
    /// Whether to gather what [`IndexedPack::objects`] tells.
    pub statistics: bool,
}

impl IndexOptions<'_> {
    /// Of the hash function and by one thread, without a repository and without checks.
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
    /// The hash that it ends with.
    pub checksum: ObjectId,
    /// What its index lists, in order of ids.
    pub entries: Vec<IndexEntry>,
    /// Its objects in order of their places, if that was asked for.
    pub objects: Vec<PackedObject>,
    /// Broken rules that do not matter, in git's words.
    pub warnings: Vec<String>,
    /// Whether objects refer to some that only the repository has.
    pub refers_outside: bool,
    /// Blobs that a tree calls `.gitmodules` and that are nowhere.
    pub missing_modules: Vec<ObjectId>,
    /// How many bases were added to a thin pack.
    pub added: usize,
    /// What was read of a stream behind the pack: it is somebody else's.
    pub rest: Vec<u8>,
    /// The pack itself, if it was received.
    file: Option<OutputFile>,
}
