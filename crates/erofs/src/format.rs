//! The format: constants, the superblock, and what else has a fixed layout. All numbers are
//! little-endian.
//!
//! Source: the kernel's `Documentation/filesystems/erofs.rst` and its header of the on-disk format.

use crate::crc32c::crc32c;
use hedgerow_tree::NodeKind;

/// The magic number of the superblock.
pub const MAGIC: u32 = 0xe0f5_e1e2;
/// Where the superblock is, in bytes; before it, there is room for a boot sector.
pub const SUPERBLOCK_OFFSET: u64 = 1024;
/// Size of the superblock without extension slots, in bytes.
pub const SUPERBLOCK_BYTES: usize = 128;
/// Size of an extension slot of the superblock, in bytes.
pub const SLOT_BYTES: usize = 16;
/// Inode numbers count units of this many bytes.
pub const NID_BYTES: u64 = 32;
/// Sizes of the two forms of an inode, in bytes.
pub const COMPACT_BYTES: usize = 32;
/// See [`COMPACT_BYTES`].
pub const EXTENDED_BYTES: usize = 64;
/// Size of an entry of a directory without its name, in bytes.
pub const DIRENT_BYTES: usize = 12;
/// Maximum length of a name in bytes.
pub const NAME_BYTES: usize = 255;
/// The address of a chunk that is a hole, and of a file without blocks.
pub const NO_BLOCK: u32 = u32::MAX;
/// Block sizes that the kernel takes on some machine, as powers of two.
pub const BLOCK_BITS: std::ops::RangeInclusive<u8> = 9..=16;
/// Size of the header of extended attributes of an inode, in bytes.
pub const XATTR_HEADER_BYTES: usize = 12;

/// Features that a reader may ignore.
pub mod compat {
    /// The superblock has a checksum.
    pub const CHECKSUM: u32 = 0x1;
    /// Times of inodes are modification times.
    pub const MTIME: u32 = 0x2;
    /// Inodes have filters for the names of attributes.
    pub const XATTR_FILTER: u32 = 0x4;
    /// Shared attributes are in the inode of metadata.
    pub const XATTRS_IN_METADATA: u32 = 0x8;
    /// Long prefixes of names of attributes are in no inode.
    pub const PLAIN_XATTR_PREFIXES: u32 = 0x10;
    /// Attributes tell which inodes have the same content.
    pub const SHARED_INODE_XATTRS: u32 = 0x20;
}

/// Features that a reader must know.
pub mod incompat {
    /// LZ4 data ends at the end of its cluster.
    pub const ZERO_PADDING: u32 = 0x1;
    /// Settings of compressors follow the superblock; clusters may have several blocks.
    pub const COMPRESSION: u32 = 0x2;
    /// There are chunk-based files.
    pub const CHUNKED: u32 = 0x4;
    /// Further devices, or a second kind of head cluster.
    pub const DEVICES: u32 = 0x8;
    /// The last cluster of a file may be stored with its inode.
    pub const INLINE_CLUSTER: u32 = 0x10;
    /// Parts of files may be in the packed inode; clusters may be shared.
    pub const FRAGMENTS: u32 = 0x20;
    /// Long prefixes of names of attributes.
    pub const XATTR_PREFIXES: u32 = 0x40;
    /// Block addresses have 48 bits.
    pub const WIDE: u32 = 0x80;
    /// Metadata are in an inode of their own.
    pub const METADATA_INODE: u32 = 0x100;
    /// All that this crate knows.
    pub const KNOWN: u32 = 0x7f;

    /// What is needed to read an image with features that this crate does not know.
    pub fn unknown(features: u32) -> Option<String> {
        let named = [
            (WIDE, "block addresses of 48 bits"),
            (METADATA_INODE, "metadata in an inode of their own"),
        ];
        let names = named
            .iter()
            .filter(|(feature, _)| features & feature != 0)
            .map(|(_, name)| (*name).to_owned());
        let nameless = features & !(KNOWN | WIDE | METADATA_INODE);
        let number = (nameless != 0).then(|| format!("the features {nameless:#x}"));
        let all: Vec<String> = names.chain(number).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }
}

