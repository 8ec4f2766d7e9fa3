//! Delta bases that one reader keeps for the objects it reads next, when nobody has told which
//! those will be.

use crate::bases::Base;
use crate::object::Place;
use std::collections::{HashMap, VecDeque};

/// The last objects a reader has built, up to a number of bytes. What came first goes first: a
/// walk of history comes back to the versions it has just seen, and to no other.
#[derive(Debug)]
pub(crate) struct RecentBases {
    bases: HashMap<Place, Base>,
    order: VecDeque<Place>,
    held_bytes: usize,
    budget_bytes: usize,
}

impl RecentBases {
    pub fn new(budget_bytes: usize) -> Self {
        RecentBases {
            bases: HashMap::new(),
            order: VecDeque::new(),
            held_bytes: 0,
            budget_bytes,
        }
    }

    pub fn get(&self, place: Place) -> Option<Base> {
        self.bases.get(&place).cloned()
    }

    pub fn offer(&mut self, place: Place, base: impl FnOnce() -> Base) {
        if self.bases.contains_key(&place) {
            return;
        }
        let base = base();
        if base.content.len() > self.budget_bytes / 4 {
            return;
        }
        self.held_bytes += base.content.len();
        self.bases.insert(place, base);
        self.order.push_back(place);
        while self.held_bytes > self.budget_bytes {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            if let Some(base) = self.bases.remove(&oldest) {
                self.held_bytes -= base.content.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObjectKind;

    #[test]
    fn the_oldest_goes_when_the_budget_is_used_up() {
        let mut recent = RecentBases::new(100);
        let place = |offset| Place { pack: 0, offset };
        let base = |length: usize| Base {
            kind: ObjectKind::Tree,
            content: vec![7; length].into(),
        };
        for offset in 0..6 {
            recent.offer(place(offset), || base(20));
        }
        recent.offer(place(9), || base(26));
        assert!(recent.get(place(0)).is_none());
        assert!(recent.get(place(9)).is_none(), "too large to keep");
        assert!((1..6).all(|offset| recent.get(place(offset)).is_some()));
        assert_eq!(recent.held_bytes, 100);
    }
}
