use super::members::{Key, Members};
use crate::database::store::ObjectStore;
use crate::format::big_endian::u32_at;
use crate::midx::PseudoPackOrder;
use crate::object::Location;
use crate::pack_file::pack::Pack;
use crate::pack_file::pack_order::PackOrder;
use crate::pack_file::reverse::ReverseIndex;
use gix_hash::{oid, Kind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// After one search per this many objects, a table of all bits is cheaper than further searches.
const OBJECTS_PER_SEARCH: u32 = 32;
/// Marks a row without a bit in the table of bits.
const NO_BIT: u32 = u32::MAX;

/// The order in which bitmaps number objects. Objects of a pack are in the order of their offsets;
/// those of a multi-pack-index are in pseudo-pack order: first all those of the preferred pack,
/// then those of the others, pack by pack.
#[derive(Debug)]
pub struct BitOrder<'s> {
    pub(super) members: Members<'s>,
    rows: Rows<'s>,
    /// The bit of each row, built after many searches.
    bits: OnceLock<Vec<u32>>,
    searches: AtomicU32,
}

/// A range of bits that belong to one pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderPart {
    /// The number of the pack in the store.
    pub pack: u32,
    /// The bits, in the order of offsets in the pack.
    pub bits: Range<u32>,
}

/// The row of each bit.
#[derive(Debug)]
pub(super) enum Rows<'s> {
    /// From the order of the pack.
    Pack(PackOrder<'s>),
    /// From the reverse index file beside the multi-pack-index.
    Mapped(ReverseIndex),
    /// From a chunk of the multi-pack-index.
    Chunk(PseudoPackOrder<'s>),
    /// Computed, if the multi-pack-index has no usable order.
    Sorted(Vec<u32>),
}

impl<'s> BitOrder<'s> {
    /// The order of `pack`, whose number in its store is `number`. Its index is hashed: a wrong id
    /// in it would be a wrong answer. The error is a reason.
    pub(crate) fn of_pack(pack: &'s Pack, number: u32) -> Result<Self, &'s str> {
        let index = pack.whole_index()?;
        let rows = Rows::Pack(pack.order()?);
        let members = Members::Pack {
            pack,
            number,
            index,
        };
        Ok(Self::new(members, rows))
    }

    pub(super) fn new(members: Members<'s>, rows: Rows<'s>) -> Self {
        BitOrder {
            members,
            rows,
            bits: OnceLock::new(),
            searches: AtomicU32::new(0),
        }
    }

    /// Number of objects.
    pub fn count(&self) -> u32 {
        self.members.count()
    }

    /// The id of the object with this bit.
    pub fn id(&self, bit: u32) -> Option<&'s oid> {
        oid::try_from_bytes(self.members.id(self.row(bit)?)?).ok()
    }

    /// The bit of the object `id`; `None` if it is not covered.
    pub fn bit(&self, id: &oid) -> Option<u32> {
        self.bit_of_row(self.members.row(id.as_bytes())?)
    }

    /// The location of the object with this bit.
    pub fn location(&self, bit: u32) -> Option<Location> {
        self.members.location(self.row(bit)?)
    }

    /// Bytes of the entry of the object with this bit, if the order tells: in that of one pack, which
    /// was checked, the next object's entry is the next one.
    pub fn entry_bytes(&self, bit: u32) -> Option<u64> {
        let Members::Pack { pack, index, .. } = &self.members else {
            return None;
        };
        let start = index.offset(self.row(bit)?)?;
        let end = if bit + 1 < self.count() {
            index.offset(self.row(bit + 1)?)?
        } else {
            pack.data().ok()?.len() as u64
        };
        end.checked_sub(start)
    }

    /// The packs that contribute objects, in order. A pack whose objects were all taken from others
    /// is not included.
    pub fn parts(&self) -> Vec<OrderPart> {
        let mut parts = Vec::new();
        let mut start = 0;
        while start < self.count() {
            let rank = |bit| Some(self.key(bit)?.0);
            let first = rank(start);
            let end = first_bit(start, self.count(), |bit| rank(bit) > first).max(start + 1);
            if let Some(Location::Packed { pack, .. }) = self.location(start) {
                let bits = start..end;
                parts.push(OrderPart { pack, bits });
            }
            start = end;
        }
        parts
    }

    /// The path of the pack or multi-pack-index.
    pub fn path(&self) -> &'s Path {
        self.members.path()
    }

    /// The hash function of the ids.
    pub(crate) fn hash_kind(&self) -> Kind {
        self.members.hash_kind()
    }

    /// The checksum of the pack or multi-pack-index.
    pub(crate) fn checksum(&self) -> &'s [u8] {
        self.members.checksum()
    }

    /// The path of the bitmaps of these objects.
    pub(crate) fn bitmap_path(&self) -> PathBuf {
        self.members.bitmap_path()
    }

    /// The row, in order of ids, of the object with this bit.
    pub(crate) fn row(&self, bit: u32) -> Option<u32> {
        self.rows.of_bit(bit)
    }

    /// The bit of the object in a row.
    pub(crate) fn bit_of_row(&self, row: u32) -> Option<u32> {
        let bits = match self.bits.get() {
            Some(bits) => bits,
            None if self.searches.fetch_add(1, Ordering::Relaxed) < self.search_limit() => {
                let bit = self.bit_of_key(self.members.key(row)?, self.count())?;
                return (self.row(bit) == Some(row)).then_some(bit);
            }
            None => self.bits.get_or_init(|| self.all_bits()),
        };
        bits.get(row as usize).copied().filter(|bit| *bit != NO_BIT)
    }

    /// Number of searches after which the table of all bits is built.
    fn search_limit(&self) -> u32 {
        self.count() / OBJECTS_PER_SEARCH
    }

    /// The bit, below `end`, of the object with the sort key `key`.
    pub(super) fn bit_of_key(&self, key: Key, end: u32) -> Option<u32> {
        let bit = first_bit(0, end, |bit| self.key(bit) >= Some(key));
        (bit < end && self.key(bit) == Some(key)).then_some(bit)
    }

    fn key(&self, bit: u32) -> Option<Key> {
        self.members.key(self.row(bit)?)
    }

    fn all_bits(&self) -> Vec<u32> {
        let mut bits = vec![NO_BIT; self.count() as usize];
        for bit in 0..self.count() {
            let slot = self.row(bit).and_then(|row| bits.get_mut(row as usize));
            if let Some(slot) = slot {
                *slot = bit;
            }
        }
        bits
    }
}

