//! Encodes where the clusters of a compressed content are: a header, and an entry of eight bytes for
//! each logical block.

use crate::format::cluster::{
    advise, BLOCK_COUNT, FULL_INDEX_GAP, HEAD, IN_PACKED, MOST_DISTANCE, NOT_HEAD, PLAIN,
};

/// A cluster of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    /// Where it starts in the content, in bytes.
    pub start: u64,
    /// Its first block.
    pub address: u32,
    pub blocks: u16,
    pub is_compressed: bool,
}

/// How all clusters of an image are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub block_bytes: u64,
    /// The number of the compressor.
    pub algorithm: u8,
    /// Whether a cluster may have several blocks.
    pub is_big: bool,
}

/// The map of a content that is completely in the packed inode, from `offset` on.
pub(super) fn in_packed(offset: u64) -> Vec<u8> {
    (offset | IN_PACKED).to_le_bytes().to_vec()
}

/// The map of a content of `size` bytes. If `tail` is given, the bytes from its first number on are
/// in the packed inode, from its second number on.
pub(super) fn map(form: Form, mapped: &[Mapped], size: u64, tail: Option<(u64, u64)>) -> Vec<u8> {
    let big = if form.is_big { advise::BIG } else { 0 };
    let (advised, offset) = match tail {
        Some((_, offset)) => (big | advise::FRAGMENT, offset),
        None => (big, 0),
    };
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&(offset as u32).to_le_bytes());
    bytes.extend_from_slice(&advised.to_le_bytes());
    bytes.extend_from_slice(&[form.algorithm | form.algorithm << 4, 0]);
    bytes.resize(bytes.len() + FULL_INDEX_GAP, 0);
    let tail = tail.map(|(start, offset)| Mapped {
        start,
        // Of the offset, the header has the lower half only.
        address: (offset >> 32) as u32,
        blocks: 0,
        is_compressed: true,
    });
    let all: Vec<Mapped> = mapped.iter().copied().chain(tail).collect();
    let ends = all.iter().skip(1).map(|next| next.start / form.block_bytes);
    let ends = ends.chain([size.div_ceil(form.block_bytes)]);
    for (cluster, end) in all.iter().zip(ends) {
        let head = cluster.start / form.block_bytes;
        let kind = if cluster.is_compressed { HEAD } else { PLAIN };
        let inside = (cluster.start % form.block_bytes) as u16;
        entry(&mut bytes, kind, inside, &cluster.address.to_le_bytes());
        for block in head + 1..end {
            let back = (block - head).min(MOST_DISTANCE) as u16;
            let is_first = block == head + 1 && cluster.blocks > 0 && form.is_big;
            let back = if is_first {
                cluster.blocks | BLOCK_COUNT
            } else {
                back
            };
            let ahead = (end - block).min(u16::MAX.into()) as u16;
            let [[a, b], [c, d]] = [back.to_le_bytes(), ahead.to_le_bytes()];
            entry(&mut bytes, NOT_HEAD, 0, &[a, b, c, d]);
        }
    }
    bytes
}

fn entry(bytes: &mut Vec<u8>, kind: u16, inside: u16, rest: &[u8; 4]) {
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&inside.to_le_bytes());
    bytes.extend_from_slice(rest);
}
