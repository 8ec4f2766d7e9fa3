//! How shareable blocks are stored, by number. [`runs`](hedgerow_image::runs) uses the same numbers.

use crate::format::SizeWord;
use hedgerow_image::runs::KNOWN_BLOCKS;

/// The position of one in this many blocks is kept; the others follow from the sizes.
const PLACES: usize = 1024;

/// The stored blocks in order.
#[derive(Default)]
pub(super) struct Slots {
    words: Vec<SizeWord>,
    places: Vec<u64>,
    /// Number of blocks, including those that are not kept.
    count: u64,
}

impl Slots {
    /// The number of the next block.
    pub(super) fn next(&self) -> u64 {
        self.count
    }

    /// Adds a block stored at `place`.
    pub(super) fn push(&mut self, place: u64, word: SizeWord) {
        self.count += 1;
        if self.words.len() >= KNOWN_BLOCKS {
            return;
        }
        if self.words.len().is_multiple_of(PLACES) {
            self.places.push(place);
        }
        self.words.push(word);
    }

    /// Removes the blocks from `first` on.
    pub(super) fn take_back(&mut self, first: u64) {
        self.count = first;
        let kept = usize::try_from(first).unwrap_or(usize::MAX);
        self.words.truncate(kept);
        self.places.truncate(self.words.len().div_ceil(PLACES));
    }

    /// The position of the block `first`, and the size words of it and the following blocks.
    pub(super) fn run(&self, first: u32) -> Option<(u64, impl Iterator<Item = SizeWord> + '_)> {
        let first = first as usize;
        let start = first - first % PLACES;
        let before = self.words.get(start..first)?;
        let place = self.places.get(first / PLACES)?;
        let bytes = |word: &SizeWord| u64::from(word.stored_bytes());
        let place = place + before.iter().map(bytes).sum::<u64>();
        Some((place, self.words.get(first..)?.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_one_behind_the_other() {
        let mut slots = Slots::default();
        let mut places = Vec::new();
        let mut place = 96;
        let mut fill = |slots: &mut Slots, until: u32| {
            for number in slots.next() as u32..until {
                let word = SizeWord::new(number % 7 + 1, number % 2 == 0);
                slots.push(place, word);
                places.push((place, word));
                place += u64::from(word.stored_bytes());
            }
            if until == 3000 {
                places.truncate(2048);
                place = 96
                    + places
                        .iter()
                        .map(|(_, word)| u64::from(word.stored_bytes()))
                        .sum::<u64>();
            }
            places.clone()
        };
        fill(&mut slots, 3000);
        slots.take_back(2048);
        let places = fill(&mut slots, 2500);
        for (number, (place, word)) in (0..).zip(&places) {
            let (found, mut words) = slots.run(number).unwrap();
            assert_eq!((found, words.next()), (*place, Some(*word)), "{number}");
        }
        assert!(slots.run(2501).is_none());
    }
}
