//! EWAH, the compression of one set of bits: gitformat-pack(5) and the paper of Lemire, Kaser and
//! Aouiche, "Sorting improves word-aligned bitmap indexes".
//!
//! A marker word says how many words of equal bits come, and how many words follow it as they are.

use super::words::WORD_BITS;
use super::Words;
use crate::format::big_endian::{u32_at, u64_at};

/// The lengths before the words: of the set in bits, and of the words.
const HEAD_BYTES: usize = 8;
/// The number of the last marker, after the words.
const TAIL_BYTES: usize = 4;
const WORD_BYTES: usize = 8;

/// The bits of a marker: one for the value of the run, 32 for its length, 31 for the literals.
const RUN_SHIFT: u32 = 1;
const MAX_RUN: u64 = u32::MAX as u64;
const LITERALS_SHIFT: u32 = 33;
const MAX_LITERALS: u64 = (1 << 31) - 1;

/// A compressed set in a mapped file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ewah<'d> {
    words: &'d [u8],
}

/// How a compressed set changes the words it is applied to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// What is in it is added.
    Or,
    /// What is in it is added if it was not there, else removed.
    Xor,
}

impl<'d> Ewah<'d> {
    /// The set at the start of `data`, and how many bytes it takes; `None` if it is cut short.
    pub fn parse(data: &'d [u8]) -> Option<(Self, usize)> {
        let count = u32_at(data, WORD_BYTES / 2)? as usize;
        let end = HEAD_BYTES.checked_add(count.checked_mul(WORD_BYTES)?)?;
        let words = data.get(HEAD_BYTES..end)?;
        u32_at(data, end)?;
        Some((Ewah { words }, end + TAIL_BYTES))
    }

    /// Changes `target`, which must be large enough for it; `None` if it is not, or if the runs
    /// are not as long as the set.
    pub fn apply(&self, change: Change, target: &mut [u64]) -> Option<()> {
        let (mut read, mut rest) = (0, target);
        while read < self.words.len() {
            let marker = u64_at(self.words, read)?;
            let run = (marker >> RUN_SHIFT & MAX_RUN) as usize;
            let literals = (marker >> LITERALS_SHIFT) as usize;
            let (filled, after) = split(rest, run)?;
            if marker & 1 == 1 {
                fill(change, filled);
            }
            let start = read + WORD_BYTES;
            let end = start.checked_add(literals.checked_mul(WORD_BYTES)?)?;
            let (changed, after) = split(after, literals)?;
            let words = self.words.get(start..end)?.chunks_exact(WORD_BYTES);
            for (word, own) in words.zip(changed) {
                let word = u64::from_be_bytes(word.try_into().ok()?);
                match change {
                    Change::Or => *own |= word,
                    Change::Xor => *own ^= word,
                }
            }
            (read, rest) = (end, after);
        }
        Some(())
    }
}

fn split(words: &mut [u64], at: usize) -> Option<(&mut [u64], &mut [u64])> {
    (at <= words.len()).then(|| words.split_at_mut(at))
}

fn fill(change: Change, words: &mut [u64]) {
    match change {
        Change::Or => words.fill(u64::MAX),
        Change::Xor => words.iter_mut().for_each(|word| *word = !*word),
    }
}

/// Compresses `set` as git's own writer does: its length is that of the words up to the last
/// that is not empty.
pub(crate) fn encode(set: &Words) -> Vec<u8> {
    let mut encoder = Encoder::default();
    let used = set.as_slice();
    let end = used
        .iter()
        .rposition(|word| *word != 0)
        .map_or(0, |at| at + 1);
    let mut rest = used.get(..end).unwrap_or_default();
    while let Some(first) = rest.first() {
        let is_run = *first == 0 || *first == u64::MAX;
        let length = if is_run {
            rest.iter().take_while(|word| *word == first).count()
        } else {
            let is_literal = |word: &&u64| **word != 0 && **word != u64::MAX;
            rest.iter().take_while(is_literal).count()
        };
        let (piece, after) = rest.split_at(length);
        if is_run {
            encoder.run(*first != 0, length as u64)
        } else {
            encoder.literals(piece)
        }
        rest = after;
    }
    encoder.finish(end)
}

#[derive(Default)]
struct Encoder {
    words: Vec<u64>,
    /// The place of the last marker.
    marker: usize,
}

