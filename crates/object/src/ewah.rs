//! EWAH, the compression of one set of bits: gitformat-bitmap(5), appendix A, and the paper of
//! Lemire, Kaser and Aouiche, "Sorting improves word-aligned bitmap indexes".
//!
//! A marker word says how many words of equal bits come, and how many words follow it as they are.

/// Bits of one word.
const WORD_BITS: usize = u64::BITS as usize;
const WORD_BYTES: usize = 8;
/// The lengths before the words: of the set in bits, and of the words.
const HEAD_BYTES: usize = 8;
/// The number of the last marker, after the words.
const TAIL_BYTES: usize = 4;

/// The bits of a marker: one for the value of the run, 32 for its length, 31 for the literals.
const RUN_SHIFT: u32 = 1;
const MAX_RUN: u64 = u32::MAX as u64;
const LITERALS_SHIFT: u32 = 33;
const MAX_LITERALS: u64 = (1 << 31) - 1;

/// A compressed set in the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub struct Ewah<'d> {
    words: &'d [u8],
}

/// How a compressed set changes the words it is applied to.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// What is in it is added.
    Or,
    /// What is in it is added if it was not there, else removed.
    Xor,
}

/// Why a compressed set is not expanded to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EwahFault {
    /// The words end among the literals of a marker.
    CutOff,
    /// A bit is set at the limit or beyond.
    TooFar,
}

impl<'d> Ewah<'d> {
    /// The set at the start of `data`, and how many bytes it takes; `None` if it is cut short.
    pub fn parse(data: &'d [u8]) -> Option<(Self, usize)> {
        let count = u32::from_be_bytes(bytes_at(data, WORD_BYTES / 2)?) as usize;
        let end = HEAD_BYTES.checked_add(count.checked_mul(WORD_BYTES)?)?;
        let words = data.get(HEAD_BYTES..end)?;
        bytes_at::<TAIL_BYTES>(data, end)?;
        Some((Ewah { words }, end + TAIL_BYTES))
    }

    /// Changes `target`, which must be large enough for it; `None` if it is not, or if the runs
    /// are not as long as the set.
    pub fn apply(&self, change: Change, target: &mut [u64]) -> Option<()> {
        let (mut read, mut rest) = (0, target);
        while read < self.words.len() {
            let marker = self.word(read)?;
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

    /// The positions of the bits that are set, ascending. All are below `limit`, which bounds what
    /// is allocated, too.
    ///
    /// # Errors
    /// [`EwahFault`] for a bit that is not below `limit`, and for words that end too soon.
    pub fn positions(&self, limit: u32) -> Result<Vec<u32>, EwahFault> {
        let limit = u64::from(limit);
        let mut set = Vec::new();
        let (mut read, mut at) = (0, 0_u64);
        while let Some(marker) = self.word(read) {
            read += WORD_BYTES;
            let run = (marker >> RUN_SHIFT & MAX_RUN) * WORD_BITS as u64;
            let run_end = at.saturating_add(run);
            if marker & 1 == 1 {
                if run_end > limit {
                    return Err(EwahFault::TooFar);
                }
                set.extend(at as u32..run_end as u32);
            }
            at = run_end;
            for _ in 0..marker >> LITERALS_SHIFT {
                let mut literal = self.word(read).ok_or(EwahFault::CutOff)?;
                read += WORD_BYTES;
                while literal != 0 {
                    let position = at.saturating_add(u64::from(literal.trailing_zeros()));
                    if position >= limit {
                        return Err(EwahFault::TooFar);
                    }
                    set.push(position as u32);
                    literal &= literal - 1;
                }
                at = at.saturating_add(WORD_BITS as u64);
            }
        }
        Ok(set)
    }

    fn word(&self, at: usize) -> Option<u64> {
        Some(u64::from_be_bytes(bytes_at(self.words, at)?))
    }
}

fn bytes_at<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at.checked_add(N)?)?.try_into().ok()
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

/// Compresses the set of the bits of `words`, lowest first, as git's own writer does: its length
/// is that of the words up to the last that is not empty.
pub fn encode(words: &[u64]) -> Vec<u8> {
    let end = words
        .iter()
        .rposition(|word| *word != 0)
        .map_or(0, |at| at + 1);
    let used = words.get(..end).unwrap_or_default();
    encoded(used, (end * WORD_BITS) as u32)
}

/// As [`encode`], of the set of the bits at `positions`, which ascend: for few, among many words.
pub fn encode_few(positions: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut encoder = Encoder::default();
    // Words in a row that are not empty; how many words were encoded.
    let (mut row, mut end): (Vec<u64>, u64) = (Vec::new(), 0);
    for position in positions {
        let word = u64::from(position) / WORD_BITS as u64;
        let next = end + row.len() as u64;
        if word >= next {
            if word > next {
                encoder.words(&row);
                row.clear();
                encoder.run(false, word - next);
                end = word;
            }
            row.push(0);
        }
        if let Some(last) = row.last_mut() {
            *last |= 1 << (position as usize % WORD_BITS);
        }
    }
    encoder.words(&row);
    let words = end + row.len() as u64;
    encoder.finish((words * WORD_BITS as u64) as u32)
}

/// Compresses the set of the bits at `positions`, which ascend: its length is that up to the last
/// one.
pub fn encode_positions(positions: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let (mut words, mut bits) = (Vec::new(), 0);
    for position in positions {
        let word = position as usize / WORD_BITS;
        if word >= words.len() {
            words.resize(word + 1, 0);
        }
        words[word] |= 1 << (position as usize % WORD_BITS);
        bits = position + 1;
    }
    encoded(&words, bits)
}

/// Compresses a set of so many bits, all of `words`.
fn encoded(words: &[u64], bits: u32) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.words(words);
    encoder.finish(bits)
}

