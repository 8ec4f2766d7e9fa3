use super::Image;
use crate::format::{
    array, chunk, device_numbers, kind_of, Layout, COMPACT_BYTES, EXTENDED_BYTES, NID_BYTES,
    XATTR_HEADER_BYTES,
};
use hedgerow_image::{Damage, Part, Result};
use hedgerow_numbers::counted;
use hedgerow_tree::{Metadata, NodeKind};

/// An inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Its number, which tells where it is.
    pub number: u64,
    /// Where it is, in bytes.
    pub position: u64,
    /// Its kind.
    pub kind: NodeKind,
    /// Whether it has the longer form.
    pub is_extended: bool,
    /// Whether it is a directory without an entry of itself.
    pub lacks_itself: bool,
    /// How its content is stored.
    pub layout: Layout,
    /// The lower 12 bits of `st_mode`.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time in seconds since the epoch.
    pub mtime_s: i64,
    /// Its nanoseconds.
    pub mtime_ns: u32,
    /// Number of hard links.
    pub nlink: u32,
    /// Size of its content in bytes.
    pub size: u64,
    /// The first block, the number of compressed blocks, the form of the chunks, or the device.
    pub place: u32,
    /// Number of bytes of its extended attributes.
    pub xattr_bytes: u64,
}

/// The bits of an inode's format: the form, the layout, and that a directory has no entry of itself.
const EXTENDED: u16 = 1;
const NO_ENTRY_OF_ITSELF: u16 = 0x10;
const KNOWN_BITS: u16 = 0xf;

impl Image {
    /// The inode of the root.
    ///
    /// # Errors
    /// It cannot be read, or is no directory.
    pub fn root(&self) -> Result<Inode> {
        let root = self.inode(self.superblock.root.into())?;
        if root.kind == NodeKind::Directory {
            return Ok(root);
        }
        Err(root.damage("a root that is no directory").into())
    }

    /// The inode with this number.
    ///
    /// # Errors
    /// It is not in the image, or makes no sense.
    pub fn inode(&self, number: u64) -> Result<Inode> {
        let start = u64::from(self.superblock.metadata) << self.superblock.block_bits;
        let position = number.checked_mul(NID_BYTES);
        let position = position.and_then(|position| position.checked_add(start));
        let position = position.ok_or_else(|| {
            let what = format!("an inode with the number {number}");
            Damage::new(Part::InodeTable, start, what)
        })?;
        let head = self.metadata_array::<COMPACT_BYTES>(Part::InodeTable, position)?;
        let u16_at = |at| u16::from_le_bytes(array(&head, at));
        let u32_at = |at| u32::from_le_bytes(array(&head, at));
        let format = u16_at(0);
        let damaged = |what: String| Damage::new(Part::InodeTable, position, what);
        let mode = u16_at(4);
        let kind = kind_of(mode).ok_or_else(|| damaged(format!("an inode of mode {mode:o}")))?;
        let known = match kind {
            NodeKind::Directory => KNOWN_BITS | NO_ENTRY_OF_ITSELF,
            _ => KNOWN_BITS,
        };
        let layout = Layout::from_id(format >> 1 & 7).filter(|_| format & !known == 0);
        let layout = layout.ok_or_else(|| damaged(format!("an inode of the form {format:#x}")))?;
        let xattr_bytes = match u16_at(2) {
            0 => 0,
            count => XATTR_HEADER_BYTES as u64 + 4 * (u64::from(count) - 1),
        };
        let mut inode = Inode {
            number,
            position,
            kind,
            is_extended: format & EXTENDED != 0,
            lacks_itself: format & NO_ENTRY_OF_ITSELF != 0,
            layout,
            mode: mode & 0o7777,
            uid: u16_at(24).into(),
            gid: u16_at(26).into(),
            mtime_s: self.superblock.epoch.wrapping_add(u32_at(12).into()),
            mtime_ns: self.superblock.epoch_ns,
            nlink: u16_at(6).into(),
            size: u32_at(8).into(),
            place: u32_at(16),
            xattr_bytes,
        };
        if inode.is_extended {
            let long = self.metadata_array::<EXTENDED_BYTES>(Part::InodeTable, position)?;
            let u32_at = |at| u32::from_le_bytes(array(&long, at));
            inode.size = u64::from_le_bytes(array(&long, 8));
            (inode.uid, inode.gid) = (u32_at(24), u32_at(28));
            inode.mtime_s = i64::from_le_bytes(array(&long, 32));
            (inode.mtime_ns, inode.nlink) = (u32_at(40), u32_at(44));
        }
        if inode.mtime_ns >= 1_000_000_000 {
            let what = format!("a time with {} nanoseconds", inode.mtime_ns);
            return Err(damaged(what).into());
        }
        let has_content = matches!(
            kind,
            NodeKind::File | NodeKind::Directory | NodeKind::Symlink
        );
        if layout == Layout::Chunked && has_content && inode.place & 0xffff & !chunk::KNOWN != 0 {
            return Err(damaged(format!("chunks of the form {:#x}", inode.place)).into());
        }
        if i64::try_from(inode.size).is_err() {
            return Err(damaged(format!("a size of {}", counted(inode.size, "byte"))).into());
        }
        Ok(inode)
    }
}

impl Inode {
    /// Where the bytes behind its extended attributes are.
    pub(crate) fn end(&self) -> u64 {
        let form = if self.is_extended {
            EXTENDED_BYTES
        } else {
            COMPACT_BYTES
        };
        self.position + form as u64 + self.xattr_bytes
    }

    /// Damage of this inode.
    pub(crate) fn damage(&self, what: impl Into<String>) -> Damage {
        Damage::new(Part::InodeTable, self.position, what)
    }

    /// The metadata as file systems tell it.
    pub fn metadata(&self) -> Metadata {
        let (has_device, size_bytes) = match self.kind {
            NodeKind::BlockDevice | NodeKind::CharacterDevice => (true, 0),
            _ => (false, self.size),
        };
        Metadata {
            mode: self.mode.into(),
            uid: self.uid,
            gid: self.gid,
            size_bytes,
            mtime_s: self.mtime_s,
            mtime_ns: self.mtime_ns,
            nlink: self.nlink.into(),
            ino: self.number,
            dev: 0,
            // Linux encodes device numbers as inodes do.
            rdev: if has_device { self.place.into() } else { 0 },
            blocks: self.size.div_ceil(512),
        }
    }

    /// Major and minor number of a device.
    pub fn device(&self) -> (u32, u32) {
        match self.kind {
            NodeKind::BlockDevice | NodeKind::CharacterDevice => device_numbers(self.place),
            _ => (0, 0),
        }
    }
}