impl Encoder {
    fn run(&mut self, value: bool, length: u64) {
        let mut left = length;
        while left > 0 {
            let piece = left.min(MAX_RUN);
            self.new_marker(u64::from(value) | piece << RUN_SHIFT);
            left -= piece;
        }
    }

    fn literals(&mut self, words: &[u64]) {
        for piece in words.chunks(MAX_LITERALS as usize) {
            let takes_more = |marker: &u64| marker >> LITERALS_SHIFT == 0;
            if !self.words.get(self.marker).is_some_and(takes_more) {
                self.new_marker(0);
            }
            if let Some(marker) = self.words.get_mut(self.marker) {
                *marker |= (piece.len() as u64) << LITERALS_SHIFT;
            }
            self.words.extend_from_slice(piece);
        }
    }

    fn new_marker(&mut self, marker: u64) {
        self.marker = self.words.len();
        self.words.push(marker);
    }

    /// The bytes of a set of `words` words.
    fn finish(mut self, words: usize) -> Vec<u8> {
        if self.words.is_empty() {
            self.words.push(0);
        }
        let size = HEAD_BYTES + self.words.len() * WORD_BYTES + TAIL_BYTES;
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&((words * WORD_BITS) as u32).to_be_bytes());
        bytes.extend_from_slice(&(self.words.len() as u32).to_be_bytes());
        for word in &self.words {
            bytes.extend_from_slice(&word.to_be_bytes());
        }
        bytes.extend_from_slice(&(self.marker as u32).to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_words() -> impl Strategy<Value = Vec<u64>> {
        let word = prop_oneof![Just(0), Just(u64::MAX), any::<u64>()];
        let runs = prop::collection::vec((word, 1_usize..5), 0..20);
        runs.prop_map(|runs| {
            let words = runs.into_iter();
            words.flat_map(|(word, count)| vec![word; count]).collect()
        })
    }

    #[test]
    fn the_empty_set_is_one_marker() {
        let bytes = encode(&Words::with_bits(1000));
        assert_eq!(
            bytes,
            [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
    }

    #[test]
    fn a_run_and_a_literal_share_a_marker() {
        let words = Words::from_words(vec![u64::MAX, u64::MAX, 5]);
        let bytes = encode(&words);
        let marker = 1 | 2 << RUN_SHIFT | 1 << LITERALS_SHIFT;
        assert_eq!(u32_at(&bytes, 0), Some(192));
        assert_eq!(u32_at(&bytes, 4), Some(2));
        assert_eq!(u64_at(&bytes, 8), Some(marker));
        assert_eq!(u64_at(&bytes, 16), Some(5));
        assert_eq!(u32_at(&bytes, 24), Some(0));
    }

    #[test]
    fn lies_about_lengths_are_refused() {
        let words = Words::from_words(vec![u64::MAX, 7, 9]);
        let bytes = encode(&words);
        for end in 0..bytes.len() {
            assert!(Ewah::parse(&bytes[..end]).is_none());
        }
        let (set, _) = Ewah::parse(&bytes).unwrap();
        assert!(set.apply(Change::Or, &mut [0; 2]).is_none());
        let mut longer = bytes.clone();
        longer[8..16].copy_from_slice(&u64::MAX.to_be_bytes());
        let (set, _) = Ewah::parse(&longer).unwrap();
        assert!(set.apply(Change::Or, &mut [0; 50]).is_none());
    }

    proptest! {
        #[test]
        fn any_set_comes_back(words in any_words(), other in any_words()) {
            let set = Words::from_words(words);
            let mut bytes = encode(&set);
            let length = bytes.len();
            bytes.extend_from_slice(b"what follows");
            let (found, size) = Ewah::parse(&bytes).unwrap();
            prop_assert_eq!(size, length);
            let mut target = vec![0; 100];
            found.apply(Change::Or, &mut target).unwrap();
            prop_assert_eq!(Words::from_words(target.clone()), set.clone());
            found.apply(Change::Xor, &mut target).unwrap();
            prop_assert!(target.iter().all(|word| *word == 0));
            let mut both = Words::from_words(other.clone());
            both.union(&set);
            let mut target = other;
            target.resize(100, 0);
            found.apply(Change::Or, &mut target).unwrap();
            prop_assert_eq!(Words::from_words(target), both);
        }

        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some((set, size)) = Ewah::parse(&data) {
                prop_assert!(size <= data.len());
                let _ = set.apply(Change::Xor, &mut [0; 40]);
            }
        }
    }
}
