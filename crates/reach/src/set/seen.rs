use crate::ids::{IdHashBuilder, IdSet};
use gix_hash::oid;
use hedgerow_pack::{Location, ObjectKind};
use std::sync::{Mutex, PoisonError};

/// A set of objects that many threads insert into.
pub trait Seen: Sync {
    /// Inserts an object; returns whether it was new. `name_hash` is git's hash of the path at
    /// which it was met (`pack_name_hash`), which sorts objects for delta search.
    fn insert(&self, id: &oid, kind: ObjectKind, name_hash: u32) -> bool;

    /// Whether [`Seen::found`] needs the locations of commits and tags, too.
    fn wants_locations(&self) -> bool {
        false
    }

    /// Reports a new object and its location. A tree or a blob is known to exist.
    fn found(&self, _id: &oid, _kind: ObjectKind, _location: Option<Location>) {}
}

const SHARDS: usize = 64;

/// A [`Seen`] of ids, in shards with a lock each.
#[derive(Debug)]
pub struct SeenIds {
    shards: Vec<Mutex<IdSet>>,
    hash: IdHashBuilder,
}

impl Default for SeenIds {
    fn default() -> Self {
        SeenIds {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hash: IdHashBuilder::default(),
        }
    }
}

impl SeenIds {
    /// Number of objects.
    pub fn count(&self) -> u64 {
        let lengths = self.shards.iter().map(|shard| {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.len() as u64
        });
        lengths.sum()
    }
}

impl Seen for SeenIds {
    fn insert(&self, id: &oid, _: ObjectKind, _: u32) -> bool {
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