#[derive(Default)]
struct Encoder {
    words: Vec<u64>,
    /// The place of the last marker.
    marker: usize,
}

impl Encoder {
    fn words(&mut self, words: &[u64]) {
        let mut rest = words;
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
                self.run(*first != 0, length as u64)
            } else {
                self.literals(piece)
            }
            rest = after;
        }
    }

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

    /// The bytes of a set of so many bits.
    fn finish(mut self, bits: u32) -> Vec<u8> {
        if self.words.is_empty() {
            self.words.push(0);
        }
        let size = HEAD_BYTES + self.words.len() * WORD_BYTES + TAIL_BYTES;
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&bits.to_be_bytes());
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
        let bytes = encode(&[0; 16]);
        assert_eq!(
            bytes,
            [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
    }

    #[test]
    fn a_run_and_a_literal_share_a_marker() {
        let bytes = encode(&[u64::MAX, u64::MAX, 5]);
        let marker: u64 = 1 | 2 << RUN_SHIFT | 1 << LITERALS_SHIFT;
        assert_eq!(bytes_at(&bytes, 0), Some(192_u32.to_be_bytes()));
        assert_eq!(bytes_at(&bytes, 4), Some(2_u32.to_be_bytes()));
        assert_eq!(bytes_at(&bytes, 8), Some(marker.to_be_bytes()));
        assert_eq!(bytes_at(&bytes, 16), Some(5_u64.to_be_bytes()));
        assert_eq!(bytes_at(&bytes, 24), Some([0; 4]));
    }

    #[test]
    fn lies_about_lengths_are_refused() {
        let bytes = encode(&[u64::MAX, 7, 9]);
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

    #[test]
    fn no_positions_are_one_empty_marker() {
        let bytes = encode_positions([]);
        assert_eq!(bytes, encode(&[]));
        assert_eq!(positions(&bytes, 0), Ok(vec![]));
    }

    #[test]
    fn a_run_of_ones_takes_one_word() {
        let bytes = encode_positions(0..6400);
        assert_eq!(bytes.len(), 4 + 4 + 8 + 4);
        assert_eq!(positions(&bytes, 6400), Ok((0..6400).collect()));
        assert_eq!(positions(&bytes, 6399), Err(EwahFault::TooFar));
    }

    #[test]
    fn a_hostile_run_is_refused_before_it_is_expanded() {
        let mut bytes = vec![0xff; 4];
        bytes.extend([0, 0, 0, 1]);
        bytes.extend((MAX_RUN << RUN_SHIFT | 1).to_be_bytes());
        bytes.extend([0; 4]);
        assert_eq!(positions(&bytes, 1000), Err(EwahFault::TooFar));
        bytes[8..16].copy_from_slice(&(1_u64 << LITERALS_SHIFT).to_be_bytes());
        assert_eq!(positions(&bytes, 1000), Err(EwahFault::CutOff));
        bytes[4..8].copy_from_slice(&[0xff; 4]);
        assert!(Ewah::parse(&bytes).is_none());
    }

    fn positions(data: &[u8], limit: u32) -> Result<Vec<u32>, EwahFault> {
        Ewah::parse(data).unwrap().0.positions(limit)
    }

    proptest! {
        #[test]
        fn any_set_comes_back(set in any_words(), other in any_words()) {
            let mut bytes = encode(&set);
            let length = bytes.len();
            bytes.extend_from_slice(b"what follows");
            let (found, size) = Ewah::parse(&bytes).unwrap();
            prop_assert_eq!(size, length);
            let mut padded = set.clone();
            padded.resize(100, 0);
            let mut target = vec![0; 100];
            found.apply(Change::Or, &mut target).unwrap();
            prop_assert_eq!(&target, &padded);
            found.apply(Change::Xor, &mut target).unwrap();
            prop_assert!(target.iter().all(|word| *word == 0));
            let mut target = other;
            target.resize(100, 0);
            let both = target.iter().zip(&padded).map(|(a, b)| a | b);
            let both: Vec<u64> = both.collect();
            found.apply(Change::Or, &mut target).unwrap();
            prop_assert_eq!(target, both);
        }

        #[test]
        fn few_are_compressed_as_many_are(set in any_words()) {
            let bits = (0..).zip(&set).flat_map(|(at, word)| {
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
            });
            prop_assert_eq!(encode_few(bits), encode(&set));
        }

        #[test]
        fn positions_come_back(runs in prop::collection::vec((0u32..300, 1u32..300), 0..20)) {
            let (mut set, mut at) = (Vec::new(), 0);
            for (gap, run) in runs {
                at += gap;
                set.extend(at..at + run);
                at += run;
            }
            let bytes = encode_positions(set.iter().copied());
            prop_assert_eq!(positions(&bytes, at), Ok(set));
            for length in 0..bytes.len() {
                prop_assert!(Ewah::parse(&bytes[..length]).is_none());
            }
        }

        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some((set, size)) = Ewah::parse(&data) {
                prop_assert!(size <= data.len());
                let _ = set.apply(Change::Xor, &mut [0; 40]);
                if let Ok(set) = set.positions(500) {
                    prop_assert!(set.iter().all(|position| *position < 500));
                }
            }
        }

        #[test]
        fn random_markers_never_panic(words in any_words()) {
            let words = words.iter().flat_map(|word| word.to_be_bytes());
            let words: Vec<u8> = words.collect();
            let set = Ewah { words: &words };
            let _ = set.apply(Change::Or, &mut [0; 40]);
            if let Ok(set) = set.positions(500) {
                prop_assert!(set.iter().all(|position| *position < 500));
            }
        }
    }
}
