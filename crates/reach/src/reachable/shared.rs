//! A set of objects filled by several threads.

use super::set::{Extra, ObjectSet};
use crate::ids::{IdHashBuilder, IdMap, IdSet};
use gix_hash::{oid, ObjectId};
use hedgerow_pack::Words;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of shards for objects without a bit, each with a lock of its own.
const SHARDS: usize = 64;

/// An [`ObjectSet`] while several threads add to it.
pub(super) struct SharedSet<'w, 'b, 's> {
    /// The set before the walk.
    before: &'w ObjectSet<'b, 's>,
    /// Objects that need not be found.
    shunned: Option<&'w ObjectSet<'b, 's>>,
    /// No tree may name them as anything else.
    false_commits: &'w IdSet,
    bits: Vec<AtomicU64>,
    shards: Vec<Mutex<IdMap<Extra>>>,
    hasher: IdHashBuilder,
}

impl<'w, 'b, 's> SharedSet<'w, 'b, 's> {
    pub fn new(
        before: &'w ObjectSet<'b, 's>,
        shunned: Option<&'w ObjectSet<'b, 's>>,
        false_commits: &'w IdSet,
    ) -> Self {
        SharedSet {
            before,
            shunned,
            false_commits,
            bits: before
                .bits
                .as_slice()
                .iter()
                .map(|word| AtomicU64::new(*word))
                .collect(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: IdHashBuilder::default(),
        }
    }

    /// Whether the object counts as a commit, and is none.
    pub fn is_false_commit(&self, id: &ObjectId) -> bool {
        !self.false_commits.is_empty() && self.false_commits.contains(id)
    }

    /// The hasher for paths of trees, the same in all threads.
    pub fn hasher(&self) -> &IdHashBuilder {
        &self.hasher
    }

    /// Adds an object; returns whether it was new and is not shunned.
    pub fn insert(&self, extra: Extra) -> bool {
        match self.before.bit(&extra.id) {
            Some(bit) => {
                let is_shunned = self.shunned.is_some_and(|set| set.bits.contains(bit));
                !is_shunned && self.insert_bit(bit)
            }
            None => {
                let known = |set: &ObjectSet<'_, '_>| set.places.contains_key(&extra.id);
                if known(self.before) || self.shunned.is_some_and(known) {
                    return false;
                }
                self.shard(&extra.id).insert(extra.id, extra).is_none()
            }
        }
    }

    fn insert_bit(&self, bit: u32) -> bool {
        let mask = 1 << (bit % u64::BITS);
        let word = self.bits.get((bit / u64::BITS) as usize);
        word.is_some_and(|word| word.fetch_or(mask, Ordering::Relaxed) & mask == 0)
    }

    fn shard(&self, id: &oid) -> MutexGuard<'_, IdMap<Extra>> {
        let number = self.hasher.of(id.as_bytes()) as usize >> 7;
        let shard = self.shards.get(number % SHARDS).unwrap_or(&self.shards[0]);
        // The map is consistent even if a thread panicked while it held the lock.
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All bits, and the new objects without a bit, in order of their ids.
    pub fn into_parts(self) -> (Words, Vec<Extra>) {
        let words = self.bits.into_iter().map(AtomicU64::into_inner).collect();
        let mut extra: Vec<Extra> = Vec::new();
        for shard in self.shards {
            let shard = shard.into_inner().unwrap_or_else(PoisonError::into_inner);
            extra.extend(shard.into_values());
        }
        extra.sort_unstable_by_key(|extra| extra.id);
        (Words::from_words(words), extra)
    }
}
