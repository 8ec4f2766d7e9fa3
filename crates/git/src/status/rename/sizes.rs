//! The sizes of contents, which decide which of them are worth reading.

use super::similarity::{is_comparable, sizes_allow};
use super::{spread, Contents, Score, Side};
use crate::Result;
use hedgerow_engine::Options;

/// The size of each side; `None` for sides that are similar to nothing.
pub(super) fn sizes<C: Contents>(
    sides: &[&Side],
    contents: &C,
    engine: &Options,
) -> Result<Vec<Option<u64>>> {
    spread::map(
        contents,
        engine,
        sides.len(),
        || (),
        |worker, (), at| {
            let side = sides[at];
            if is_comparable(side) {
                contents.size(worker, side)
            } else {
                Ok(None)
            }
        },
    )
}

/// Sorted sizes, to check whether one is close enough to a given size.
pub(super) struct Partners {
    sorted: Vec<u64>,
    minimum: Score,
}

impl Partners {
    pub fn new(sizes: &[Option<u64>], minimum: Score) -> Self {
        let mut sorted: Vec<u64> = sizes.iter().copied().flatten().collect();
        sorted.sort_unstable();
        Partners { sorted, minimum }
    }

    /// Whether any of them allows a content of `size` to be similar. Only the nearest are checked.
    pub fn has_any(&self, size: Option<u64>) -> bool {
        let Some(size) = size else { return false };
        let at = self.sorted.partition_point(|other| *other < size);
        let below = at.checked_sub(1).and_then(|below| self.sorted.get(below));
        let mut nearest = below.into_iter().chain(self.sorted.get(at));
        nearest.any(|other| sizes_allow(size, *other, self.minimum))
    }
}
