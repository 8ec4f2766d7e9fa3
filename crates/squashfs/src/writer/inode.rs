//! Encodes inodes for the inode table: section 5 of the format description.

use super::attributes::Attributes;
use super::pack::Layout;
use crate::format::{InodeType, DIRECTORY_EXTRA_BYTES, NO_FRAGMENT, NO_XATTRS};
use hedgerow_image::fragments::Tail;

/// The bytes of the inode number in an encoded inode.
pub(super) const NUMBER: std::ops::Range<usize> = 12..16;

/// What stands in the inode of a file without a tail in a fragment block.
const NO_TAIL: Tail = Tail {
    fragment: NO_FRAGMENT,
    offset: 0,
};

/// Encodes the header common to all inodes, with room for `room` bytes more.
fn start(attributes: Attributes, number: u32, extended: bool, room: usize) -> Vec<u8> {
    let kind = attributes.kind;
    let mut bytes = Vec::with_capacity(16 + room);
    for short in [
        InodeType { kind, extended }.id(),
        attributes.mode,
        attributes.uid,
        attributes.gid,
    ] {
        bytes.extend_from_slice(&short.to_le_bytes());
    }
    put(&mut bytes, &[attributes.mtime, number]);
    bytes
}

/// Encodes the inode of a file of `size` bytes, without its block list, which follows it.
pub(super) fn file(
    attributes: Attributes,
    number: u32,
    size: u64,
    layout: &Layout,
    nlink: u32,
) -> Vec<u8> {
    let tail = layout.tail.unwrap_or(NO_TAIL);
    let has_xattrs = attributes.xattrs != NO_XATTRS;
    let small = (u32::try_from(layout.start), u32::try_from(size));
    match small {
        (Ok(first), Ok(size)) if nlink == 1 && layout.sparse_bytes == 0 && !has_xattrs => {
            let mut bytes = start(attributes, number, false, 16);
            put(&mut bytes, &[first, tail.fragment, tail.offset, size]);
            bytes
        }
        _ => {
            let mut bytes = start(attributes, number, true, 40);
            // If all of the file were counted as sparse, it would seem to take no space at all.
            let sparse = layout.sparse_bytes.min(size.saturating_sub(1));
            for long in [layout.start, size, sparse] {
                bytes.extend_from_slice(&long.to_le_bytes());
            }
            let xattrs = attributes.xattrs;
            put(&mut bytes, &[nlink, tail.fragment, tail.offset, xattrs]);
            bytes
        }
    }
}

pub(super) fn symlink(attributes: Attributes, number: u32, target: &[u8], nlink: u32) -> Vec<u8> {
    let extended = attributes.xattrs != NO_XATTRS;
    let mut bytes = start(attributes, number, extended, 12 + target.len());
    put(&mut bytes, &[nlink, target.len() as u32]);
    bytes.extend_from_slice(target);
    put_xattrs(&mut bytes, attributes);
    bytes
}

pub(super) fn device(
    attributes: Attributes,
    number: u32,
    (major, minor): (u32, u32),
    nlink: u32,
) -> Vec<u8> {
    let extended = attributes.xattrs != NO_XATTRS;
    let mut bytes = start(attributes, number, extended, 12);
    let device = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
    put(&mut bytes, &[nlink, device]);
    put_xattrs(&mut bytes, attributes);
    bytes
}

/// A fifo or a socket.
pub(super) fn ipc(attributes: Attributes, number: u32, nlink: u32) -> Vec<u8> {
    let extended = attributes.xattrs != NO_XATTRS;
    let mut bytes = start(attributes, number, extended, 8);
    put(&mut bytes, &[nlink]);
    put_xattrs(&mut bytes, attributes);
    bytes
}

/// Appends the xattr index, the last field of an extended inode.
fn put_xattrs(bytes: &mut Vec<u8>, attributes: Attributes) {
    if attributes.xattrs != NO_XATTRS {
        put(bytes, &[attributes.xattrs]);
    }
}

/// The place of a directory's listing.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    /// Size in bytes.
    pub bytes: u32,
    /// The position of its metadata block in the directory table, and its offset in that block.
    pub block: u32,
    pub offset: u16,
    /// Where further metadata blocks of the listing begin, for faster lookups.
    pub index: Vec<IndexEntry>,
}

/// A run of a listing that is the first to begin in its metadata block.
#[derive(Clone, Debug)]
pub(super) struct IndexEntry {
    /// Offset of the run in the listing, in bytes.
    pub position: u32,
    /// Position of its metadata block in the directory table.
    pub block: u32,
    /// The first name of the run.
    pub name: Vec<u8>,
}

pub(super) fn directory(
    attributes: Attributes,
    number: u32,
    listing: &Listing,
    nlink: u32,
    parent: u32,
) -> Vec<u8> {
    let size = listing.bytes + DIRECTORY_EXTRA_BYTES;
    let has_more = !listing.index.is_empty() || attributes.xattrs != NO_XATTRS;
    if let (Ok(size), false) = (u16::try_from(size), has_more) {
        let mut bytes = start(attributes, number, false, 16);
        put(&mut bytes, &[listing.block, nlink]);
        bytes.extend_from_slice(&size.to_le_bytes());
        bytes.extend_from_slice(&listing.offset.to_le_bytes());
        put(&mut bytes, &[parent]);
        return bytes;
    }
    let mut bytes = start(attributes, number, true, 24);
    put(&mut bytes, &[nlink, size, listing.block, parent]);
    bytes.extend_from_slice(&(listing.index.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&listing.offset.to_le_bytes());
    put(&mut bytes, &[attributes.xattrs]);
    for entry in &listing.index {
        let last = entry.name.len() as u32 - 1;
        put(&mut bytes, &[entry.position, entry.block, last]);
        bytes.extend_from_slice(&entry.name);
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
}