/// How the content of an inode is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In contiguous blocks.
    Plain = 0,
    /// Compressed, with an index of eight bytes for each logical block.
    CompressedFull = 1,
    /// In contiguous blocks, with the rest behind the inode.
    Inline = 2,
    /// Compressed, with an index of few bits for each logical block.
    CompressedCompact = 3,
    /// In chunks, each with an address of its own.
    Chunked = 4,
}

impl Layout {
    /// The layout with this number.
    pub fn from_id(id: u16) -> Option<Self> {
        Some(match id {
            0 => Layout::Plain,
            1 => Layout::CompressedFull,
            2 => Layout::Inline,
            3 => Layout::CompressedCompact,
            4 => Layout::Chunked,
            _ => return None,
        })
    }
}

/// The bits of the field of a chunk-based inode that tells the size of its chunks.
pub mod chunk {
    /// Size of a chunk in blocks, as a power of two.
    pub const BITS: u32 = 0x1f;
    /// Chunks have entries of eight bytes instead of four.
    pub const INDEXES: u32 = 0x20;
    /// All bits that are known.
    pub const KNOWN: u32 = BITS | INDEXES;
}

/// The maps of compressed contents.
pub mod cluster {
    /// The kinds of entries: a cluster that is not compressed begins in this logical block.
    pub const PLAIN: u16 = 0;
    /// A compressed cluster begins in it.
    pub const HEAD: u16 = 1;
    /// None begins in it.
    pub const NOT_HEAD: u16 = 2;
    /// A cluster of the second compressor begins in it.
    pub const SECOND_HEAD: u16 = 3;
    /// Only the start of what the cluster holds belongs to the content.
    pub const PARTIAL: u16 = 1 << 15;
    /// The distance to the cluster's logical block is one, and the rest is the number of its blocks.
    pub const BLOCK_COUNT: u16 = 1 << 11;
    /// Longer distances are told in steps.
    pub const MOST_DISTANCE: u64 = BLOCK_COUNT as u64 - 1;
    /// Size of the header in bytes; it begins at a multiple of that.
    pub const HEADER_BYTES: u64 = 8;
    /// Number of bytes between the header and an index of entries of eight bytes.
    pub const FULL_INDEX_GAP: usize = 8;
    /// Set in a header if the whole content is in the packed inode; the rest is its place there.
    pub const IN_PACKED: u64 = 1 << 63;
    /// Maximum size of a cluster in bytes, compressed and not.
    pub const MOST_BYTES: u64 = 1 << 20;
    /// See [`MOST_BYTES`].
    pub const MOST_CONTENT_BYTES: u64 = 12 << 20;

    /// The bits of a header.
    pub mod advise {
        /// A compact index has entries of two bytes.
        pub const TWO_BYTES: u16 = 0x1;
        /// Clusters of both compressors may have several blocks.
        pub const BIG: u16 = 0x6;
        /// Those of the first compressor may.
        pub const BIG_FIRST: u16 = 0x2;
        /// Those of the second compressor, and plain ones, may.
        pub const BIG_SECOND: u16 = 0x4;
        /// The last cluster stands behind the index.
        pub const INLINE: u16 = 0x8;
        /// Plain clusters are rotated by their place in a logical block.
        pub const INTERLACED: u16 = 0x10;
        /// The end of the content is in the packed inode.
        pub const FRAGMENT: u16 = 0x20;
    }
}

