//! Entries of packs as they are stored, for those who copy them: what they are, and their bytes.

use super::entry::{self, EntryForm};
use super::index::PackIndex;
use super::pack::Pack;
use super::pack_order::PackOrder;
use crate::fault::Fault;
use gix_hash::{oid, ObjectId};

/// An entry of a pack as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct RawEntry<'s> {
    /// Whole, or a delta and against what.
    pub kind: EntryForm,
    /// The length of what is compressed, the object or the delta, in bytes: as declared.
    pub size: u64,
    /// Bytes of `bytes` before the zlib stream: the header and the base.
    pub header_len: usize,
    /// All of the entry, up to the next one. Neither inflated nor hashed yet.
    pub bytes: &'s [u8],
}

impl<'s> RawEntry<'s> {
    /// The zlib stream of the object or the delta.
    pub fn compressed(&self) -> &'s [u8] {
        self.bytes.split_at(self.header_len).1
    }
}

/// The entries of one pack in the order they are stored in. Cheap to copy, free of locks.
#[derive(Clone, Copy, Debug)]
pub struct PackEntries<'s> {
    index: &'s PackIndex,
    order: PackOrder<'s>,
    data: &'s [u8],
    hash_len: usize,
}

impl<'s> PackEntries<'s> {
    /// The entries of `pack`, whose offsets are gone through once.
    ///
    /// # Errors
    /// [`Fault::Unreadable`] if the pack or its index cannot be used, or its offsets make no sense.
    pub(crate) fn new(pack: &'s Pack) -> Result<Self, Fault> {
        let unreadable = |reason: &str| Fault::Unreadable(reason.to_owned());
        Ok(PackEntries {
            index: pack.index().map_err(unreadable)?,
            order: pack.order().map_err(unreadable)?,
            data: pack.data().map_err(unreadable)?,
            hash_len: pack.hash_kind().len_in_bytes(),
        })
    }

    /// How many entries there are.
    pub fn count(&self) -> u32 {
        self.index.count()
    }

    /// The pack from its start to the end of its last entry.
    pub fn data(&self) -> &'s [u8] {
        self.data
    }

    /// The hash that the pack ends with: of all before it, as its index says, too.
    pub fn checksum(&self) -> ObjectId {
        ObjectId::from_bytes_or_panic(self.index.pack_checksum())
    }

    /// Where the entry `order` starts, counted from 0; for the one after the last, where the last
    /// ends.
    pub fn offset(&self, order: u32) -> Option<u64> {
        if order == self.count() {
            Some(self.data.len() as u64)
        } else {
            self.index.offset(self.position(order)?)
        }
    }

    /// Which entry starts at `offset`.
    pub fn order_of(&self, offset: u64) -> Option<u32> {
        self.search(offset, 0, self.count())
    }

    /// Which entry before `order` starts at `offset`: found the faster the nearer it is, as that of
    /// the base of a delta often is.
    pub fn order_before(&self, order: u32, offset: u64) -> Option<u32> {
        let (mut low, mut high) = (order, order);
        let mut step = 1;
        while low > 0 && (low == order || self.offset(low)? > offset) {
            high = low;
            low = low.saturating_sub(step);
            step *= 4;
        }
        self.search(offset, low, high)
    }

    fn search(&self, offset: u64, mut low: u32, mut high: u32) -> Option<u32> {
        while low < high {
            let middle = low + (high - low) / 2;
            match self.offset(middle)?.cmp(&offset) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Where the entry of the object `id` starts, if it is in this pack.
    pub fn offset_of(&self, id: &oid) -> Option<u64> {
        self.index.lookup(id.as_bytes())
    }

    /// The object that the index says is the entry `order`.
    pub fn id(&self, order: u32) -> Option<ObjectId> {
        let id = self.index.id(self.position(order)?)?;
        Some(ObjectId::from_bytes_or_panic(id))
    }

    /// The CRC-32 (as of zlib) of the bytes of the entry `order`, if the index has it.
    pub fn crc32(&self, order: u32) -> Option<u32> {
        self.index.crc32(self.position(order)?)
    }

    /// The entry `order`.
    ///
    /// # Errors
    /// The [`Fault`] of its header; [`Fault::Outside`] if it runs into the next one.
    pub fn entry(&self, order: u32) -> Result<RawEntry<'s>, Fault> {
        let start = self.offset(order).ok_or(Fault::Outside)?;
        let end = self.offset(order + 1).ok_or(Fault::Outside)?;
        self.between(start, end)
    }

    /// The entry that starts at `offset`.
    ///
    /// # Errors
    /// As [`PackEntries::entry`].
    pub fn at_offset(&self, offset: u64) -> Result<RawEntry<'s>, Fault> {
        self.entry(self.order_of(offset).ok_or(Fault::Outside)?)
    }

    /// The entry from `start` to `end`, two neighbouring [`PackEntries::offset`]s.
    ///
    /// # Errors
    /// As [`PackEntries::entry`].
    pub fn between(&self, start: u64, end: u64) -> Result<RawEntry<'s>, Fault> {
        let entry = entry::parse(self.data, start, self.hash_len)?;
        let range = start as usize..usize::try_from(end).map_err(|_| Fault::Outside)?;
        if entry.data > range.end {
            return Err(Fault::Outside);
        }
        Ok(RawEntry {
            kind: entry.kind,
            size: entry.size,
            header_len: entry.data - range.start,
            bytes: self.data.get(range).ok_or(Fault::Outside)?,
        })
    }

    fn position(&self, order: u32) -> Option<u32> {
        self.order.position(order)
    }
}
