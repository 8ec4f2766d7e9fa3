//! Encodes inodes.

use super::xattrs::Attached;
use crate::format::{mode_bits, Layout, COMPACT_BYTES, EXTENDED_BYTES};
use hedgerow_image::Entry;
use hedgerow_tree::NodeKind;

/// What all inodes have.
#[derive(Clone, Debug)]
pub(super) struct Attributes {
    pub kind: NodeKind,
    mode: u16,
    uid: u32,
    gid: u32,
    mtime: (i64, u32),
    /// The extended attributes, encoded.
    xattrs: Attached,
}

/// The part of an inode that depends on its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub layout: Layout,
    /// In bytes.
    pub size: u64,
    /// The first block, the device, or the form of the chunks.
    pub place: u32,
}

/// What only the whole image knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// The time that compact inodes have.
    pub epoch: (i64, u32),
}

impl Attributes {
    pub(super) fn of(entry: &Entry, xattrs: Attached) -> Self {
        Attributes {
            kind: entry.kind,
            mode: entry.mode,
            uid: entry.uid,
            gid: entry.gid,
            mtime: (entry.mtime_s, entry.mtime_ns),
            xattrs,
        }
    }

    /// Those of the inode that holds parts of other files.
    pub(super) fn of_packed(shared: Shared) -> Self {
        Attributes {
            kind: NodeKind::File,
            mode: 0,
            uid: 0,
            gid: 0,
            mtime: shared.epoch,
            xattrs: Attached::default(),
        }
    }

    /// Whether the compact form can hold them.
    pub(super) fn is_compact(&self, shared: Shared, size: u64, nlink: u32) -> bool {
        let short = |id: u32| u16::try_from(id).is_ok();
        let is_small = u32::try_from(size).is_ok() && short(nlink);
        is_small && short(self.uid) && short(self.gid) && self.mtime == shared.epoch
    }

    /// Number of bytes of the inode and its extended attributes.
    pub(super) fn bytes(&self, is_compact: bool) -> usize {
        let inode = if is_compact {
            COMPACT_BYTES
        } else {
            EXTENDED_BYTES
        };
        inode + self.xattrs.bytes().len()
    }

    /// Encodes the inode with its extended attributes.
    pub(super) fn encode(&self, is_compact: bool, number: u32, nlink: u32, body: Body) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes(is_compact));
        let format = u16::from(!is_compact) | (body.layout as u16) << 1;
        let mode = self.mode | mode_bits(self.kind);
        let short_links = if is_compact { nlink as u16 } else { 0 };
        for short in [format, self.xattrs.count(), mode, short_links] {
            bytes.extend_from_slice(&short.to_le_bytes());
        }
        if is_compact {
            // No difference from the time of the superblock.
            for word in [body.size as u32, 0, body.place, number] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for id in [self.uid as u16, self.gid as u16] {
                bytes.extend_from_slice(&id.to_le_bytes());
            }
        } else {
            bytes.extend_from_slice(&body.size.to_le_bytes());
            for word in [body.place, number, self.uid, self.gid] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            bytes.extend_from_slice(&self.mtime.0.to_le_bytes());
            for word in [self.mtime.1, nlink] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        let inode = if is_compact {
            COMPACT_BYTES
        } else {
            EXTENDED_BYTES
        };
        bytes.resize(inode, 0);
        bytes.extend_from_slice(self.xattrs.bytes());
        bytes
    }
}

/// The bytes that hold the number of links, and where they are in the inode.
pub(super) fn links(is_compact: bool, nlink: u32) -> (usize, Vec<u8>) {
    if is_compact {
        (6, (nlink as u16).to_le_bytes().to_vec())
    } else {
        (44, nlink.to_le_bytes().to_vec())
    }
}