/// The superblock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Superblock {
    /// Its checksum.
    pub checksum: u32,
    /// See [`compat`].
    pub compat: u32,
    /// Size of a block as a power of two.
    pub block_bits: u8,
    /// Number of [`SLOT_BYTES`] by which it is longer than [`SUPERBLOCK_BYTES`].
    pub slots: u8,
    /// The number of the root.
    pub root: u16,
    /// Number of inodes.
    pub inodes: u64,
    /// The time of compact inodes, in seconds since the epoch.
    pub epoch: i64,
    /// Its nanoseconds.
    pub epoch_ns: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// The block from which on inode numbers count.
    pub metadata: u32,
    /// The block from which on shared attributes count.
    pub xattrs: u32,
    /// The identifier of the image.
    pub uuid: [u8; 16],
    /// Its name, padded with zeros.
    pub name: [u8; 16],
    /// See [`incompat`].
    pub incompat: u32,
    /// The compressors in use, as bits; without [`incompat::COMPRESSION`], the window of LZ4.
    pub compressors: u16,
    /// Number of further devices.
    pub devices: u16,
    /// Where the table of devices is.
    pub device_slot: u16,
    /// Size of a block of a directory, as a power of two of blocks.
    pub directory_bits: u8,
    /// Number of long prefixes of names of attributes.
    pub xattr_prefixes: u8,
    /// Where they are, in units of four bytes.
    pub xattr_prefix_start: u32,
    /// The number of the inode that holds parts of other files; 0 for none.
    pub packed: u64,
}

impl Superblock {
    /// Encodes it without a checksum.
    pub fn to_bytes(&self) -> [u8; SUPERBLOCK_BYTES] {
        let mut bytes = [0; SUPERBLOCK_BYTES];
        let mut put = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        put(0, &MAGIC.to_le_bytes());
        put(8, &self.compat.to_le_bytes());
        put(12, &[self.block_bits, self.slots]);
        put(14, &self.root.to_le_bytes());
        put(16, &self.inodes.to_le_bytes());
        put(24, &self.epoch.to_le_bytes());
        put(32, &self.epoch_ns.to_le_bytes());
        put(36, &self.blocks.to_le_bytes());
        put(40, &self.metadata.to_le_bytes());
        put(44, &self.xattrs.to_le_bytes());
        put(48, &self.uuid);
        put(64, &self.name);
        put(80, &self.incompat.to_le_bytes());
        put(84, &self.compressors.to_le_bytes());
        put(86, &self.devices.to_le_bytes());
        put(88, &self.device_slot.to_le_bytes());
        put(90, &[self.directory_bits, self.xattr_prefixes]);
        put(92, &self.xattr_prefix_start.to_le_bytes());
        put(96, &self.packed.to_le_bytes());
        bytes
    }

    /// Decodes it; `None` if the magic number is missing.
    pub fn from_bytes(bytes: &[u8; SUPERBLOCK_BYTES]) -> Option<Self> {
        let u32_at = |at| u32::from_le_bytes(array(bytes, at));
        let u16_at = |at| u16::from_le_bytes(array(bytes, at));
        (u32_at(0) == MAGIC).then(|| Superblock {
            checksum: u32_at(4),
            compat: u32_at(8),
            block_bits: bytes[12],
            slots: bytes[13],
            root: u16_at(14),
            inodes: u64::from_le_bytes(array(bytes, 16)),
            epoch: i64::from_le_bytes(array(bytes, 24)),
            epoch_ns: u32_at(32),
            blocks: u32_at(36),
            metadata: u32_at(40),
            xattrs: u32_at(44),
            uuid: array(bytes, 48),
            name: array(bytes, 64),
            incompat: u32_at(80),
            compressors: u16_at(84),
            devices: u16_at(86),
            device_slot: u16_at(88),
            directory_bits: bytes[90],
            xattr_prefixes: bytes[91],
            xattr_prefix_start: u32_at(92),
            packed: u64::from_le_bytes(array(bytes, 96)),
        })
    }

    /// Whether a feature of [`incompat`] is used.
    pub fn has(&self, feature: u32) -> bool {
        self.incompat & feature != 0
    }

    /// Size of a block in bytes.
    pub fn block_bytes(&self) -> u64 {
        1 << self.block_bits
    }
}

/// The `N` bytes of `bytes` at `at`, or zeros if they are not there.
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = at.checked_add(N).and_then(|end| bytes.get(at..end));
    found
        .and_then(|found| found.try_into().ok())
        .unwrap_or([0; N])
}

