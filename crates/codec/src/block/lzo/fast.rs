use super::instructions::{Writer, MAX_DISTANCE};

/// Number of equal bytes at which two positions match.
const MIN_MATCH: usize = 4;

/// The step between positions grows by one after this many failed lookups, as a power of two.
const SKIP_BITS: u32 = 5;

/// A greedy encoder: it takes the match at the last position with the same hash.
#[derive(Debug)]
pub(in crate::block) struct Encoder {
    table_bits: u32,
    /// Positions plus one; 0 if there is none.
    table: Vec<u32>,
}

impl Encoder {
    pub(super) fn new(table_bits: u32) -> Self {
        Encoder {
            table_bits,
            table: vec![0; 1 << table_bits],
        }
    }

    /// Compresses a block; `None` if the output is full.
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Option<usize> {
        self.table.fill(0);
        let mut writer = Writer::new(output);
        let (mut place, mut anchor) = (1, 0);
        let mut failed = 0;
        while let Some(word) = input.get(place..).and_then(|rest| rest.first_chunk()) {
            let hash = (u32::from_le_bytes(*word).wrapping_mul(0x9e37_79b1)
                >> (32 - self.table_bits)) as usize;
            let found = std::mem::replace(&mut self.table[hash], place as u32 + 1) as usize;
            let matches = |start: usize| {
                place - start <= MAX_DISTANCE && input[start..start + MIN_MATCH] == *word
            };
            let Some(mut start) = found.checked_sub(1).filter(|&start| matches(start)) else {
                failed += 1;
                place += 1 + (failed >> SKIP_BITS);
                continue;
            };
            failed = 0;
            let distance = place - start;
            while place > anchor && start > 0 && input[place - 1] == input[start - 1] {
                place -= 1;
                start -= 1;
            }
            let length = common(input, start, place);
            writer.literals(&input[anchor..place]);
            writer.copy(length, distance);
            if writer.is_full() {
                return None;
            }
            place += length;
            anchor = place;
        }
        writer.literals(&input[anchor..]);
        writer.finish()
    }
}

/// Number of equal bytes from `start` and from `place` on, where `place` is later.
#[inline]
pub(super) fn common(input: &[u8], start: usize, place: usize) -> usize {
    let ahead = &input[place..];
    let behind = &input[start..start + ahead.len()];
    let (ahead_words, _) = ahead.as_chunks::<8>();
    let (behind_words, _) = behind.as_chunks::<8>();
    let mut length = 0;
    for (one, other) in ahead_words.iter().zip(behind_words) {
        let difference = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if difference != 0 {
            return length + difference.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = ahead[length..].iter().zip(&behind[length..]);
    length + rest.take_while(|(one, other)| one == other).count()
}
