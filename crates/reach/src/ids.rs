//! Maps and sets of object ids.

use gix_hash::ObjectId;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map by object id.
pub type IdMap<V> = HashMap<ObjectId, V, IdHashBuilder>;
/// A set of object ids.
pub type IdSet = HashSet<ObjectId, IdHashBuilder>;

/// A hasher for ids. Although ids are hashes themselves, all their bytes are hashed with a random
/// key: a tree may name ids of objects that need not exist, so collisions could be chosen.
#[derive(Clone, Debug)]
pub struct IdHashBuilder {
    key: u64,
}

impl Default for IdHashBuilder {
    fn default() -> Self {
        let key = RandomState::new().hash_one(0x6865_6467_u32) | 1;
        IdHashBuilder { key }
    }
}

impl IdHashBuilder {
    /// The hash of the bytes of an id.
    pub(crate) fn of(&self, id: &[u8]) -> u64 {
        let mut hasher = self.build_hasher();
        hasher.write(id);
        hasher.finish()
    }
}

impl BuildHasher for IdHashBuilder {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        IdHasher {
            key: self.key,
            state: self.key,
        }
    }
}

/// See [`IdHashBuilder`].
#[derive(Clone, Debug)]
pub struct IdHasher {
    key: u64,
    state: u64,
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let word = u64::from_le_bytes(word.try_into().expect("chunks of eight bytes"));
            self.mix(word);
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            let mut word = [0; 8];
            word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

impl IdHasher {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.key);
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }
}
