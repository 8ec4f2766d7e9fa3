use crate::big_endian::u32_at;
use std::cmp::Ordering;
use std::ops::Range;

/// Entries of a fanout table.
const FANOUT: usize = 256;
/// Bytes of a fanout table.
pub(crate) const FANOUT_BYTES: usize = FANOUT * 4;
/// Guesses by interpolation before bisecting, which bounds the work on ids that are not random.
const GUESSES: usize = 3;

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
        let (mut low_key, mut high_key) = (0, u64::from(u32::MAX));
        for guess in 0.. {
            if low >= high {
                return None;
            }
            let middle = if guess < GUESSES && low_key < high_key {
                // Ids are hashes: within a first byte they are spread evenly.
                let share = key.clamp(low_key, high_key) - low_key;
                low + (u64::from(high - low - 1) * share / (high_key - low_key)) as u32
            } else {
                low + (high - low) / 2
            };
            let found = self.id(data, middle)?;
            match found.cmp(id) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => (low, low_key) = (middle + 1, spread_key(found)),
                Ordering::Greater => (high, high_key) = (middle, spread_key(found)),
            }
        }
        None
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
fn spread_key(id: &[u8]) -> u64 {
    u64::from(u32_at(id, 1).unwrap_or_default())
}
