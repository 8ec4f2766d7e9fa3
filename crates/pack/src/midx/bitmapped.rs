//! The chunks of a multi-pack-index that serve its bitmap: gitformat-pack(5), RIDX and BTMP.

use crate::format::big_endian::u32_at;

/// Length of a row of the chunk BTMP: the first bit of a pack, and its number of bits.
pub(super) const BITMAPPED_ROW_BYTES: usize = 8;

/// The objects in pseudo-pack order: those of the preferred pack, then those of the others by
/// their numbers, in each by offset. The bits of a bitmap are in this order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PseudoPackOrder<'m> {
    chunk: &'m [u8],
    count: u32,
}

impl<'m> PseudoPackOrder<'m> {
    /// The order of `count` objects stored in `chunk`.
    pub fn new(chunk: &'m [u8], count: u32) -> Self {
        PseudoPackOrder { chunk, count }
    }

    /// The position, in order of ids, of the object with `bit`.
    pub fn position(&self, bit: u32) -> Option<u32> {
        u32_at(self.chunk, bit as usize * 4).filter(|found| *found < self.count)
    }
}

/// The number of the pack that owns the first bit, according to the chunk BTMP.
pub(super) fn preferred_pack(chunk: &[u8]) -> Option<u32> {
    let rows = chunk.chunks_exact(BITMAPPED_ROW_BYTES);
    let is_first = |row: &[u8]| u32_at(row, 0) == Some(0) && u32_at(row, 4) > Some(0);
    (0..)
        .zip(rows)
        .find_map(|(number, row)| is_first(row).then_some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_without_objects_have_no_first_bit() {
        let chunk = |rows: &[(u32, u32)]| -> Vec<u8> {
            let numbers = rows.iter().flat_map(|(bit, count)| [*bit, *count]);
            numbers.flat_map(u32::to_be_bytes).collect()
        };
        assert_eq!(preferred_pack(&chunk(&[(0, 0), (7, 2), (0, 7)])), Some(2));
        assert_eq!(preferred_pack(&chunk(&[(0, 0)])), None);
        assert_eq!(preferred_pack(&[]), None);
    }

    #[test]
    fn positions_are_in_range() {
        let order = PseudoPackOrder::new(&[0, 0, 0, 1, 0, 0, 0, 2], 2);
        assert_eq!(
            [0, 1, 2].map(|bit| order.position(bit)),
            [Some(1), None, None]
        );
    }
}
