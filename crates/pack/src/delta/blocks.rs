/// Bytes of a block: matches shorter than this are not found.
pub(super) const BLOCK: usize = 16;
/// The most blocks of one bucket: contents that repeat must not cost the square of their length.
const MAX_IN_BUCKET: usize = 64;
/// The filter has this many bits for each block, so that it says yes in vain once in that many.
const FILTER_BITS: usize = 16;

/// The hash of a block.
#[inline]
pub(super) fn hash(block: &[u8]) -> u32 {
    let (low, high) = block.split_at(8);
    let (low, high) = (word(low), word(high));
    let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high.rotate_left(32);
    (mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32
}

/// The first eight bytes as a number.
#[inline]
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The blocks of a base by their hashes: buckets by the high bits.
#[derive(Debug)]
pub(super) struct Blocks {
    /// A bit for each value of the high bits of a hash; small enough for the nearest cache.
    filter: Vec<u64>,
    filter_shift: u32,
    /// Where each bucket starts in `blocks`, and where the last one ends.
    starts: Vec<u32>,
    shift: u32,
    /// Hash and position in the base, by bucket, then position.
    blocks: Vec<(u32, u32)>,
}

impl Blocks {
    pub fn new(base: &[u8]) -> Self {
        let count = base.len() / BLOCK;
        let bits = count.max(16).next_power_of_two().ilog2().min(28);
        let filter_bits = (bits + FILTER_BITS.ilog2()).min(31);
        let mut made = Blocks {
            filter: vec![0; 1 << (filter_bits - 6)],
            filter_shift: 32 - filter_bits,
            starts: vec![0; (1 << bits) + 1],
            shift: 32 - bits,
            blocks: Vec::new(),
        };
        let hashes: Vec<u32> = base.chunks_exact(BLOCK).map(hash).collect();
        made.place(&hashes);
        made.thin_out();
        made
    }

    /// Sorts the blocks into their buckets by counting. Of equal blocks in a row, the first one
    /// stands for all.
    fn place(&mut self, hashes: &[u32]) {
        let distinct = || {
            let previous = std::iter::once(None).chain(hashes.iter().copied().map(Some));
            let numbered = hashes.iter().copied().zip(0_u32..).zip(previous);
            numbered.filter(|((hash, _), previous)| *previous != Some(*hash))
        };
        let (filter_shift, shift) = (self.filter_shift, self.shift);
        let mut count = 0;
        for ((hash, _), _) in distinct() {
            let bit = hash >> filter_shift;
            self.filter[(bit >> 6) as usize] |= 1 << (bit & 63);
            self.starts[(hash >> shift) as usize] += 1;
            count += 1;
        }
        // The ends of the buckets; placing the blocks backwards makes them starts.
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.blocks = vec![(0, 0); count];
        // Backwards, so that a bucket is in the order of positions.
        for at in (0..hashes.len()).rev() {
            let hash = hashes[at];
            if at > 0 && hashes[at - 1] == hash {
                continue;
            }
            let start = &mut self.starts[(hash >> shift) as usize];
            *start -= 1;
            self.blocks[*start as usize] = (hash, (at * BLOCK) as u32);
        }
    }

    /// Leaves [`MAX_IN_BUCKET`] blocks, evenly spread, in buckets that have more.
    fn thin_out(&mut self) {
        let is_full = |pair: &[u32]| (pair[1] - pair[0]) as usize > MAX_IN_BUCKET;
        if !self.starts.windows(2).any(is_full) {
            return;
        }
        let mut kept = Vec::with_capacity(self.blocks.len());
        let mut start = 0;
        for bucket in 0..self.starts.len() - 1 {
            let end = self.starts[bucket + 1] as usize;
            let length = end - start;
            self.starts[bucket] = kept.len() as u32;
            let stays = |number: usize| {
                let share = |number| number * MAX_IN_BUCKET / length;
                length <= MAX_IN_BUCKET || share(number + 1) > share(number)
            };
            let staying = (start..end).filter(|at| stays(at - start));
            kept.extend(staying.map(|at| self.blocks[at]));
            start = end;
        }
        if let Some(end) = self.starts.last_mut() {
            *end = kept.len() as u32;
        }
        self.blocks = kept;
    }

    /// Whether there may be a block of that hash.
    #[inline]
    pub fn may_have(&self, hash: u32) -> bool {
        let bit = hash >> self.filter_shift;
        let word = self.filter.get((bit >> 6) as usize);
        word.is_some_and(|word| word >> (bit & 63) & 1 != 0)
    }

    /// Where the blocks of that hash are, from the start of the base on.
    pub fn of(&self, hash: u32) -> impl Iterator<Item = usize> + '_ {
        let bucket = (hash >> self.shift) as usize;
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        let blocks = &self.blocks[start as usize..end as usize];
        let same = blocks.iter().filter(move |(other, _)| *other == hash);
        same.map(|(_, at)| *at as usize)
    }

    pub fn size_bytes(&self) -> usize {
        self.filter.len() * 8 + self.starts.len() * 4 + self.blocks.len() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_thinned_out_evenly() {
        // Two contents in turn, so that no two blocks in a row are equal.
        let base: Vec<u8> = (0..2000_usize)
            .flat_map(|n| [(n % 2) as u8; BLOCK])
            .collect();
        let blocks = Blocks::new(&base);
        let ones: Vec<usize> = blocks.of(hash(&[1; BLOCK])).collect();
        assert_eq!(ones.len(), MAX_IN_BUCKET);
        assert!(ones.is_sorted() && ones.iter().all(|at| base[*at] == 1));
        let gaps = ones.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().max().unwrap() <= 2 * gaps.min().unwrap());
        assert!(blocks.may_have(hash(&[0; BLOCK])));
        assert_eq!(blocks.of(hash(&[2; BLOCK])).count(), 0);
    }

    #[test]
    fn of_equal_blocks_in_a_row_the_first_is_kept() {
        let base = [[7; BLOCK * 5], [8; BLOCK * 5]].concat();
        let blocks = Blocks::new(&base);
        assert_eq!(blocks.of(hash(&[7; BLOCK])).collect::<Vec<_>>(), [0]);
        assert_eq!(
            blocks.of(hash(&[8; BLOCK])).collect::<Vec<_>>(),
            [5 * BLOCK]
        );
    }
}
