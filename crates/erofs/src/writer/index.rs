//! Encodes where the clusters of a compressed content are: a header, and an entry of eight bytes for
//! each logical block.

use crate::format::cluster::{
    advise, BLOCK_COUNT, FULL_INDEX_GAP, HEAD, IN_PACKED, MOST_DISTANCE, NOT_HEAD, PLAIN,
};

/// Size of an entry, and of the header.
const ENTRY_BYTES: usize = 8;

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
pub(super) fn in_packed(offset: u64) -> [u8; ENTRY_BYTES] {
    (offset | IN_PACKED).to_le_bytes()
}

/// The map of a content of `size` bytes. If `tail` is given, the bytes from its first number on are
/// in the packed inode, from its second number on.
pub(super) fn map(
    form: Form,
    mapped: Vec<Mapped>,
    size: u64,
    tail: Option<(u64, u64)>,
) -> impl Iterator<Item = [u8; ENTRY_BYTES]> {
    let big = if form.is_big { advise::BIG } else { 0 };
    let (advised, offset) = match tail {
        Some((_, offset)) => (big | advise::FRAGMENT, offset),
        None => (big, 0),
    };
    let [a, b, c, d] = (offset as u32).to_le_bytes();
    let [e, f] = advised.to_le_bytes();
    let header = [a, b, c, d, e, f, form.algorithm | form.algorithm << 4, 0];
    let tail = tail.map(|(start, offset)| Mapped {
        start,
        // Of the offset, the header has the lower half only.
        address: (offset >> 32) as u32,
        blocks: 0,
        is_compressed: true,
    });
    let mut clusters = mapped.into_iter().chain(tail).peekable();
    let with_ends = std::iter::from_fn(move || {
        let cluster = clusters.next()?;
        let next = clusters.peek().map(|next| next.start / form.block_bytes);
        Some((
            cluster,
            next.unwrap_or_else(|| size.div_ceil(form.block_bytes)),
        ))
    });
    let entries = with_ends.flat_map(move |(cluster, end)| entries(form, cluster, end));
    [header, [0; FULL_INDEX_GAP]].into_iter().chain(entries)
}

/// The entries of a cluster, before the block `end`.
fn entries(form: Form, cluster: Mapped, end: u64) -> impl Iterator<Item = [u8; ENTRY_BYTES]> {
    let head = cluster.start / form.block_bytes;
    let kind = if cluster.is_compressed { HEAD } else { PLAIN };
    let inside = (cluster.start % form.block_bytes) as u16;
    let further = (head + 1..end).map(move |block| {
        let is_first = block == head + 1 && cluster.blocks > 0 && form.is_big;
        let back = if is_first {
            cluster.blocks | BLOCK_COUNT
        } else {
            (block - head).min(MOST_DISTANCE) as u16
        };
        let ahead = (end - block).min(u16::MAX.into()) as u16;
        let [[a, b], [c, d]] = [back.to_le_bytes(), ahead.to_le_bytes()];
        entry(NOT_HEAD, 0, [a, b, c, d])
    });
    std::iter::once(entry(kind, inside, cluster.address.to_le_bytes())).chain(further)
}

fn entry(kind: u16, inside: u16, [a, b, c, d]: [u8; 4]) -> [u8; ENTRY_BYTES] {
    let [[e, f], [g, h]] = [kind.to_le_bytes(), inside.to_le_bytes()];
    [e, f, g, h, a, b, c, d]
}
