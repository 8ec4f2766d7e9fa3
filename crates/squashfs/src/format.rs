//! The on-disk format: constants and packed little-endian structures, shared by reader and writer.
//! Sources: the Linux driver, and the format description of squashfs-tools-ng.

use hedgerow_tree::NodeKind;

/// The first four bytes of an image, as a number.
pub const MAGIC: u32 = 0x7371_7368;
/// The only version that is read and written.
pub const VERSION: (u16, u16) = (4, 0);
/// The limits of the data block size, in bytes.
pub const BLOCK_BYTES: std::ops::RangeInclusive<u32> = 4096..=1 << 20;
/// Size of the superblock in bytes; the compressor's options follow it.
pub const SUPERBLOCK_BYTES: u64 = 96;
/// Size of a metadata block before compression, in bytes.
pub const METADATA_BYTES: usize = 8192;
/// Size of the header of a metadata block, in bytes.
pub const METADATA_HEADER_BYTES: u64 = 2;
/// Set in the header of a metadata block that is stored uncompressed.
pub const METADATA_RAW: u16 = 1 << 15;
/// The start position of a table that does not exist.
pub const NO_TABLE: u64 = u64::MAX;
/// The fragment index of a file without a fragment.
pub const NO_FRAGMENT: u32 = u32::MAX;
/// The xattr index of an inode without extended attributes.
pub const NO_XATTRS: u32 = u32::MAX;
/// The size in a directory's inode is this many bytes larger than its listing, because the kernel
/// generates `.` and `..`.
pub const DIRECTORY_EXTRA_BYTES: u32 = 3;
/// Maximum number of entries in a run of a directory listing.
pub const RUN_ENTRIES: u32 = 256;
/// Maximum length of a name in bytes, as in Linux.
pub const NAME_BYTES: usize = 255;
/// Size of an entry of the fragment table in bytes; the next three are those of the export table,
/// the id table and the xattr id table.
pub const FRAGMENT_ENTRY_BYTES: u64 = 16;
/// See [`FRAGMENT_ENTRY_BYTES`].
pub const EXPORT_ENTRY_BYTES: u64 = 8;
/// See [`FRAGMENT_ENTRY_BYTES`].
pub const ID_ENTRY_BYTES: u64 = 4;
/// See [`FRAGMENT_ENTRY_BYTES`].
pub const XATTR_ID_ENTRY_BYTES: u64 = 16;
/// Size of the header of the xattr id table in bytes; the positions of its blocks follow.
pub const XATTR_HEADER_BYTES: u64 = 16;
/// Set in the type of an extended attribute whose value is stored elsewhere.
pub const XATTR_OUT_OF_LINE: u16 = 0x100;
/// Prefixes of the names of extended attributes, by type number.
pub const XATTR_PREFIXES: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];

/// Flags of the superblock.
pub mod flags {
    /// Inodes are not compressed.
    pub const RAW_INODES: u16 = 0x1;
    /// Data blocks are not compressed.
    pub const RAW_DATA: u16 = 0x2;
    /// Fragment blocks are not compressed.
    pub const RAW_FRAGMENTS: u16 = 0x8;
    /// There are no fragments.
    pub const NO_FRAGMENTS: u16 = 0x10;
    /// Tails of files larger than a block are in fragments too.
    pub const ALWAYS_FRAGMENTS: u16 = 0x20;
    /// Equal files were stored once.
    pub const DUPLICATES: u16 = 0x40;
    /// There is an export table, which maps inode numbers to inodes.
    pub const EXPORTABLE: u16 = 0x80;
    /// Extended attributes are not compressed.
    pub const RAW_XATTRS: u16 = 0x100;
    /// There are no extended attributes.
    pub const NO_XATTRS: u16 = 0x200;
    /// The compressor's options follow the superblock.
    pub const COMPRESSOR_OPTIONS: u16 = 0x400;
    /// Ids are not compressed.
    pub const RAW_IDS: u16 = 0x800;
}

