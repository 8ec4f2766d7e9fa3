//! Bitmaps in the EWAH encoding: markers that stand for a run of equal words and count the
//! literal words that follow them. Format: `gitformat-bitmap(5)`, appendix A.

use super::super::cursor::{Cursor, Parsed};

const WORD_BITS: usize = 64;
const LONGEST_RUN: u64 = (1 << 32) - 1;
const MOST_LITERALS: u64 = (1 << 31) - 1;

/// The positions of the bits that are set, ascending. Fails if one is not below `limit`, which
/// also bounds what is allocated.
pub(in super::super) fn read(cursor: &mut Cursor<'_>, limit: usize) -> Parsed<Vec<u32>> {
    const CUT_OFF: &str = "a bitmap is cut off";
    const TOO_FAR: &str = "a bitmap has bits for entries that are not there";
    let _bits = cursor.be32().ok_or(CUT_OFF)?;
    let words = cursor.be32().ok_or(CUT_OFF)?;
    let len = usize::try_from(words)
        .ok()
        .and_then(|words| words.checked_mul(8));
    let mut words = Cursor::new(len.and_then(|len| cursor.take(len)).ok_or(CUT_OFF)?);
    let _last_marker = cursor.be32().ok_or(CUT_OFF)?;

    let limit = limit as u64;
    let mut set = Vec::new();
    let mut at = 0u64;
    while let Some(marker) = words.be64() {
        let run_end = at.saturating_add((marker >> 1 & LONGEST_RUN) * WORD_BITS as u64);
        if marker & 1 == 1 {
            if run_end > limit {
                return Err(TOO_FAR.into());
            }
            set.extend(at as u32..run_end as u32);
        }
        at = run_end;
        for _ in 0..marker >> 33 {
            let mut literal = words.be64().ok_or(CUT_OFF)?;
            while literal != 0 {
                let position = at.saturating_add(u64::from(literal.trailing_zeros()));
                if position >= limit {
                    return Err(TOO_FAR.into());
                }
                set.push(position as u32);
                literal &= literal - 1;
            }
            at = at.saturating_add(WORD_BITS as u64);
        }
    }
    Ok(set)
}

/// Appends the bitmap in which the bits at `positions`, ascending, are set.
pub(in super::super) fn write(out: &mut Vec<u8>, positions: impl Iterator<Item = u32>) {
    let mut encoder = Encoder {
        words: vec![0],
        marker: 0,
    };
    let (mut bits, mut word, mut word_index) = (0, 0u64, 0);
    for position in positions {
        let index = position as usize / WORD_BITS;
        while word_index < index {
            encoder.push(word);
            (word, word_index) = (0, word_index + 1);
        }
        word |= 1 << (position as usize % WORD_BITS);
        bits = position + 1;
    }
    if bits > 0 {
        encoder.push(word);
    }
    out.extend_from_slice(&bits.to_be_bytes());
    out.extend_from_slice(&(encoder.words.len() as u32).to_be_bytes());
    for word in &encoder.words {
        out.extend_from_slice(&word.to_be_bytes());
    }
    out.extend_from_slice(&(encoder.marker as u32).to_be_bytes());
}

struct Encoder {
    words: Vec<u64>,
    /// Where in `words` the marker lies that counts what is added.
    marker: usize,
}

impl Encoder {
    fn push(&mut self, word: u64) {
        match word {
            0 => self.push_run(0),
            u64::MAX => self.push_run(1),
            literal => self.push_literal(literal),
        }
    }

    fn push_run(&mut self, bit: u64) {
        let marker = self.words[self.marker];
        let (run, literals) = (marker >> 1 & LONGEST_RUN, marker >> 33);
        let continues = literals == 0 && (run == 0 || marker & 1 == bit) && run < LONGEST_RUN;
        if continues {
            self.words[self.marker] = (run + 1) << 1 | bit;
        } else {
            self.marker = self.words.len();
            self.words.push(1 << 1 | bit);
        }
    }

    fn push_literal(&mut self, literal: u64) {
        if self.words[self.marker] >> 33 == MOST_LITERALS {
            self.marker = self.words.len();
            self.words.push(0);
        }
        self.words[self.marker] += 1 << 33;
        self.words.push(literal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(positions: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, positions.iter().copied());
        bytes
    }

    #[test]
    fn no_bits_are_one_empty_marker() {
        assert_eq!(written(&[])[..8], [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(read(&mut Cursor::new(&written(&[])), 0), Ok(vec![]));
    }

    #[test]
    fn a_run_of_ones_takes_one_word() {
        let all: Vec<u32> = (0..6400).collect();
        let bytes = written(&all);
        assert_eq!(bytes.len(), 4 + 4 + 8 + 4);
        assert_eq!(read(&mut Cursor::new(&bytes), 6400), Ok(all));
        assert!(read(&mut Cursor::new(&bytes), 6399).is_err());
    }

    #[test]
    fn a_hostile_run_is_refused_before_it_is_expanded() {
        let mut bytes = vec![0xff; 4];
        bytes.extend([0, 0, 0, 1]);
        bytes.extend((LONGEST_RUN << 1 | 1).to_be_bytes());
        bytes.extend([0; 4]);
        assert!(read(&mut Cursor::new(&bytes), 1000).is_err());
        bytes[4..8].copy_from_slice(&[0xff; 4]);
        assert!(read(&mut Cursor::new(&bytes), 1000).is_err());
    }

    proptest! {
        #[test]
        fn bitmaps_survive(runs in proptest::collection::vec((0u32..300, 1u32..300), 0..20)) {
            let (mut positions, mut at) = (Vec::new(), 0);
            for (gap, run) in runs {
                at += gap;
                positions.extend(at..at + run);
                at += run;
            }
            let bytes = written(&positions);
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(read(&mut cursor, at as usize), Ok(positions));
            prop_assert!(cursor.is_empty());
            for len in 0..bytes.len() {
                prop_assert!(read(&mut Cursor::new(&bytes[..len]), at as usize).is_err());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            if let Ok(set) = read(&mut Cursor::new(&bytes), 500) {
                prop_assert!(set.iter().all(|&position| position < 500));
            }
        }
    }
}
