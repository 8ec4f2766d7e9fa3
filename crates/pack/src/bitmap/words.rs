use std::ops::Range;

/// Number of bits in a word.
pub(crate) const WORD_BITS: usize = u64::BITS as usize;

/// A set of small numbers as a bit vector: objects, by their bits in the order of a bitmap.
///
/// It takes an eighth of a byte for every possible object, whether it is in the set or not: 52 kB
/// for 420,000 objects. All operations work on whole words.
#[derive(Clone, Debug, Default)]
pub struct Words {
    words: Vec<u64>,
}

impl Words {
    /// The empty set, with room for `bits` bits.
    pub fn with_bits(bits: usize) -> Self {
        Words {
            words: vec![0; bits.div_ceil(WORD_BITS)],
        }
    }

    /// The set with these words; the first has the bits 0 to 63, lowest first.
    pub fn from_words(words: Vec<u64>) -> Self {
        Words { words }
    }

    /// Its words.
    pub fn as_slice(&self) -> &[u64] {
        &self.words
    }

    /// Its words.
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Adds `bit`; returns whether it was new.
    pub fn insert(&mut self, bit: u32) -> bool {
        let (word, mask) = split(bit);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let found = &mut self.words[word];
        let is_new = *found & mask == 0;
        *found |= mask;
        is_new
    }

    /// Adds the bits of `word`, whose lowest bit stands for `first`.
    pub fn insert_word(&mut self, first: u32, word: u64) {
        let (at, shift) = (first as usize / WORD_BITS, first % u64::BITS);
        let parts = [
            word << shift,
            word.checked_shr(u64::BITS - shift).unwrap_or(0),
        ];
        let end = at + if parts[1] == 0 { 1 } else { 2 };
        if end > self.words.len() {
            self.words.resize(end, 0);
        }
        for (own, part) in self.words.iter_mut().skip(at).zip(parts) {
            *own |= part;
        }
    }

    /// Removes `bit`.
    pub fn remove(&mut self, bit: u32) {
        let (word, mask) = split(bit);
        if let Some(found) = self.words.get_mut(word) {
            *found &= !mask;
        }
    }

    /// Whether the set contains `bit`.
    pub fn contains(&self, bit: u32) -> bool {
        let (word, mask) = split(bit);
        self.words.get(word).is_some_and(|found| found & mask != 0)
    }

    /// Adds the bits of `other`.
    pub fn union(&mut self, other: &Words) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (own, other) in self.words.iter_mut().zip(&other.words) {
            *own |= other;
        }
    }

    /// Removes the bits of `other`.
    pub fn subtract(&mut self, other: &Words) {
        for (own, other) in self.words.iter_mut().zip(&other.words) {
            *own &= !other;
        }
    }

    /// Removes bits that are not in `other`.
    pub fn intersect(&mut self, other: &Words) {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        for (own, other) in self.words.iter_mut().zip(others) {
            *own &= other;
        }
    }

    /// Whether all bits of `other` are in the set.
    pub fn contains_all(&self, other: &Words) -> bool {
        let own = self.words.iter().copied().chain(std::iter::repeat(0));
        other
            .words
            .iter()
            .zip(own)
            .all(|(other, own)| other & !own == 0)
    }

    /// Number of bits in the set.
    pub fn count(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Number of bits that are also in `other`.
    pub fn count_common(&self, other: &Words) -> u64 {
        let pairs = self.words.iter().zip(&other.words);
        pairs.map(|(a, b)| u64::from((a & b).count_ones())).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The bits, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.bits_from(0)
    }

    /// The bits in `range`, ascending.
    pub fn range(&self, range: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let from = self.bits_from(range.start as usize / WORD_BITS);
        from.skip_while(move |bit| *bit < range.start)
            .take_while(move |bit| *bit < range.end)
    }

    fn bits_from(&self, first: usize) -> impl Iterator<Item = u32> + '_ {
        let words = self.words.iter().enumerate().skip(first);
        words.flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                let next = rest.checked_sub(1)?;
                rest &= next;
                Some((at * WORD_BITS) as u32 + bit)
            })
        })
    }
}

/// Sets are equal if they have the same bits, whatever their capacity.
impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.contains_all(other) && other.contains_all(self)
    }
}

impl Eq for Words {}

impl FromIterator<u32> for Words {
    fn from_iter<T: IntoIterator<Item = u32>>(bits: T) -> Self {
        let mut words = Words::default();
        for bit in bits {
            words.insert(bit);
        }
        words
    }
}

fn split(bit: u32) -> (usize, u64) {
    (bit as usize / WORD_BITS, 1 << (bit as usize % WORD_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn they_are_sets(
            left in prop::collection::btree_set(0_u32..400, 0..60),
            right in prop::collection::btree_set(0_u32..300, 0..60),
        ) {
            let (a, b): (Words, Words) = (left.iter().copied().collect(), right.iter().copied().collect());
            prop_assert_eq!(a.iter().collect::<BTreeSet<_>>(), left.clone());
            prop_assert_eq!(a.count(), left.len() as u64);
            prop_assert_eq!(a.count_common(&b), left.intersection(&right).count() as u64);
            prop_assert_eq!(a.contains_all(&b), right.is_subset(&left));
            prop_assert_eq!(a == b, left == right);
            prop_assert_eq!(a.is_empty(), left.is_empty());
            let part: Vec<u32> = left.range(70..250).copied().collect();
            prop_assert_eq!(a.range(70..250).collect::<Vec<_>>(), part);
            let after = |change: fn(&mut Words, &Words)| {
                let mut own = a.clone();
                change(&mut own, &b);
                own.iter().collect::<Vec<_>>()
            };
            prop_assert_eq!(after(Words::union), left.union(&right).copied().collect::<Vec<_>>());
            prop_assert_eq!(
                after(Words::subtract),
                left.difference(&right).copied().collect::<Vec<_>>()
            );
            prop_assert_eq!(
                after(Words::intersect),
                left.intersection(&right).copied().collect::<Vec<_>>()
            );
        }

        #[test]
        fn a_word_goes_anywhere(word in any::<u64>(), first in 0_u32..300) {
            let mut words = Words::with_bits(100);
            words.insert_word(first, word);
            let expected = (0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| first + bit);
            prop_assert_eq!(words.iter().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }

        #[test]
        fn a_bit_is_new_once(bits in prop::collection::vec(0_u32..200, 0..50)) {
            let (mut words, mut seen) = (Words::with_bits(10), BTreeSet::new());
            for bit in bits {
                prop_assert_eq!(words.contains(bit), seen.contains(&bit));
                prop_assert_eq!(words.insert(bit), seen.insert(bit));
            }
            if let Some(first) = seen.pop_first() {
                words.remove(first);
                prop_assert!(!words.contains(first));
            }
        }
    }
}
