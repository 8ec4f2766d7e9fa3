//! Inodes as they stand in the inode table: section 5 of the format.

use super::fragments::Tail;
use super::pack::Layout;
use crate::format::{InodeType, DIRECTORY_EXTRA_BYTES, NO_XATTRS};
use hedgerow_tree::NodeKind;

/// What all inodes begin with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub kind: NodeKind,
    pub mode: u16,
    pub uid: u16,
    pub gid: u16,
    pub mtime: u32,
    pub number: u32,
}

impl Header {
    fn start(self, extended: bool, room: usize) -> Vec<u8> {
        let kind = self.kind;
        let mut bytes = Vec::with_capacity(16 + room);
        for short in [
            InodeType { kind, extended }.id(),
            self.mode,
            self.uid,
            self.gid,
        ] {
            bytes.extend_from_slice(&short.to_le_bytes());
        }
        put(&mut bytes, &[self.mtime, self.number]);
        bytes
    }
}

/// The inode of a file of `size` bytes.
pub(super) fn file(header: Header, size: u64, layout: &Layout, nlink: u32) -> Vec<u8> {
    let tail = layout.tail.unwrap_or(Tail::NONE);
    let small = (u32::try_from(layout.start), u32::try_from(size));
    let mut bytes = match small {
        (Ok(start), Ok(size)) if nlink == 1 && layout.sparse_bytes == 0 => {
            let mut bytes = header.start(false, 16 + 4 * layout.words.len());
            put(&mut bytes, &[start, tail.fragment, tail.offset, size]);
            bytes
        }
        _ => {
            let mut bytes = header.start(true, 40 + 4 * layout.words.len());
            // A file that is nothing but a hole would look as if it took no space at all.
            let sparse = layout.sparse_bytes.min(size.saturating_sub(1));
            for long in [layout.start, size, sparse] {
                bytes.extend_from_slice(&long.to_le_bytes());
            }
            put(&mut bytes, &[nlink, tail.fragment, tail.offset, NO_XATTRS]);
            bytes
        }
    };
    layout
        .words
        .iter()
        .for_each(|word| put(&mut bytes, &[word.0]));
    bytes
}

pub(super) fn symlink(header: Header, target: &[u8], nlink: u32) -> Vec<u8> {
    let mut bytes = header.start(false, 8 + target.len());
    put(&mut bytes, &[nlink, target.len() as u32]);
    bytes.extend_from_slice(target);
    bytes
}

pub(super) fn device(header: Header, (major, minor): (u32, u32), nlink: u32) -> Vec<u8> {
    let mut bytes = header.start(false, 8);
    let number = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
    put(&mut bytes, &[nlink, number]);
    bytes
}

/// A fifo or a socket.
pub(super) fn ipc(header: Header, nlink: u32) -> Vec<u8> {
    let mut bytes = header.start(false, 4);
    put(&mut bytes, &[nlink]);
    bytes
}

/// The listing of a directory, as its inode tells of it.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    /// Bytes of it.
    pub bytes: u32,
    /// Where its metadata block starts in the directory table, and where it starts in that.
    pub block: u32,
    pub offset: u16,
    /// Where further metadata blocks begin, for quick look-ups.
    pub index: Vec<IndexEntry>,
}

/// A run of a listing that begins a metadata block, or is the first in it.
#[derive(Clone, Debug)]
pub(super) struct IndexEntry {
    /// Bytes of the listing before it.
    pub position: u32,
    /// Where its metadata block starts in the directory table.
    pub block: u32,
    /// The first name of the run.
    pub name: Vec<u8>,
}

/// Whether a directory takes the long form.
pub(super) fn is_long(listing_bytes: u64, has_index: bool) -> bool {
    has_index || listing_bytes + u64::from(DIRECTORY_EXTRA_BYTES) > u64::from(u16::MAX)
}

pub(super) fn directory(header: Header, listing: &Listing, nlink: u32, parent: u32) -> Vec<u8> {
    let size = listing.bytes + DIRECTORY_EXTRA_BYTES;
    if !is_long(u64::from(listing.bytes), !listing.index.is_empty()) {
        let mut bytes = header.start(false, 16);
        put(&mut bytes, &[listing.block, nlink]);
        bytes.extend_from_slice(&(size as u16).to_le_bytes());
        bytes.extend_from_slice(&listing.offset.to_le_bytes());
        put(&mut bytes, &[parent]);
        return bytes;
    }
    let mut bytes = header.start(true, 24);
    put(&mut bytes, &[nlink, size, listing.block, parent]);
    bytes.extend_from_slice(&(listing.index.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&listing.offset.to_le_bytes());
    put(&mut bytes, &[NO_XATTRS]);
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