/// The superblock, field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the format's")]
pub struct Superblock {
    pub magic: u32,
    pub inode_count: u32,
    /// Seconds since the epoch.
    pub mod_time: u32,
    /// Size of a data block in bytes.
    pub block_size: u32,
    pub fragment_count: u32,
    pub compressor: u16,
    /// The logarithm of `block_size` to base 2.
    pub block_log: u16,
    /// The constants are in [`flags`].
    pub flags: u16,
    pub id_count: u16,
    pub version_major: u16,
    pub version_minor: u16,
    pub root_inode: Reference,
    /// Size of the image in bytes, without padding.
    pub bytes_used: u64,
    pub id_table_start: u64,
    pub xattr_id_table_start: u64,
    pub inode_table_start: u64,
    pub directory_table_start: u64,
    pub fragment_table_start: u64,
    pub export_table_start: u64,
}

impl Superblock {
    /// Decodes the fields without checking them.
    pub fn from_bytes(bytes: &[u8; SUPERBLOCK_BYTES as usize]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        let mut word = || words.next().unwrap_or_default();
        let (first, second, third, fourth) = (word(), word(), word(), word());
        Superblock {
            magic: first as u32,
            inode_count: (first >> 32) as u32,
            mod_time: second as u32,
            block_size: (second >> 32) as u32,
            fragment_count: third as u32,
            compressor: (third >> 32) as u16,
            block_log: (third >> 48) as u16,
            flags: fourth as u16,
            id_count: (fourth >> 16) as u16,
            version_major: (fourth >> 32) as u16,
            version_minor: (fourth >> 48) as u16,
            root_inode: Reference(word()),
            bytes_used: word(),
            id_table_start: word(),
            xattr_id_table_start: word(),
            inode_table_start: word(),
            directory_table_start: word(),
            fragment_table_start: word(),
            export_table_start: word(),
        }
    }

