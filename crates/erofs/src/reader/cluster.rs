//! Where the clusters of a compressed content are: an index tells for each logical block whether a
//! cluster begins in it, or how far it is to the one where it does.

mod entry;

use super::{Image, Inode};
use crate::format::cluster::{
    advise, FULL_INDEX_GAP, HEAD, HEADER_BYTES, IN_PACKED, MOST_BYTES, MOST_CONTENT_BYTES, PLAIN,
};
use crate::format::{array, incompat, Layout};
use entry::Entry;
use hedgerow_codec::cluster::Algorithm;
use hedgerow_image::{Damage, Part, Result};
use hedgerow_numbers::counted;

/// Logical blocks of compact indexes are not larger than this power of two of bytes.
const MOST_COMPACT_BITS: u32 = 14;
/// The index of a compressed content, and what its header tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterMap {
    /// Size of a logical block as a power of two of bytes.
    bits: u32,
    advised: u16,
    algorithms: [u8; 2],
    index: Index,
    /// Number of logical blocks.
    blocks: u64,
    tail: Option<Tail>,
}

/// Where the entries are.
#[derive(Clone, Copy, Debug)]
enum Index {
    /// Eight bytes each, from here on.
    Full(u64),
    /// Some of four bytes, then so many of two, then again of four.
    Compact { start: u64, first: u64, short: u64 },
    /// There is none: the whole content is in the packed inode.
    None,
}

/// The last cluster of a content, if it is not in blocks.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// The logical block in which it begins.
    block: u64,
    place: TailPlace,
}

#[derive(Clone, Copy, Debug)]
enum TailPlace {
    /// Behind the index.
    Inline { position: u64, bytes: u64 },
    /// In the packed inode, at this place.
    Packed(u64),
}

/// A cluster with the part of the content that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extent {
    /// Where the part begins and how long it is, in bytes.
    pub start: u64,
    pub length: u64,
    pub place: ExtentPlace,
}

/// Where a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExtentPlace {
    /// In the packed inode, at this place.
    Packed(u64),
    /// In the image.
    Cluster {
        position: u64,
        bytes: u64,
        form: ClusterForm,
    },
}

/// How a cluster holds its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterForm {
    /// As it is.
    Plain,
    /// As it is, rotated, because it begins so many bytes behind the start of a logical block.
    Rotated(u64),
    /// Compressed; if the flag is set, it goes on behind what is wanted.
    Compressed(Algorithm, bool),
}

impl Image {
    /// Reads what is common to all clusters of an inode.
    pub(crate) fn cluster_map(&self, inode: &Inode) -> Result<ClusterMap> {
        let start = inode.end().next_multiple_of(HEADER_BYTES);
        let header = self.metadata_array::<8>(Part::InodeTable, start)?;
        let block_bits = u32::from(self.superblock.block_bits);
        let mut map = ClusterMap {
            bits: block_bits,
            advised: u16::from_le_bytes(array(&header, 4)),
            algorithms: [header[6] & 0xf, header[6] >> 4],
            index: Index::None,
            blocks: inode.size.div_ceil(1 << block_bits),
            tail: None,
        };
        let whole = u64::from_le_bytes(header);
        if whole & IN_PACKED != 0 {
            map.tail = Some(Tail {
                block: 0,
                place: TailPlace::Packed(whole ^ IN_PACKED),
            });
            return Ok(map);
        }
        map.bits += u32::from(header[7] & 0xf);
        map.blocks = inode.size.div_ceil(1 << map.bits);
        let entries = start + HEADER_BYTES;
        map.index = if inode.layout == Layout::CompressedFull {
            if map.advised & advise::TWO_BYTES != 0 {
                return Err(inode
                    .damage("an index of extents, which is not supported")
                    .into());
            }
            Index::Full(entries + FULL_INDEX_GAP as u64)
        } else {
            let big = map.advised & advise::BIG;
            if map.bits > MOST_COMPACT_BITS || big != 0 && big != advise::BIG {
                return Err(inode.damage("a compact index of an unknown form").into());
            }
            // Packs of two bytes an entry begin at multiples of their size.
            let first = (32 - entries % 32) / 4 % 8;
            let has_short = map.advised & advise::TWO_BYTES != 0 && map.bits <= 12;
            let short = match map.blocks.checked_sub(first) {
                Some(rest) if has_short => rest - rest % 16,
                _ => 0,
            };
            Index::Compact {
                start: entries,
                first,
                short,
            }
        };
        map.tail = self.tail(inode, &map, &header)?;
        Ok(map)
    }

