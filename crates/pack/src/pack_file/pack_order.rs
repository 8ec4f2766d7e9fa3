//! Which object is where in a pack.

use super::index::{rises, PackIndex};
use super::reverse::ReverseIndex;
use super::sort;

/// The positions in the index of the entries of a pack, in order of their offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PackOrder<'p> {
    /// As the reverse index says, which was checked.
    File(&'p ReverseIndex),
    /// Computed, for a pack without one that can be used.
    Memory(&'p [u32]),
}

impl PackOrder<'_> {
    /// The position in the index of the entry `order`, counted from 0.
    pub fn position(self, order: u32) -> Option<u32> {
        match self {
            PackOrder::File(reverse) => reverse.position(order),
            PackOrder::Memory(positions) => positions.get(order as usize).copied(),
        }
    }
}

/// The positions in `index`, that of a pack whose entries end at `end`, in order of offsets. An
/// error is a reason.
pub(crate) fn computed(index: &PackIndex, end: u64) -> Result<Vec<u32>, String> {
    let offset = |position: usize| index.offset(position as u32).unwrap_or(u64::MAX);
    let positions = sort::sorted(index.count() as usize, offset, 1);
    if rises(positions.iter().map(|at| index.offset(*at)), end) {
        Ok(positions)
    } else {
        Err("the offsets of its index make no sense".into())
    }
}
