use super::bases::Base;
use crate::object::Place;
use hedgerow_object::ObjectKind;
use std::collections::hash_map::Entry;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The objects that one reader built lately, for the deltas against them that follow: in a walk
/// over history nobody knows beforehand what will be needed again.
///
/// There are two generations. What is used moves into the younger one; when that has half of the
/// budget, the older one is dropped and the younger takes its place.
#[derive(Debug)]
pub(crate) struct RecentBases {
    young: HashMap<Place, Base, PlaceHash>,
    old: HashMap<Place, Base, PlaceHash>,
    young_bytes: usize,
    /// What was kept last: it is asked for at once, as a rule.
    last: Option<(Place, Base)>,
    budget_bytes: usize,
}

impl RecentBases {
    /// Keeps up to `budget_bytes`.
    pub fn new(budget_bytes: usize) -> Self {
        let hash = PlaceHash::new();
        RecentBases {
            young: HashMap::with_hasher(hash),
            old: HashMap::with_hasher(hash),
            young_bytes: 0,
            last: None,
            budget_bytes,
        }
    }

    /// The object whose entry is at `place`.
    pub fn take(&mut self, place: Place) -> Option<Base> {
        if let Some((_, base)) = self.last.as_ref().filter(|(last, _)| *last == place) {
            return Some(base.clone());
        }
        if let Some(base) = self.young.get(&place) {
            return Some(base.clone());
        }
        let base = self.old.remove(&place)?;
        self.keep(place, base.clone());
        Some(base)
    }

    /// Keeps the object whose entry is at `place`, unless it is too large.
    pub fn offer(&mut self, place: Place, kind: ObjectKind, content: &[u8]) {
        if content.len() <= self.budget_bytes / 8 {
            let content = content.into();
            self.keep(place, Base { kind, content });
        }
    }

    fn keep(&mut self, place: Place, base: Base) {
        self.last = Some((place, base.clone()));
        let Entry::Vacant(slot) = self.young.entry(place) else {
            return;
        };
        self.young_bytes += base.content.len();
        slot.insert(base);
        if self.young_bytes > self.budget_bytes / 2 {
            let empty = HashMap::with_hasher(*self.young.hasher());
            self.old = std::mem::replace(&mut self.young, empty);
            self.young_bytes = 0;
        }
    }
}

/// A hash of places with a random key: who makes a pack chooses them, and may want them to collide.
#[derive(Clone, Copy, Debug)]
struct PlaceHash {
    key: u64,
    state: u64,
}

impl PlaceHash {
    fn new() -> Self {
        let key = RandomState::new().hash_one(0x6865_6467_u32) | 1;
        PlaceHash { key, state: key }
    }
}

impl BuildHasher for PlaceHash {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for PlaceHash {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.state ^ number) * u128::from(self.key);
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: u64) -> Place {
        Place { pack: 0, offset }
    }

    #[test]
    fn what_is_used_stays_and_the_budget_holds() {
        let mut bases = RecentBases::new(4000);
        bases.offer(place(0), ObjectKind::Tree, &[1; 100]);
        for offset in 1..1000 {
            bases.offer(place(offset), ObjectKind::Blob, &[2; 100]);
            assert_eq!(bases.take(place(0)).unwrap().kind, ObjectKind::Tree);
            let held = bases.young.len() + bases.old.len();
            assert!(held * 100 <= 4100, "{held}");
        }
        assert!(bases.take(place(1)).is_none());
        assert!(bases.take(place(999)).is_some());
        bases.offer(place(5000), ObjectKind::Blob, &[0; 600]);
        assert!(bases.take(place(5000)).is_none());
    }
}