/// The bytes of the superblock's checksum in the superblock.
pub const CHECKSUM: std::ops::Range<usize> = 4..8;

/// The checksum of a superblock: of its block from the superblock on, in which the checksum is
/// zero.
pub fn checksum(block: &[u8]) -> u32 {
    crc32c(u32::MAX, block)
}

/// The number of a kind in the entries of a directory.
pub fn file_type(kind: NodeKind) -> u8 {
    match kind {
        NodeKind::File => 1,
        NodeKind::Directory => 2,
        NodeKind::CharacterDevice => 3,
        NodeKind::BlockDevice => 4,
        NodeKind::Fifo => 5,
        NodeKind::Socket => 6,
        NodeKind::Symlink => 7,
    }
}

/// The kind with this number in directories, if there is one.
pub fn kind_of_type(number: u8) -> Option<NodeKind> {
    Some(match number {
        1 => NodeKind::File,
        2 => NodeKind::Directory,
        3 => NodeKind::CharacterDevice,
        4 => NodeKind::BlockDevice,
        5 => NodeKind::Fifo,
        6 => NodeKind::Socket,
        7 => NodeKind::Symlink,
        _ => return None,
    })
}

/// The bits of a kind in a mode.
pub fn mode_bits(kind: NodeKind) -> u16 {
    match kind {
        NodeKind::Fifo => 0o010_000,
        NodeKind::CharacterDevice => 0o020_000,
        NodeKind::Directory => 0o040_000,
        NodeKind::BlockDevice => 0o060_000,
        NodeKind::File => 0o100_000,
        NodeKind::Symlink => 0o120_000,
        NodeKind::Socket => 0o140_000,
    }
}

/// The kind that a mode tells.
pub fn kind_of(mode: u16) -> Option<NodeKind> {
    Some(match mode & 0o170_000 {
        0o010_000 => NodeKind::Fifo,
        0o020_000 => NodeKind::CharacterDevice,
        0o040_000 => NodeKind::Directory,
        0o060_000 => NodeKind::BlockDevice,
        0o100_000 => NodeKind::File,
        0o120_000 => NodeKind::Symlink,
        0o140_000 => NodeKind::Socket,
        _ => return None,
    })
}

/// The prefixes of names of attributes, and their numbers. The two whole names have no rest.
pub const XATTR_PREFIXES: [(u8, &[u8]); 6] = [
    (1, b"user."),
    (2, b"system.posix_acl_access"),
    (3, b"system.posix_acl_default"),
    (4, b"trusted."),
    (5, b"lustre."),
    (6, b"security."),
];

/// A device number as inodes hold it.
pub fn device_bits((major, minor): (u32, u32)) -> u32 {
    minor & 0xff | major << 8 | (minor & !0xff) << 12
}

/// The major and minor number of a device.
pub fn device_numbers(bits: u32) -> (u32, u32) {
    ((bits & 0xf_ff00) >> 8, bits & 0xff | bits >> 12 & 0xf_ff00)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superblock_comes_back() {
        let superblock = Superblock {
            compat: 3,
            block_bits: 12,
            root: 36,
            inodes: 1 << 40,
            epoch: -5,
            epoch_ns: 6,
            blocks: 7,
            metadata: 8,
            xattrs: 9,
            uuid: [10; 16],
            name: *b"name of an image",
            incompat: 0x37,
            compressors: 11,
            packed: 1 << 33,
            ..Superblock::default()
        };
        let bytes = superblock.to_bytes();
        assert_eq!(Superblock::from_bytes(&bytes), Some(superblock));
        assert_eq!(Superblock::from_bytes(&[0; SUPERBLOCK_BYTES]), None);
    }

    #[test]
    fn device_numbers_come_back() {
        for device in [(8, 1), (0xfff, 0xf_ffff), (0, 0x100), (1, 0xff)] {
            assert_eq!(device_numbers(device_bits(device)), device);
        }
    }
}
