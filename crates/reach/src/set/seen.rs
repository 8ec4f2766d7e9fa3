use crate::finder::Finder;
use crate::ids::{IdHashBuilder, IdSet};
use gix_hash::oid;
use hedgerow_pack::{Location, ObjectKind, ObjectStore};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A set of objects that many threads insert into.
pub trait Seen: Sync {
    /// Inserts an object; returns whether it was new.
    fn insert(&self, object: Met<'_>) -> bool;

    /// Whether [`Seen::found`] needs the locations of commits and tags, too.
    fn wants_locations(&self) -> bool {
        false
    }

    /// Reports a new object and its location. A tree or a blob is known to exist.
    fn found(&self, _id: &oid, _kind: ObjectKind, _location: Option<Location>) {}
}

const SHARDS: usize = 64;
/// Objects in a word of a set of positions.
pub(super) const WORD_BITS: u32 = 64;

/// An object that a walk meets.
#[derive(Clone, Copy, Debug)]
pub struct Met<'i> {
    /// Which one.
    pub id: &'i oid,
    /// Its position in the main pack of the store ([`ObjectStore::main_pack`]), if it is there.
    pub position: Option<u32>,
    /// Its kind.
    pub kind: ObjectKind,
    /// git's hash of the path at which it was met (`pack_name_hash`), which sorts objects for delta
    /// search.
    pub name_hash: u32,
}

/// A [`Seen`] of ids: a bit for each position in the main pack, and shards with a lock each.
#[derive(Debug)]
pub struct SeenIds {
    main: Vec<AtomicU64>,
    shards: Vec<Mutex<IdSet>>,
    hash: IdHashBuilder,
}

impl Default for SeenIds {
    /// Without bits for a main pack.
    fn default() -> Self {
        SeenIds {
            main: Vec::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hash: IdHashBuilder::default(),
        }
    }
}

impl SeenIds {
    /// For the objects of `store`.
    pub fn of(store: &ObjectStore) -> Self {
        let words = Finder::new(store).count().div_ceil(WORD_BITS as usize);
        SeenIds {
            main: (0..words).map(|_| AtomicU64::new(0)).collect(),
            ..SeenIds::default()
        }
    }

    /// Number of objects.
    pub fn count(&self) -> u64 {
        let words = self.main.iter();
        let main = words.map(|word| u64::from(word.load(Ordering::Relaxed).count_ones()));
        let lengths = self.shards.iter().map(|shard| {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.len() as u64
        });
        main.chain(lengths).sum()
    }
}

impl Seen for SeenIds {
    fn insert(&self, object: Met<'_>) -> bool {
        let (id, position) = (object.id, object.position);
        let word = position.and_then(|at| Some((self.main.get((at / WORD_BITS) as usize)?, at)));
        if let Some((word, at)) = word {
            let bit = 1 << (at % WORD_BITS);
            // Most objects are met again, and reading leaves the word in the caches of all.
            return word.load(Ordering::Relaxed) & bit == 0
                && word.fetch_or(bit, Ordering::Relaxed) & bit == 0;
        }
        let shard = self.hash.of(id.as_bytes()) as usize % SHARDS;
        match self.shards.get(shard) {
            Some(shard) => {
                let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                shard.insert(id.to_owned())
            }
            None => false,
        }
    }
}
