//! Which object is where in a pack.

use crate::entry::PACK_HEADER_BYTES;
use crate::index::PackIndex;
use crate::order;
use crate::reverse::ReverseIndex;

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
    let positions = order::sorted(index.count() as usize, offset, 1);
    if rises(positions.iter().map(|at| index.offset(*at)), end) {
        Ok(positions)
    } else {
        Err("the offsets of its index make no sense".into())
    }
}

/// Whether `offsets` start with that of the first entry of a pack and rise up to below `end`. As
/// many different offsets as there are objects are those of all of them.
pub(crate) fn rises(mut offsets: impl Iterator<Item = Option<u64>>, end: u64) -> bool {
    let Some(first) = offsets.next() else {
        return end == PACK_HEADER_BYTES;
    };
    if first != Some(PACK_HEADER_BYTES) {
        return false;
    }
    let mut last = PACK_HEADER_BYTES;
    offsets.all(|offset| offset.is_some_and(|next| std::mem::replace(&mut last, next) < next))
        && last < end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_rise_from_the_first_entry_to_the_end() {
        let rises = |offsets: &[u64], end| rises(offsets.iter().copied().map(Some), end);
        assert!(rises(&[], 12) && rises(&[12, 20, 30], 31));
        for (offsets, end) in [
            (&[][..], 13),
            (&[13, 20], 30),
            (&[12, 20, 20], 30),
            (&[12, 30, 20], 40),
            (&[12, 30], 30),
        ] {
            assert!(!rises(offsets, end), "{offsets:?} {end}");
        }
    }
}
