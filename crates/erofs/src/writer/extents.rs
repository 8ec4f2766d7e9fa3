//! Where the blocks of a content are.

/// The first block of a run that is a hole.
pub(super) const HOLE: u32 = u32::MAX;

/// Blocks one behind the other, or holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The first block, or [`HOLE`].
    pub first: u32,
    pub count: u32,
}

impl Run {
    fn is_hole(self) -> bool {
        self.first == HOLE
    }
}

/// The blocks of a content in order, as few runs as possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extents(Vec<Run>);

/// Size of a chunk of the largest size that the format has, as a power of two of blocks; and a limit
/// that keeps sizes in bytes below 2^63.
const CHUNK_BITS: u32 = 31;

impl Extents {
    /// Adds a block.
    pub(super) fn push(&mut self, block: u32) {
        self.add(Run {
            first: block,
            count: 1,
        });
    }

    /// Adds holes.
    pub(super) fn push_holes(&mut self, mut blocks: u64) {
        while blocks > 0 {
            let count = u32::try_from(blocks).unwrap_or(u32::MAX);
            self.add(Run { first: HOLE, count });
            blocks -= u64::from(count);
        }
    }

    fn add(&mut self, run: Run) {
        if let Some(last) = self.0.last_mut() {
            let follows = if run.is_hole() {
                last.is_hole()
            } else {
                !last.is_hole() && last.first.checked_add(last.count) == Some(run.first)
            };
            if let Some(count) = last.count.checked_add(run.count).filter(|_| follows) {
                last.count = count;
                return;
            }
        }
        self.0.push(run);
    }

    /// The runs in order.
    pub(super) fn runs(&self) -> &[Run] {
        &self.0
    }

    /// The first block, if all are one behind the other and none is a hole.
    pub(super) fn contiguous(&self) -> Option<u32> {
        match self.0.as_slice() {
            [] => Some(HOLE),
            [run] if !run.is_hole() => Some(run.first),
            _ => None,
        }
    }

    /// Replaces the blocks that are not holes by the given ones, in order.
    pub(super) fn replace(&mut self, mut blocks: impl Iterator<Item = u32>) {
        for run in std::mem::take(&mut self.0) {
            if run.is_hole() {
                self.add(run);
                continue;
            }
            for block in blocks.by_ref().take(run.count as usize) {
                self.push(block);
            }
        }
    }

    /// The size of the largest chunks of which each is contiguous or a hole, as a power of two of
    /// blocks. The last chunk may be shorter.
    pub(super) fn chunk_bits(&self) -> u32 {
        let (mut bits, mut position) = (CHUNK_BITS, 0u64);
        for run in &self.0 {
            if position > 0 {
                bits = bits.min(position.trailing_zeros());
            }
            position += u64::from(run.count);
        }
        // Not larger than the content, so that no chunk is much longer than what it holds.
        bits.min(u64::BITS - position.saturating_sub(1).leading_zeros())
    }

    /// The first block of each chunk, or [`HOLE`].
    pub(super) fn chunks(&self, bits: u32) -> impl Iterator<Item = u32> + '_ {
        // Every run but the last is a multiple of a chunk.
        self.0.iter().flat_map(move |run| {
            let chunks = u64::from(run.count).div_ceil(1 << bits);
            (0..chunks).map(move |chunk| match run.first {
                HOLE => HOLE,
                first => first + (chunk << bits) as u32,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(runs: &[(u32, u32)]) -> Extents {
        let mut extents = Extents::default();
        for (first, count) in runs {
            match *first {
                HOLE => extents.push_holes(u64::from(*count)),
                first => (first..first + count).for_each(|block| extents.push(block)),
            }
        }
        extents
    }

    #[test]
    fn neighbours_are_one_run() {
        assert_eq!(extents(&[(5, 3), (8, 2)]).contiguous(), Some(5));
        assert_eq!(extents(&[(5, 3), (9, 2)]).contiguous(), None);
        assert_eq!(extents(&[(HOLE, 3)]).contiguous(), None);
        assert_eq!(extents(&[]).contiguous(), Some(HOLE));
        let mut moved = extents(&[(5, 2), (HOLE, 3), (9, 1)]);
        moved.replace([70, 71, 80].into_iter());
        assert_eq!(moved, extents(&[(70, 2), (HOLE, 3), (80, 1)]));
    }

    #[test]
    fn chunks_are_as_large_as_the_runs_allow() {
        for (runs, bits, chunks) in [
            (
                &[(5, 4), (HOLE, 8), (20, 3)][..],
                2,
                &[5, HOLE, HOLE, 20][..],
            ),
            (&[(5, 3), (HOLE, 1)], 0, &[5, 6, 7, HOLE]),
            (&[(HOLE, 5)], 3, &[HOLE]),
            (&[(HOLE, 1)], 0, &[HOLE]),
            (&[(HOLE, 8), (7, 1)], 3, &[HOLE, 7]),
            (&[(HOLE, 16), (7, 9)], 4, &[HOLE, 7]),
        ] {
            let extents = extents(runs);
            assert_eq!(extents.chunk_bits(), bits, "{runs:?}");
            let found: Vec<u32> = extents.chunks(bits).collect();
            assert_eq!(found, chunks, "{runs:?}");
        }
    }
}
