//! The sources that a destination may have been made from: the best few.

use super::Score;

/// How many are kept.
const KEPT: usize = 4;

/// A source for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The number of the source.
    pub source: usize,
    pub score: Score,
    /// Both have the same last component.
    pub same_name: bool,
}

impl Candidate {
    /// What makes one better than another.
    pub fn rank(&self) -> (Score, bool) {
        (self.score, self.same_name)
    }
}

/// The best few sources of a destination. A new one takes the place of the first of the worst, and
/// places decide between equally good ones later on: so even those that are no use take places.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    places: [Option<Candidate>; KEPT],
    worst: usize,
}

impl Candidates {
    pub fn offer(&mut self, new: Candidate) {
        let rank = self.places[self.worst].map(|known| known.rank());
        if Some(new.rank()) <= rank {
            return;
        }
        self.places[self.worst] = Some(new);
        let ranks = self.places.map(|known| known.map(|known| known.rank()));
        let worst = (0..KEPT).min_by_key(|place| ranks[*place]);
        self.worst = worst.expect("some are kept");
    }

    /// Them, by place.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.places.iter().copied().flatten()
    }
}
