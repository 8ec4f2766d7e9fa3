use super::Words;
use crate::big_endian::u32_at;
use crate::entry::EntryKind;
use crate::hashed_file::TrailerHasher;
use crate::index::PackIndex;
use crate::map::Map;
use crate::pack::Pack;
use crate::pack_order::PackOrder;
use crate::{Fault, Location};
use gix_hash::{oid, Kind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// After so many searches for the bit of a row, one table of all bits is cheaper.
const SEARCHES: u32 = 4096;
/// In the table of bits: the row has none.
const NO_BIT: u32 = u32::MAX;

/// The order in which bitmaps number the objects of a pack: that of their offsets.
#[derive(Debug)]
pub struct BitOrder<'s> {
    pack: &'s Pack,
    number: u32,
    index: &'s PackIndex,
    order: PackOrder<'s>,
    /// The bit of each row, once that has been asked for often.
    bits: OnceLock<Vec<u32>>,
    searches: AtomicU32,
}

impl<'s> BitOrder<'s> {
    /// The order of `pack`, whose number in its store is `number`. An error is a reason.
    pub(crate) fn of_pack(pack: &'s Pack, number: u32) -> Result<Self, &'s str> {
        Ok(BitOrder {
            pack,
            number,
            index: pack.index()?,
            order: pack.order()?,
            bits: OnceLock::new(),
            searches: AtomicU32::new(0),
        })
    }

    /// The kinds of all objects, by what their entries say; those that are deltas have that of
    /// their base. In the order of [`BitmapContents::kinds`](super::BitmapContents::kinds).
    ///
    /// # Errors
    /// The offset of an entry that cannot be read, with what is wrong.
    pub fn kinds(&self) -> Result<[Words; 4], (u64, Fault)> {
        let mut kinds = [(); 4].map(|()| Words::with_bits(self.count() as usize));
        // Deltas whose base is not before them in the pack: settled when all others are.
        let mut pending: Vec<(u32, u32)> = Vec::new();
        for bit in 0..self.count() {
            let offset = self.row(bit).and_then(|row| self.index.offset(row));
            let offset = offset.ok_or((0, Fault::Outside))?;
            let (entry, _) = self.pack.entry(offset).map_err(|fault| (offset, fault))?;
            let base = match entry.kind {
                EntryKind::Whole(kind) => {
                    set_kind(&mut kinds, bit, kind as usize);
                    continue;
                }
                EntryKind::OffsetDelta(base) => self.bit_at(base, bit),
                EntryKind::ReferenceDelta(id) => self.bit(&id),
            };
            let base = base.ok_or((offset, Fault::BaseOffset))?;
            match kind_number(&kinds, base) {
                Some(kind) => set_kind(&mut kinds, bit, kind),
                None => pending.push((bit, base)),
            }
        }
        while !pending.is_empty() {
            let before = pending.len();
            pending.retain(|(bit, base)| match kind_number(&kinds, *base) {
                Some(kind) => {
                    set_kind(&mut kinds, *bit, kind);
                    false
                }
                None => true,
            });
            if pending.len() == before {
                return Err((0, Fault::Loop));
            }
        }
        Ok(kinds)
    }

    /// The bit of the entry at `offset`, which is below `end`.
    fn bit_at(&self, offset: u64, end: u32) -> Option<u32> {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.index.offset(self.row(middle)?)?.cmp(&offset) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// How many objects there are.
    pub fn count(&self) -> u32 {
        self.index.count()
    }

    /// The id of the object with this bit.
    pub fn id(&self, bit: u32) -> Option<&'s oid> {
        self.id_of_row(self.row(bit)?)
    }

    /// The bit of the object `id`; `None` if it is not among them.
    pub fn bit(&self, id: &oid) -> Option<u32> {
        let (ids, data) = self.index.ids();
        self.bit_of_row(ids.lookup(data, id.as_bytes())?)
    }

    /// Where the object with this bit is.
    pub fn location(&self, bit: u32) -> Option<Location> {
        let offset = self.index.offset(self.row(bit)?)?;
        Some(Location::Packed {
            pack: self.number,
            offset,
        })
    }

    /// The number in its store of the pack whose objects they are.
    pub fn pack(&self) -> u32 {
        self.number
    }

    /// The hash function of its ids.
    pub(crate) fn hash_kind(&self) -> Kind {
        self.pack.hash_kind()
    }

    /// The checksum of the pack.
    pub(crate) fn checksum(&self) -> &'s [u8] {
        self.index.pack_checksum()
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.pack.path().with_extension("bitmap")
    }

    /// The row, in order of ids, of the object with this bit.
    pub(crate) fn row(&self, bit: u32) -> Option<u32> {
        self.order.position(bit)
    }

    pub(crate) fn id_of_row(&self, row: u32) -> Option<&'s oid> {
        oid::try_from_bytes(self.index.id(row)?).ok()
    }

    /// The bit of the object in a row.
    pub(crate) fn bit_of_row(&self, row: u32) -> Option<u32> {
        let bits = match self.bits.get() {
            Some(bits) => bits,
            None if self.searches.fetch_add(1, Ordering::Relaxed) < SEARCHES => {
                return self.search(row);
            }
            None => self.bits.get_or_init(|| self.all_bits()),
        };
        bits.get(row as usize).copied().filter(|bit| *bit != NO_BIT)
    }

    /// Bisects the offsets.
    fn search(&self, row: u32) -> Option<u32> {
        let bit = self.bit_at(self.index.offset(row)?, self.count())?;
        (self.row(bit) == Some(row)).then_some(bit)
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

fn set_kind(kinds: &mut [Words; 4], bit: u32, number: usize) {
    if let Some(words) = kinds.get_mut(number) {
        words.insert(bit);
    }
}

fn kind_number(kinds: &[Words; 4], bit: u32) -> Option<usize> {
    kinds.iter().position(|words| words.contains(bit))
}

/// Whether the hash at the end of `map` is that of what comes before it.
pub(crate) fn is_whole(map: &Map, hash: Kind) -> bool {
    let Some(end) = map.len().checked_sub(hash.len_in_bytes()) else {
        return false;
    };
    let (content, trailer) = map.split_at(end);
    let mut hasher = TrailerHasher::new(hash);
    hasher.update(content);
    hasher.finish().as_bytes() == trailer
}

/// The checksum at `at` in `data`.
pub(crate) fn checksum_at(data: &[u8], at: usize, hash: Kind) -> Option<&[u8]> {
    data.get(at..at.checked_add(hash.len_in_bytes())?)
}

/// The 32-bit number in a row of a table at `start`.
pub(crate) fn number_at(data: &[u8], start: usize, row: u32) -> Option<u32> {
    u32_at(data, start.checked_add((row as usize).checked_mul(4)?)?)
}
