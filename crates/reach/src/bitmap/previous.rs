//! Bitmaps made earlier for other packs: a commit still reaches the same objects, only their bits
//! have changed.

use super::history::History;
use hedgerow_pack::{BitOrder, Bitmaps, CommitBitmap, Words};
use std::collections::HashMap;

/// Marks an old bit whose object has no new bit.
const NO_BIT: u32 = u32::MAX;
const WORD_BITS: u32 = u64::BITS;

/// Previous bitmaps, translated to another order.
pub(crate) struct Previous<'p, 's> {
    bitmaps: &'p Bitmaps<'s>,
    /// The new bit of each old one.
    new_bits: Vec<u32>,
    /// For each old word whose bits map to consecutive new bits, the new bit of its first one.
    moved: Vec<Option<u32>>,
    /// The old bits of the commits that have a bitmap, by their numbers in the history.
    commits: HashMap<u32, u32>,
}

impl<'p, 's> Previous<'p, 's> {
    /// The bitmaps in `bitmaps` whose commits are in `history`, for bits in `order`.
    pub fn new(bitmaps: &'p Bitmaps<'s>, order: &BitOrder<'_>, history: &History) -> Self {
        let new_bit = |bit| order.bit(bitmaps.order().id(bit)?);
        let bits = 0..bitmaps.order().count();
        let new_bits: Vec<u32> = bits.map(|bit| new_bit(bit).unwrap_or(NO_BIT)).collect();
        let follows = |word: &[u32]| {
            let first = word.first().copied().filter(|first| *first != NO_BIT)?;
            let mut rest = (first..).zip(word);
            rest.all(|(expected, bit)| expected == *bit)
                .then_some(first)
        };
        let numbers = history.by_bit();
        // Broken entries are treated as absent.
        let old = bitmaps.commits().unwrap_or_default();
        let commits = old.into_iter().filter_map(|bit| {
            let new = new_bits.get(bit as usize)?;
            Some((numbers.get(*new)?, bit))
        });
        Previous {
            bitmaps,
            commits: commits.collect(),
            moved: new_bits.chunks(WORD_BITS as usize).map(follows).collect(),
            new_bits,
        }
    }

    /// The bitmap of the commit `number`, if it has a usable one.
    pub fn bitmap(&self, history: &History, number: u32) -> Option<CommitBitmap> {
        let commit = history.commits.get(number as usize)?;
        let reached = self.reached(*self.commits.get(&number)?)?;
        Some(CommitBitmap::new(commit.bit, &reached))
    }

    /// Whether the commit with that number has a bitmap.
    pub fn has(&self, number: u32) -> bool {
        self.commits.contains_key(&number)
    }

    /// Fills `hashes`, indexed by new bit, with the path hashes of the previous bitmaps.
    pub fn add_name_hashes(&self, hashes: &mut [u32]) {
        for (old, new) in (0..).zip(&self.new_bits) {
            if let Some(slot) = hashes.get_mut(*new as usize).filter(|slot| **slot == 0) {
                *slot = self.bitmaps.name_hash(old);
            }
        }
    }

    /// What the commit with an old bit reaches, in new bits. `None` if an object has no new bit.
    fn reached(&self, old: u32) -> Option<Words> {
        let mut before = self.bitmaps.empty();
        let is_there = self.bitmaps.add_reachable_from(old, &mut before);
        is_there.ok().filter(|is_there| *is_there)?;
        let mut reached = Words::default();
        for ((at, word), moved) in (0..).zip(before.as_slice()).zip(&self.moved) {
            match moved {
                _ if *word == 0 => {}
                Some(first) => reached.insert_word(*first, *word),
                None => {
                    let start = at * WORD_BITS;
                    for bit in before.range(start..start.saturating_add(WORD_BITS)) {
                        let new = *self.new_bits.get(bit as usize)?;
                        if new == NO_BIT {
                            return None;
                        }
                        reached.insert(new);
                    }
                }
            }
        }
        Some(reached)
    }
}