    /// Finds the last cluster, if it is not in blocks.
    fn tail(&self, inode: &Inode, map: &ClusterMap, header: &[u8; 8]) -> Result<Option<Tail>> {
        let inline = u64::from(u16::from_le_bytes(array(header, 2)));
        let is_packed = map.advised & advise::FRAGMENT != 0;
        let is_inline = map.advised & advise::INLINE != 0 && inline > 0;
        if inode.size == 0 || !is_packed && !is_inline {
            return Ok(None);
        }
        let (block, head) = self.head(inode, map, inode.size - 1)?;
        let place = if is_packed {
            let low = u64::from(u32::from_le_bytes(array(header, 0)));
            let high = match map.index {
                Index::Full(_) => u64::from(head.address) << 32,
                _ => 0,
            };
            TailPlace::Packed(low | high)
        } else {
            let position = map.index_end();
            let block_bytes = self.superblock.block_bytes();
            if position % block_bytes + inline > block_bytes {
                return Err(inode.damage("a last cluster that crosses a block").into());
            }
            TailPlace::Inline {
                position,
                bytes: inline,
            }
        };
        Ok(Some(Tail { block, place }))
    }

    /// The logical block and the entry in which the cluster of the byte at `offset` begins.
    fn head(&self, inode: &Inode, map: &ClusterMap, offset: u64) -> Result<(u64, Entry)> {
        let own = offset >> map.bits;
        let mut block = own;
        let mut entry = self.entry(inode, map, block)?;
        let inside = offset & ((1 << map.bits) - 1);
        if entry.is_head() && inside >= entry.inside {
            return Ok((block, entry));
        }
        let mut back = if entry.is_head() { 1 } else { entry.back };
        loop {
            let before = block.checked_sub(back).filter(|_| back > 0);
            block = before.ok_or_else(|| inode.damage("a cluster without a start"))?;
            if (own - block) << map.bits > MOST_CONTENT_BYTES {
                return Err(inode.damage("a cluster with too much content").into());
            }
            entry = self.entry(inode, map, block)?;
            if entry.is_head() {
                return Ok((block, entry));
            }
            back = entry.back;
        }
    }

    /// The cluster that holds the byte at `offset`, which is in the content.
    pub(crate) fn extent(&self, inode: &Inode, map: &ClusterMap, offset: u64) -> Result<Extent> {
        if let (Index::None, Some(tail)) = (map.index, map.tail) {
            let TailPlace::Packed(place) = tail.place else {
                return Err(inode.damage("a content without an index").into());
            };
            return Ok(Extent {
                start: 0,
                length: inode.size,
                place: ExtentPlace::Packed(place),
            });
        }
        let (block, head) = self.head(inode, map, offset)?;
        let start = (block << map.bits) + head.inside;
        let is_tail = map.tail.filter(|tail| tail.block == block);
        if let Some(Tail {
            place: TailPlace::Packed(place),
            ..
        }) = is_tail
        {
            return Ok(Extent {
                start,
                length: inode.size.saturating_sub(start),
                place: ExtentPlace::Packed(place),
            });
        }
        let end = self.end(inode, map, block, start)?;
        let length = end.checked_sub(start).filter(|length| *length > 0);
        let length = length.ok_or_else(|| inode.damage("a cluster without content"))?;
        let (position, bytes) = match is_tail.map(|tail| tail.place) {
            Some(TailPlace::Inline { position, bytes }) => (position, bytes),
            _ => {
                let position = u64::from(head.address) << self.superblock.block_bits;
                (position, self.stored_bytes(inode, map, block, head)?)
            }
        };
        if bytes == 0 || bytes > MOST_BYTES {
            return Err(inode
                .damage(format!("a cluster of {}", counted(bytes, "byte")))
                .into());
        }
        self.bytes.check(Part::Data, position, bytes)?;
        let algorithm = |number: usize| {
            let id = map.algorithms.get(number).copied().unwrap_or_default();
            let is_named = if self.superblock.has(incompat::COMPRESSION) {
                self.superblock.compressors >> id & 1 != 0
            } else {
                id == 0
            };
            if !is_named {
                let what = format!("the compressor {id}, which the superblock does not name");
                return Err(inode.damage(what));
            }
            let algorithm = Algorithm::from_id(id);
            algorithm.ok_or_else(|| inode.damage(format!("the unknown compressor {id}")))
        };
        let form = match head.kind {
            PLAIN if length > bytes => {
                return Err(inode
                    .damage("a plain cluster longer than its blocks")
                    .into())
            }
            PLAIN if map.advised & advise::INTERLACED != 0 => {
                ClusterForm::Rotated(start % self.superblock.block_bytes())
            }
            PLAIN => ClusterForm::Plain,
            HEAD => ClusterForm::Compressed(algorithm(0)?, head.is_partial),
            _ => ClusterForm::Compressed(algorithm(1)?, head.is_partial),
        };
        Ok(Extent {
            start,
            length,
            place: ExtentPlace::Cluster {
                position,
                bytes,
                form,
            },
        })
    }

