use super::fast::common;
use super::instructions::{MAX_DISTANCE, PAIR_DISTANCE};
use std::ops::RangeInclusive;

const PAIR_BITS: u32 = 12;
const TRIPLE_BITS: u32 = 14;
const CHAIN_BITS: u32 = 15;

/// How much effort a search takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// Number of positions with the same hash to compare with.
    pub(super) tries: u32,
    /// A match of this length in bytes ends the search.
    pub(super) good_enough: usize,
}

/// Finds earlier positions with the same bytes. Tables store positions plus one; 0 if there is
/// none.
#[derive(Debug)]
pub(super) struct Finder {
    search: Search,
    /// The last position for each hash of two bytes, and of three.
    pairs: Vec<u32>,
    triples: Vec<u32>,
    /// The last position for each hash of four bytes, and for each position the previous one.
    heads: Vec<u32>,
    chain: Vec<u32>,
}

impl Finder {
    pub(super) fn new(search: Search) -> Self {
        Finder {
            search,
            pairs: vec![0; 1 << PAIR_BITS],
            triples: vec![0; 1 << TRIPLE_BITS],
            heads: vec![0; 1 << CHAIN_BITS],
            chain: Vec::new(),
        }
    }

    /// Clears the tables for a block of `length` bytes.
    pub(super) fn reset(&mut self, length: usize) {
        for table in [&mut self.pairs, &mut self.triples, &mut self.heads] {
            table.fill(0);
        }
        // Elements left from another block are overwritten before they are read.
        self.chain.resize(length, 0);
    }

    pub(super) fn good_enough(&self) -> usize {
        self.search.good_enough
    }

    /// Adds `place` to the tables.
    #[inline]
    pub(super) fn insert(&mut self, input: &[u8], place: usize) {
        self.replace(input, place);
    }

    /// Adds `place` to the tables. Returns the previous position for each hash.
    #[inline]
    fn replace(&mut self, input: &[u8], place: usize) -> Option<[u32; 3]> {
        let bytes = u32::from_le_bytes(*input.get(place..)?.first_chunk()?);
        let hash =
            |value: u32, bits: u32| (value.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize;
        let new = place as u32 + 1;
        let put = |table: &mut [u32], hash: usize| std::mem::replace(&mut table[hash], new);
        let pair = put(&mut self.pairs, hash(bytes << 16, PAIR_BITS));
        let triple = put(&mut self.triples, hash(bytes << 8, TRIPLE_BITS));
        let head = put(&mut self.heads, hash(bytes, CHAIN_BITS));
        self.chain[place] = head;
        Some([pair, triple, head])
    }

    /// Searches for matches at `place` and adds it to the tables. Passes increasing ranges of match
    /// lengths to `found`, each with the smallest distance seen for it; a match that is good enough
    /// is passed with its full length only. Returns the greatest length.
    #[inline]
    pub(super) fn search(
        &mut self,
        input: &[u8],
        place: usize,
        mut found: impl FnMut(RangeInclusive<usize>, usize),
    ) -> usize {
        let Some([pair, triple, head]) = self.replace(input, place) else {
            return 0;
        };
        let good_enough = self.search.good_enough;
        let mut best = 1;
        for (candidate, farthest) in [(pair, PAIR_DISTANCE), (triple, MAX_DISTANCE)] {
            let Some(start) = within(candidate, place, farthest) else {
                continue;
            };
            let length = common(input, start, place);
            if length > best {
                let first = if length < good_enough {
                    best + 1
                } else {
                    length
                };
                found(first..=length, place - start);
                best = length;
            }
        }
        best = best.max(3);
        let mut candidate = head;
        for _ in 0..self.search.tries {
            if best >= good_enough {
                break;
            }
            let Some(start) = within(candidate, place, MAX_DISTANCE) else {
                break;
            };
            candidate = self.chain[start];
            // A longer match must have these four bytes in common.
            let last = |from: usize| input.get(from + best - 3..from + best + 1);
            let Some(wanted) = last(place) else { break };
            if last(start) != Some(wanted) {
                continue;
            }
            let length = common(input, start, place);
            if length > best {
                let first = if length < good_enough {
                    best + 1
                } else {
                    length
                };
                found(first..=length, place - start);
                best = length;
            }
        }
        best
    }
}

/// The position in a table element, if there is one at most `farthest` bytes back.
#[inline]
fn within(entry: u32, place: usize, farthest: usize) -> Option<usize> {
    let start = (entry as usize).checked_sub(1)?;
    (place - start <= farthest).then_some(start)
}
