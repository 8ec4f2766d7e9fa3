//! Where the parts of a content are.

use super::cluster::{ClusterForm, ClusterMap, ExtentPlace};
use super::{Image, Inode};
use crate::format::{chunk, Layout, NO_BLOCK};
use hedgerow_image::{Damage, Part, Result};

/// A piece longer than this is cut, so that a reader needs no more memory.
const PIECE_BYTES: u64 = 1 << 20;

/// A part of a content, and how it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Where it starts in the content, in bytes.
    pub start: u64,
    /// Its length in bytes, at least 1. Only holes may be longer than 12 MiB.
    pub length: u64,
    /// How it is stored.
    pub stored: Stored,
}

impl Piece {
    /// The cluster that it is in, if it is in one, and the number of bytes of its content before the piece.
    pub(super) fn cluster(&self) -> Option<(Cluster, u64)> {
        let Stored::Cluster {
            position,
            bytes,
            form,
            around: (before, behind),
        } = self.stored
        else {
            return None;
        };
        let length = before + self.length + behind;
        Some(((position, bytes, form, length), before))
    }

    /// The piece in parts that fit into memory: a long hole is cut.
    pub fn parts(self) -> impl Iterator<Item = Piece> {
        let most = match self.stored {
            Stored::Hole => PIECE_BYTES,
            _ => self.length.max(1),
        };
        (0..self.length.div_ceil(most)).map(move |number| {
            let before = number * most;
            Piece {
                start: self.start + before,
                length: (self.length - before).min(most),
                stored: self.stored,
            }
        })
    }
}

/// A cluster: its position and size in bytes, how it holds its content, and the length of that.
pub(super) type Cluster = (u64, u64, ClusterForm, u64);

/// How a piece is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// Zeros that take no room.
    Hole,
    /// As it is, at this position in bytes.
    Raw(u64),
    /// In a cluster.
    Cluster {
        /// Its position in bytes.
        position: u64,
        /// Its size in bytes.
        bytes: u64,
        /// How it holds its content.
        form: ClusterForm,
        /// Number of bytes of its content before the piece, and behind it.
        around: (u64, u64),
    },
    /// In the packed inode, at this place.
    Packed(u64),
}

/// How the content of an inode is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Map {
    /// The inode tells it.
    Direct,
    /// By an index of clusters.
    Clusters(ClusterMap),
}

impl Image {
    /// How the content of an inode is found.
    pub(crate) fn map(&self, inode: &Inode) -> Result<Map> {
        Ok(match inode.layout {
            Layout::CompressedFull | Layout::CompressedCompact => {
                Map::Clusters(self.cluster_map(inode)?)
            }
            _ => Map::Direct,
        })
    }

    /// Number of bytes of the index behind an inode, at least. Those of all inodes do not overlap.
    pub(crate) fn index_bytes(&self, inode: &Inode) -> Result<u64> {
        Ok(match (inode.layout, self.map(inode)?) {
            (_, Map::Clusters(map)) => map.index_bytes(),
            (Layout::Chunked, _) => {
                let bits = (inode.place & chunk::BITS) + u32::from(self.superblock.block_bits);
                (inode.size >> bits.min(63)).saturating_mul(4)
            }
            _ => 0,
        })
    }

    /// Checks what reading a content from its start does not.
    pub(crate) fn check_map(&self, inode: &Inode) -> Result<()> {
        match self.map(inode)? {
            Map::Clusters(map) => self.check_index(inode, &map),
            Map::Direct => Ok(()),
        }
    }

    /// The piece of a content in which the byte at `offset` is, from that byte on; `None` behind the
    /// end.
    pub(crate) fn piece(&self, inode: &Inode, map: &Map, offset: u64) -> Result<Option<Piece>> {
        if offset >= inode.size {
            return Ok(None);
        }
        let piece = match inode.layout {
            Layout::Plain => self.flat(inode, offset, 0)?,
            Layout::Inline => {
                self.flat(inode, offset, inode.size % self.superblock.block_bytes())?
            }
            Layout::Chunked => self.chunk(inode, offset)?,
            Layout::CompressedFull | Layout::CompressedCompact => {
                return self.compressed(inode, map, offset).map(Some)
            }
        };
        Ok(Some(match piece.stored {
            Stored::Hole => piece,
            _ => Piece {
                length: piece.length.min(PIECE_BYTES),
                ..piece
            },
        }))
    }

