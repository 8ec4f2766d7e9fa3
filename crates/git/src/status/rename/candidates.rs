//! The best few sources that a destination may come from.

use super::Score;

/// Number of candidates kept for each destination.
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
    /// The sort key; the greater is better.
    pub fn rank(&self) -> (Score, bool) {
        (self.score, self.same_name)
    }
}

/// The best few sources of a destination. A new one replaces the first of the worst, and the
/// position later decides between equally good ones: so even useless candidates must take
/// positions.
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

    /// The candidates, by position.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.places.iter().copied().flatten()
    }
}
