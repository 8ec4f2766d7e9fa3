use super::bases::Base;
use crate::object::Place;
use hedgerow_object::ObjectKind;
use std::collections::HashMap;

/// The objects that one reader built lately, for the deltas against them that follow: in a walk
/// over history nobody knows beforehand what will be needed again.
///
/// There are two generations. What is used moves into the younger one; when that has half of the
/// budget, the older one is dropped and the younger takes its place.
#[derive(Debug)]
pub(crate) struct RecentBases {
    young: HashMap<Place, Base>,
    old: HashMap<Place, Base>,
    young_bytes: usize,
    budget_bytes: usize,
}

impl RecentBases {
    /// Keeps up to `budget_bytes`.
    pub fn new(budget_bytes: usize) -> Self {
        RecentBases {
            young: HashMap::new(),
            old: HashMap::new(),
            young_bytes: 0,
            budget_bytes,
        }
    }

    /// The object whose entry is at `place`.
    pub fn take(&mut self, place: Place) -> Option<Base> {
        if let Some(base) = self.young.get(&place) {
            return Some(base.clone());
        }
        let base = self.old.remove(&place)?;
        self.keep(place, base.clone());
        Some(base)
    }

    /// Keeps the object whose entry is at `place`, unless it is too large.
    pub fn offer(&mut self, place: Place, kind: ObjectKind, content: &[u8]) {
        if content.len() <= self.budget_bytes / 8 && !self.young.contains_key(&place) {
            let content = content.into();
            self.keep(place, Base { kind, content });
        }
    }

    fn keep(&mut self, place: Place, base: Base) {
        self.young_bytes += base.content.len();
        self.young.insert(place, base);
        if self.young_bytes > self.budget_bytes / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
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