    /// A piece of a compressed content.
    fn compressed(&self, inode: &Inode, map: &Map, offset: u64) -> Result<Piece> {
        let Map::Clusters(map) = map else {
            return Err(inode.damage("a content without an index").into());
        };
        let extent = self.extent(inode, map, offset)?;
        // The way back to a cluster and the way on to the next one may contradict each other.
        let before = offset.checked_sub(extent.start);
        let before = before.filter(|before| *before < extent.length);
        let before = before.ok_or_else(|| inode.damage("an index that contradicts itself"))?;
        let length = extent.length - before;
        if let ExtentPlace::Packed(place) = extent.place {
            let (packed, _) = self.packed_inode()?;
            let end = place.checked_add(extent.length);
            if end.is_none_or(|end| end > packed.size) {
                return Err(inode
                    .damage("parts behind the end of the packed inode")
                    .into());
            }
        }
        Ok(match extent.place {
            ExtentPlace::Packed(place) => Piece {
                start: offset,
                length: length.min(PIECE_BYTES),
                stored: Stored::Packed(place.saturating_add(before)),
            },
            ExtentPlace::Cluster {
                position,
                bytes,
                form,
            } => Piece {
                start: offset,
                length,
                stored: Stored::Cluster {
                    position,
                    bytes,
                    form,
                    around: (before, 0),
                },
            },
        })
    }

    /// A piece of a content in contiguous blocks, with so many bytes behind the inode.
    fn flat(&self, inode: &Inode, offset: u64, tail: u64) -> Result<Piece> {
        let in_blocks = inode.size - tail;
        let (from, start, end) = if offset < in_blocks {
            let first = u64::from(inode.place) << self.superblock.block_bits;
            (first, 0, in_blocks)
        } else {
            let from = inode.end();
            let block = self.superblock.block_bytes();
            if from % block + tail > block {
                return Err(inode
                    .damage("a tail that crosses the end of a block")
                    .into());
            }
            (from, in_blocks, inode.size)
        };
        if offset < in_blocks && inode.place == NO_BLOCK {
            return Err(inode.damage("a content without blocks").into());
        }
        let length = end - offset;
        let position = from + (offset - start);
        self.bytes.check(Part::Data, position, length)?;
        Ok(Piece {
            start: offset,
            length,
            stored: Stored::Raw(position),
        })
    }

    /// A piece of a chunk-based content. Following chunks that are one behind the other, or holes,
    /// belong to it.
    fn chunk(&self, inode: &Inode, offset: u64) -> Result<Piece> {
        let bits = (inode.place & chunk::BITS) + u32::from(self.superblock.block_bits);
        let mut number = offset >> bits;
        let first = self.chunk_position(inode, number)?;
        let inside = offset & ((1 << bits) - 1);
        let mut end = self.chunk_end(inode, number, bits);
        // A long run of chunks is found in parts.
        while end < inode.size
            && (end - offset < PIECE_BYTES || first.is_none() && !number.is_multiple_of(4096))
        {
            let next = self.chunk_position(inode, number + 1)?;
            let follows = match (first, next) {
                (None, None) => true,
                (Some(first), Some(next)) => {
                    next.checked_sub(first) == Some(end - (offset - inside))
                }
                _ => false,
            };
            if !follows {
                break;
            }
            number += 1;
            end = self.chunk_end(inode, number, bits);
        }
        let length = end - offset;
        let stored = match first {
            None => Stored::Hole,
            Some(first) => {
                let position = first + inside;
                let stored = length.min(PIECE_BYTES);
                self.bytes.check(Part::Data, position, stored)?;
                Stored::Raw(position)
            }
        };
        Ok(Piece {
            start: offset,
            length,
            stored,
        })
    }

    /// The end of a chunk in the content.
    fn chunk_end(&self, inode: &Inode, number: u64, bits: u32) -> u64 {
        let end = u128::from(number + 1) << bits;
        end.min(inode.size.into()) as u64
    }

    /// Where a chunk is; `None` if it is a hole.
    fn chunk_position(&self, inode: &Inode, number: u64) -> Result<Option<u64>> {
        let has_indexes = inode.place & chunk::INDEXES != 0;
        let unit = if has_indexes { 8 } else { 4 };
        let at = number.checked_mul(unit);
        let at = at.and_then(|at| at.checked_add(inode.end().next_multiple_of(unit)));
        let at = at.ok_or_else(|| inode.damage("chunks beyond the image"))?;
        let block = if has_indexes {
            let index = self.metadata_array::<8>(Part::InodeTable, at)?;
            let device = u16::from_le_bytes(crate::format::array(&index, 2));
            if device != 0 {
                return Err(Damage::new(Part::InodeTable, at, "a chunk on another device").into());
            }
            u32::from_le_bytes(crate::format::array(&index, 4))
        } else {
            u32::from_le_bytes(self.metadata_array::<4>(Part::InodeTable, at)?)
        };
        let position = u64::from(block) << self.superblock.block_bits;
        Ok((block != NO_BLOCK).then_some(position))
    }
}