impl ObjectStore {
    /// The order in which bitmaps number the objects of the pack `number`.
    ///
    /// # Errors
    /// The reason why the pack or its index cannot be used.
    pub fn pack_order(&self, number: u32) -> Result<BitOrder<'_>, &str> {
        let pack = self.pack(number).ok_or("no such pack")?;
        BitOrder::of_pack(pack, number)
    }
}

impl Rows<'_> {
    pub fn of_bit(&self, bit: u32) -> Option<u32> {
        match self {
            Rows::Pack(order) => order.position(bit),
            Rows::Mapped(reverse) => reverse.position(bit),
            Rows::Chunk(order) => order.position(bit),
            Rows::Sorted(rows) => rows.get(bit as usize).copied(),
        }
    }
}

/// The first bit from `low` to `high` for which `is_after` is true; `high` if there is none.
fn first_bit(mut low: u32, mut high: u32, is_after: impl Fn(u32) -> bool) -> u32 {
    while low < high {
        let middle = low + (high - low) / 2;
        if is_after(middle) {
            high = middle
        } else {
            low = middle + 1
        }
    }
    low
}

/// The checksum at `at` in `data`.
pub(crate) fn checksum_at(data: &[u8], at: usize, hash: Kind) -> Option<&[u8]> {
    data.get(at..at.checked_add(hash.len_in_bytes())?)
}

/// The 32-bit number in a row of a table at `start`.
pub(crate) fn number_at(data: &[u8], start: usize, row: u32) -> Option<u32> {
    u32_at(data, start.checked_add((row as usize).checked_mul(4)?)?)
}
