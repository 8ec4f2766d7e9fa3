//! The entries of the index: eight bytes each, or packs of a few bits for each.

use super::{ClusterMap, Index};
use crate::format::array;
use crate::format::cluster::{advise, BLOCK_COUNT, NOT_HEAD, PARTIAL, SECOND_HEAD};
use crate::reader::{Image, Inode};
use hedgerow_image::{Part, Result};

/// The bits of an entry that tell its kind.
const KIND: u16 = 3;

/// The kind of the second compressor's clusters is known, too.
const _: () = assert!(SECOND_HEAD == KIND);

/// An entry of the index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub kind: u16,
    /// Where in the logical block the cluster begins.
    pub inside: u64,
    /// Distance to the logical block in which the cluster begins.
    pub back: u64,
    /// Number of blocks of the cluster, if this entry tells it.
    pub count: Option<u64>,
    pub address: u32,
    pub is_partial: bool,
}

impl Entry {
    pub fn is_head(self) -> bool {
        self.kind != NOT_HEAD
    }
}

impl Image {
    /// The entry of a logical block.
    pub(super) fn entry(&self, inode: &Inode, map: &ClusterMap, block: u64) -> Result<Entry> {
        let entry = match map.index {
            _ if block >= map.blocks => {
                return Err(inode.damage("a logical block behind the end").into())
            }
            Index::None => return Err(inode.damage("a content without an index").into()),
            Index::Full(start) => self.full_entry(map, start + block * 8)?,
            Index::Compact { .. } => self.compact_entry(inode, map, block)?,
        };
        if entry.is_head() && entry.inside >= 1 << map.bits {
            return Err(inode
                .damage("a cluster that begins behind its block")
                .into());
        }
        Ok(entry)
    }

    fn full_entry(&self, map: &ClusterMap, position: u64) -> Result<Entry> {
        let bytes = self.metadata_array::<8>(Part::InodeTable, position)?;
        let advised = u16::from_le_bytes(array(&bytes, 0));
        let kind = advised & KIND;
        if kind != NOT_HEAD {
            return Ok(Entry {
                kind,
                inside: u16::from_le_bytes(array(&bytes, 2)).into(),
                address: u32::from_le_bytes(array(&bytes, 4)),
                is_partial: advised & PARTIAL != 0,
                ..Entry::default()
            });
        }
        let back = u16::from_le_bytes(array(&bytes, 4));
        Ok(not_head(map, back.into()))
    }

    fn compact_entry(&self, inode: &Inode, map: &ClusterMap, block: u64) -> Result<Entry> {
        let Index::Compact {
            start,
            first,
            short,
        } = map.index
        else {
            return Err(inode.damage("a content without an index").into());
        };
        // Packs of 16 entries in 32 bytes, or of 2 in 8; the last four bytes are an address.
        let is_short = block >= first && block - first < short;
        let (count, bytes) = if is_short { (16, 32) } else { (2, 8) };
        let position = match block.checked_sub(first + short) {
            _ if is_short => start + first * 4 + (block - first) * 2,
            Some(rest) => start + first * 4 + short * 2 + rest * 4,
            None => start + block * 4,
        };
        let pack_start = position - position % bytes;
        let mut pack = [0; 32];
        let pack = pack.get_mut(..bytes as usize).unwrap_or_default();
        self.read_metadata(Part::InodeTable, pack_start, pack)?;
        let number = ((position - pack_start) * count / bytes) as usize;
        let pack = Pack {
            bytes: pack,
            count: count as usize,
            low_bits: map.bits.max(BLOCK_COUNT.trailing_zeros() + 1),
        };
        let (kind, low) = pack.get(number);
        if kind == NOT_HEAD {
            let is_last = number + 1 == pack.count;
            let back = if is_last && low & u64::from(BLOCK_COUNT) == 0 {
                // The last entry tells the distance forward; that backward follows from the one
                // before.
                match pack.get(number.saturating_sub(1)) {
                    (NOT_HEAD, low) if low & u64::from(BLOCK_COUNT) != 0 => 2,
                    (NOT_HEAD, low) => low + 1,
                    _ => 1,
                }
            } else {
                low
            };
            return Ok(not_head(map, back));
        }
        let before = pack.blocks_before(number, map.advised & advise::BIG != 0);
        let before = before.ok_or_else(|| inode.damage("a compact index that makes no sense"))?;
        let base = array(pack.bytes, pack.bytes.len().saturating_sub(4));
        Ok(Entry {
            kind,
            inside: low,
            address: u32::from_le_bytes(base).wrapping_add(before),
            ..Entry::default()
        })
    }
}

/// An entry of a logical block in which no cluster begins.
fn not_head(map: &ClusterMap, back: u64) -> Entry {
    let count = back & u64::from(BLOCK_COUNT) != 0 && map.advised & advise::BIG != 0;
    if count {
        return Entry {
            kind: NOT_HEAD,
            back: 1,
            count: Some(back & !u64::from(BLOCK_COUNT)),
            ..Entry::default()
        };
    }
    Entry {
        kind: NOT_HEAD,
        back,
        ..Entry::default()
    }
}

/// Some entries of a compact index: each has a kind of two bits above a number of some bits.
struct Pack<'p> {
    bytes: &'p [u8],
    count: usize,
    low_bits: u32,
}

impl Pack<'_> {
    fn get(&self, number: usize) -> (u16, u64) {
        let bits = (self.bytes.len() - 4) * 8 / self.count;
        let at = number * bits;
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(self.bytes.iter().skip(at / 8)) {
            *to = *from;
        }
        let word = u32::from_le_bytes(word) >> (at % 8);
        let low = word & ((1 << self.low_bits) - 1);
        ((word >> self.low_bits) as u16 & KIND, low.into())
    }

    /// The number of blocks between the pack's address and the cluster of the entry `number`.
    fn blocks_before(&self, number: usize, is_big: bool) -> Option<u32> {
        let count_bit = u64::from(BLOCK_COUNT);
        let mut at = number as i64;
        let mut blocks: u64 = if is_big { 0 } else { 1 };
        while at > 0 {
            at -= 1;
            let (kind, low) = self.get(at as usize);
            let is_inside = kind == NOT_HEAD;
            if !is_big {
                if is_inside {
                    at -= low as i64;
                }
                blocks += u64::from(at >= 0);
            } else if is_inside && low & count_bit != 0 {
                at -= 1;
                blocks += low & !count_bit;
            } else if is_inside {
                at -= i64::try_from(low.checked_sub(2)?).ok()?;
            } else {
                blocks += 1;
            }
        }
        u32::try_from(blocks).ok()
    }
}
