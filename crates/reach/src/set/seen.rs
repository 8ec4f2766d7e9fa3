use crate::ids::{IdHashBuilder, IdSet};
use gix_hash::oid;
use hedgerow_pack::{Location, ObjectKind};
use std::sync::{Mutex, PoisonError};

/// A set of objects that many threads put into.
pub trait Seen: Sync {
    /// Puts an object in; returns whether that is news. `name_hash` is git's hash of the path that
    /// it was met at (`pack_name_hash`), which sorts objects for delta search.
    fn insert(&self, id: &oid, kind: ObjectKind, name_hash: u32) -> bool;

    /// Whether [`Seen::found`] is to be told locations of commits and tags, too.
    fn wants_locations(&self) -> bool {
        false
    }

    /// Tells of an object that is new, and where it is: a tree or a blob is known to be there.
    fn found(&self, _id: &oid, _kind: ObjectKind, _location: Option<Location>) {}
}

const SHARDS: usize = 64;

/// A [`Seen`] of ids, in parts that are locked apart.
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
    /// How many objects are in it.
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