    /// Encodes the fields.
    pub fn to_bytes(&self) -> [u8; SUPERBLOCK_BYTES as usize] {
        let shorts = |shorts: [u16; 4]| {
            let bytes = shorts.map(u16::to_le_bytes);
            u64::from_le_bytes([
                bytes[0][0],
                bytes[0][1],
                bytes[1][0],
                bytes[1][1],
                bytes[2][0],
                bytes[2][1],
                bytes[3][0],
                bytes[3][1],
            ])
        };
        let words = [
            u64::from(self.magic) | u64::from(self.inode_count) << 32,
            u64::from(self.mod_time) | u64::from(self.block_size) << 32,
            u64::from(self.fragment_count)
                | u64::from(self.compressor) << 32
                | u64::from(self.block_log) << 48,
            shorts([
                self.flags,
                self.id_count,
                self.version_major,
                self.version_minor,
            ]),
            self.root_inode.0,
            self.bytes_used,
            self.id_table_start,
            self.xattr_id_table_start,
            self.inode_table_start,
            self.directory_table_start,
            self.fragment_table_start,
            self.export_table_start,
        ];
        let mut bytes = [0; SUPERBLOCK_BYTES as usize];
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        for (chunk, word) in chunks.iter_mut().zip(words) {
            *chunk = word.to_le_bytes();
        }
        bytes
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// A place in a table of metadata blocks: the position of the block from the start of the table,
/// and the offset in its decompressed content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference(pub u64);

impl Reference {
    /// Packs the position of a block and an offset in it.
    pub fn new(block: u64, offset: u16) -> Self {
        Reference(block << 16 | u64::from(offset))
    }

    /// Bytes from the start of the table to the header of the block.
    pub fn block(self) -> u64 {
        self.0 >> 16
    }

    /// Bytes from the start of the decompressed block.
    pub fn offset(self) -> u16 {
        self.0 as u16
    }
}

/// How a data block or a fragment block is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SizeWord(pub u32);

impl SizeWord {
    const RAW: u32 = 1 << 24;

    /// The word of a block that takes `stored_bytes` on disk; `raw` if it is uncompressed.
    pub fn new(stored_bytes: u32, raw: bool) -> Self {
        SizeWord(stored_bytes | if raw { Self::RAW } else { 0 })
    }

    /// Size on disk in bytes.
    pub fn stored_bytes(self) -> u32 {
        self.0 & (Self::RAW - 1)
    }

    /// Whether the block is stored uncompressed.
    pub fn is_raw(self) -> bool {
        self.0 & Self::RAW != 0
    }

    /// Whether the block is a hole of zeros, which is not stored.
    pub fn is_sparse(self) -> bool {
        self.stored_bytes() == 0
    }

    /// Whether only defined bits are set, and the stored size is not larger than a block.
    pub fn is_valid(self, block_size: u32) -> bool {
        let known = self.0 & !(Self::RAW | (Self::RAW - 1)) == 0;
        known && self.stored_bytes() <= block_size && (!self.is_sparse() || !self.is_raw())
    }
}

/// The type of an inode: a kind, and whether it is extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeType {
    /// The kind.
    pub kind: NodeKind,
    /// Whether the inode is extended, as it must be to have extended attributes.
    pub extended: bool,
}

/// The kinds in the order of their type numbers, from 1.
const KINDS: [NodeKind; 7] = [
    NodeKind::Directory,
    NodeKind::File,
    NodeKind::Symlink,
    NodeKind::BlockDevice,
    NodeKind::CharacterDevice,
    NodeKind::Fifo,
    NodeKind::Socket,
];

impl InodeType {
    /// Decodes a type number, 1 to 14.
    pub fn from_id(id: u16) -> Option<Self> {
        let index = usize::from(id).checked_sub(1)?;
        let extended = index >= KINDS.len();
        let kind = *KINDS.get(index.checked_sub(KINDS.len()).unwrap_or(index))?;
        Some(InodeType { kind, extended })
    }

    /// The type number. Directory listings use that of the basic form for both forms.
    pub fn id(self) -> u16 {
        let index = KINDS.iter().position(|kind| *kind == self.kind);
        let basic = index.unwrap_or_default() as u16 + 1;
        basic + if self.extended { KINDS.len() as u16 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superblock_is_the_same_after_a_round_trip() {
        let bytes: [u8; 96] = std::array::from_fn(|at| (at * 5 + 1) as u8);
        let superblock = Superblock::from_bytes(&bytes);
        assert_eq!(superblock.to_bytes(), bytes);
        assert_eq!(
            superblock.block_log,
            u16::from_le_bytes([bytes[22], bytes[23]])
        );
        assert_eq!(
            superblock.id_count,
            u16::from_le_bytes([bytes[26], bytes[27]])
        );
        assert_eq!(superblock.export_table_start.to_le_bytes(), bytes[88..]);
    }

    #[test]
    fn types_have_numbers_from_1_to_14() {
        for id in 0..=u16::MAX {
            let found = InodeType::from_id(id);
            assert_eq!(found.is_some(), (1..=14).contains(&id));
            assert!(found.is_none_or(|found| found.id() == id));
        }
    }

    #[test]
    fn words_and_references_are_taken_apart() {
        let word = SizeWord::new(4096, true);
        assert!(word.is_raw() && word.is_valid(4096) && !SizeWord(4097).is_valid(4096));
        assert!(!SizeWord(1 << 25).is_valid(4096) && !SizeWord(1 << 24).is_valid(4096));
        assert!(SizeWord(0).is_sparse() && SizeWord(0).is_valid(4096));
        let reference = Reference::new(0x1234_5678, 0x1fff);
        assert_eq!(
            (reference.block(), reference.offset()),
            (0x1234_5678, 0x1fff)
        );
    }
}
