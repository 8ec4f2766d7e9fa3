use super::big_endian::u32_at;
use std::cmp::Ordering;
use std::ops::Range;

/// Entries of a fanout table.
const FANOUT: usize = 256;
/// Bytes of a fanout table.
pub(crate) const FANOUT_BYTES: usize = FANOUT * 4;
/// Guesses by what is left of an id before bisecting, which bounds the work on ids that are not random.
const GUESSES: usize = 4;

/// Bits of the part of an id that guesses go by.
const KEY_BITS: u32 = 32;

/// A sorted table of object ids in a mapped file, with the fanout by first byte before it: the
/// heart of a pack index and of a multi-pack-index.
#[derive(Debug)]
pub(crate) struct IdTable {
    /// `bounds[b]..bounds[b + 1]` are the positions of the ids whose first byte is `b`.
    bounds: Box<[u32; FANOUT + 1]>,
    /// Where the id of position 0 starts in the file.
    start: usize,
    /// Bytes from one id to the next.
    stride: usize,
    hash_len: usize,
}

impl IdTable {
    /// Reads the fanout at `fanout` in `data`. `None` if it is outside or decreases. The caller
    /// checks that the table itself fits the data: `start + count * stride`.
    pub fn new(
        data: &[u8],
        fanout: usize,
        start: usize,
        stride: usize,
        hash_len: usize,
    ) -> Option<Self> {
        let mut bounds = Box::new([0; FANOUT + 1]);
        let mut previous = 0;
        for (index, bound) in bounds.iter_mut().skip(1).enumerate() {
            let value = u32_at(data, fanout.checked_add(index * 4)?)?;
            if value < previous {
                return None;
            }
            (previous, *bound) = (value, value);
        }
        Some(IdTable {
            bounds,
            start,
            stride,
            hash_len,
        })
    }

    /// How many ids there are.
    pub fn count(&self) -> u32 {
        self.bounds[FANOUT]
    }

    /// The id at `position`.
    pub fn id<'d>(&self, data: &'d [u8], position: u32) -> Option<&'d [u8]> {
        let start = self.start + position as usize * self.stride;
        data.get(start..start + self.hash_len)
    }

    /// The position of `id`. Of equal ids any one is found; in a table that is not sorted, an id
    /// may not be.
    pub fn lookup(&self, data: &[u8], id: &[u8]) -> Option<u32> {
        let Range { start, end } = self.of_first_byte(*id.first()?);
        let (mut low, mut high) = (start, end);
        let key = spread_key(id);
        // Ids are hashes: within a first byte they are spread evenly, so that the distance of two keys
        // tells how far they are apart.
        let density = u64::from(end - start);
        let mut guess = start + ((density * u64::from(key)) >> KEY_BITS) as u32;
        for number in 0.. {
            if low >= high {
                return None;
            }
            if number >= GUESSES {
                guess = low + (high - low) / 2;
            }
            let found = self.id(data, guess)?;
            let found_key = spread_key(found);
            // What follows the first byte decides nearly always, without a call to compare the rest.
            match found_key.cmp(&key).then_with(|| found.cmp(id)) {
                Ordering::Equal => return Some(guess),
                Ordering::Less => {
                    low = guess + 1;
                    let step = (density * u64::from(key - found_key)) >> KEY_BITS;
                    guess = low.saturating_add(step as u32).min(high.saturating_sub(1));
                }
                Ordering::Greater => {
                    high = guess;
                    let step = (density * u64::from(found_key - key)) >> KEY_BITS;
                    guess = high.saturating_sub(1).saturating_sub(step as u32).max(low);
                }
            }
        }
        None
    }

    /// Whether the ids ascend and are where the fanout says: [`IdTable::lookup`] finds each one.
    pub fn is_sorted(&self, data: &[u8]) -> bool {
        let ids = |range: Range<u32>| range.map(|position| self.id(data, position));
        let is_sorted = |byte: u8| {
            let range = self.of_first_byte(byte);
            ids(range.clone()).all(|id| id.and_then(|id| id.first()) == Some(&byte))
                && ids(range).is_sorted_by(|a, b| a <= b)
        };
        (0..=u8::MAX).all(is_sorted)
    }

    /// The positions whose ids have the first byte `byte`.
    pub fn of_first_byte(&self, byte: u8) -> Range<u32> {
        let byte = usize::from(byte);
        self.bounds[byte]..self.bounds[byte + 1]
    }

    /// The first position from which on `order` says that ids are not less.
    pub fn lower_bound(&self, data: &[u8], order: impl Fn(&[u8]) -> Ordering) -> u32 {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(data, middle).map(&order) {
                Some(Ordering::Less) => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

/// The bytes of an id that follow the first, as a number.
fn spread_key(id: &[u8]) -> u32 {
    u32_at(id, 1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The fanout and the table of `ids`.
    fn table(ids: &[[u8; 20]]) -> (Vec<u8>, IdTable) {
        let mut data = Vec::new();
        for first in 0..=255_u8 {
            let count = ids.iter().filter(|id| id[0] <= first).count() as u32;
            data.extend_from_slice(&count.to_be_bytes());
        }
        data.extend(ids.iter().flatten());
        let ids = IdTable::new(&data, 0, FANOUT_BYTES, 20, 20).unwrap();
        (data, ids)
    }

    /// Ids that share long beginnings as often as not, as a hostile table's may.
    fn any_id() -> impl Strategy<Value = [u8; 20]> {
        (any::<[u8; 20]>(), 0_usize..20, 0_u8..3).prop_map(|(mut id, from, fill)| {
            id[..from].fill(fill);
            id
        })
    }

    #[test]
    fn a_fanout_that_decreases_or_ends_early_is_refused() {
        let (mut data, _) = table(&[[3; 20], [9; 20]]);
        assert!(IdTable::new(&data[..FANOUT_BYTES - 1], 0, FANOUT_BYTES, 20, 20).is_none());
        data[4 * 8 + 3] = 5;
        assert!(IdTable::new(&data, 0, FANOUT_BYTES, 20, 20).is_none());
    }

    proptest! {
        #[test]
        fn every_id_is_found_and_no_other(
            mut ids in prop::collection::vec(any_id(), 0..300), other in any_id(),
        ) {
            ids.sort_unstable();
            ids.dedup();
            let (data, table) = table(&ids);
            prop_assert!(table.is_sorted(&data));
            for (position, id) in ids.iter().enumerate() {
                prop_assert_eq!(table.lookup(&data, id), Some(position as u32));
                prop_assert_eq!(table.lower_bound(&data, |found| found.cmp(id)), position as u32);
            }
            let expected = ids.binary_search(&other).ok().map(|position| position as u32);
            prop_assert_eq!(table.lookup(&data, &other), expected);
        }

        #[test]
        fn a_table_that_is_not_sorted_ends_the_search_all_the_same(
            ids in prop::collection::vec(any_id(), 0..100), wanted in any_id(),
        ) {
            let (data, table) = table(&ids);
            prop_assert_eq!(table.is_sorted(&data), ids.is_sorted());
            if let Some(position) = table.lookup(&data, &wanted) {
                prop_assert_eq!(table.id(&data, position), Some(wanted.as_slice()));
            }
            table.lookup(&data[..data.len() / 2], &wanted);
        }
    }
}