    /// Where the content of a cluster ends: where the next one begins.
    fn end(&self, inode: &Inode, map: &ClusterMap, head: u64, start: u64) -> Result<u64> {
        for block in head + 1..map.blocks {
            if (block << map.bits) - start > MOST_CONTENT_BYTES {
                return Err(inode.damage("a cluster with too much content").into());
            }
            let entry = self.entry(inode, map, block)?;
            if entry.is_head() {
                return Ok(((block << map.bits) + entry.inside).min(inode.size));
            }
        }
        Ok(inode.size)
    }

    /// Number of bytes of a cluster as it is stored.
    fn stored_bytes(
        &self,
        inode: &Inode,
        map: &ClusterMap,
        block: u64,
        head: Entry,
    ) -> Result<u64> {
        let big = match head.kind {
            HEAD => advise::BIG_FIRST,
            _ => advise::BIG_SECOND,
        };
        let count = if map.advised & big == 0 || block + 1 >= map.blocks {
            1
        } else {
            let next = self.entry(inode, map, block + 1)?;
            match next.count {
                _ if next.is_head() => 1,
                Some(count) => count,
                None => return Err(inode.damage("a cluster without a size").into()),
            }
        };
        Ok(count << self.superblock.block_bits)
    }

    /// Checks that the way back from each logical block leads to the cluster before it, as readers
    /// that begin in the middle take it.
    pub(crate) fn check_index(&self, inode: &Inode, map: &ClusterMap) -> Result<()> {
        if matches!(map.index, Index::None) {
            return Ok(());
        }
        let mut head = None;
        for block in 0..map.blocks {
            let entry = self.entry(inode, map, block)?;
            if entry.is_head() {
                head = Some(block);
                continue;
            }
            let distance = head.map(|head| block - head);
            if entry.back == 0 || distance.is_none_or(|distance| entry.back > distance) {
                return Err(inode.damage("an index that contradicts itself").into());
            }
        }
        Ok(())
    }

    /// Whether compressed data stands at the end of its cluster, behind zeros.
    pub(crate) fn pads_with_zeros(&self) -> bool {
        self.superblock.has(incompat::ZERO_PADDING)
    }
}

impl ClusterMap {
    /// The end of the index.
    fn index_end(&self) -> u64 {
        match self.index {
            Index::Full(start) => start + self.blocks * 8,
            Index::Compact {
                start,
                first,
                short,
            } => {
                let rest = self.blocks.saturating_sub(first + short);
                let position = start + first.min(self.blocks) * 4 + short * 2 + rest * 4;
                // Behind the last pack of two entries.
                position.next_multiple_of(8)
            }
            Index::None => 0,
        }
    }

    /// Number of bytes of the index, at least.
    pub(crate) fn index_bytes(&self) -> u64 {
        match self.index {
            Index::Full(_) => self.blocks.saturating_mul(8),
            Index::Compact { .. } => self.blocks.saturating_mul(2),
            Index::None => 0,
        }
    }

    /// Whether the content, or its end, is in the packed inode.
    pub(crate) fn uses_packed(&self) -> bool {
        let tail = self.tail.map(|tail| tail.place);
        matches!(tail, Some(TailPlace::Packed(_)))
    }
}

/// What is damaged about a cluster.
pub(crate) fn bad_cluster(position: u64, what: impl Into<String>) -> Damage {
    Damage::new(Part::Data, position, what)
}
