//! An image around tables of any bytes.
#![allow(dead_code, reason = "no target needs all of it")]

use hedgerow_squashfs::format::{flags, Reference, Superblock, MAGIC, NO_TABLE};

/// The tables, as metadata blocks.
pub struct Parts {
    compressor: u16,
    /// What stands between the superblock and the tables.
    pub data: Vec<u8>,
    pub inodes: Vec<u8>,
    pub directories: Vec<u8>,
    /// Fragment blocks, and how many there are.
    pub fragments: Option<(Vec<u8>, u32)>,
    pub ids: Ids,
    /// Values, sets, and how many sets there are.
    pub xattrs: Option<(Vec<u8>, Vec<u8>, u32)>,
}

/// The id table.
pub struct Ids {
    pub stored: Vec<u8>,
    /// Where its blocks begin in `stored`.
    pub positions: Vec<u64>,
    pub count: u16,
}

/// Where data begin: behind the superblock and the option block that lz4 needs.
pub const DATA_START: u64 = 96 + 10;

/// Bytes in metadata blocks that are not compressed.
pub fn raw(bytes: &[u8]) -> Vec<u8> {
    let block = |piece: &[u8]| [&(piece.len() as u16 | 0x8000).to_le_bytes(), piece].concat();
    bytes.chunks(8192).flat_map(block).collect()
}

impl Parts {
    pub fn new(compressor: u16) -> Self {
        Parts {
            compressor,
            data: Vec::new(),
            inodes: raw(&[0; 32]),
            directories: raw(&[0; 32]),
            fragments: None,
            ids: Ids {
                stored: raw(&[0; 4]),
                positions: vec![0],
                count: 1,
            },
            xattrs: None,
        }
    }

    pub fn build(&self) -> Vec<u8> {
        let mut image = vec![0; DATA_START as usize];
        let mut flags = 0;
        if self.compressor == 5 {
            flags = flags::COMPRESSOR_OPTIONS;
            image[96..][..10].copy_from_slice(&[8, 0x80, 1, 0, 0, 0, 0, 0, 0, 0]);
        }
        let mut append = |bytes: &[u8]| {
            let start = image.len() as u64;
            image.extend_from_slice(bytes);
            start
        };
        append(&self.data);
        let inode_table_start = append(&self.inodes);
        let directory_table_start = append(&self.directories);
        let mut fragment_table_start = NO_TABLE;
        let mut fragment_count = 0;
        if let Some((blocks, count)) = &self.fragments {
            let blocks = append(blocks);
            let positions = (0..(*count * 16).div_ceil(8192)).map(|block| block * 8194);
            let positions = positions.map(|position| (blocks + u64::from(position)).to_le_bytes());
            (fragment_table_start, fragment_count) =
                (append(&positions.collect::<Vec<_>>().concat()), *count);
        }
        let ids = append(&self.ids.stored);
        let positions = self
            .ids
            .positions
            .iter()
            .map(|position| (ids + position).to_le_bytes());
        let id_table_start = append(&positions.collect::<Vec<_>>().concat());
        let mut xattr_id_table_start = NO_TABLE;
        if let Some((values, sets, count)) = &self.xattrs {
            let values = append(values);
            let sets = append(sets);
            xattr_id_table_start = append(&values.to_le_bytes());
            append(&u64::from(*count).to_le_bytes());
            for block in 0..(u64::from(*count) * 16).div_ceil(8192) {
                append(&(sets + block * 8194).to_le_bytes());
            }
        }
        let superblock = Superblock {
            magic: MAGIC,
            inode_count: 1,
            mod_time: 0,
            block_size: 4096,
            fragment_count,
            compressor: self.compressor,
            block_log: 12,
            flags,
            id_count: self.ids.count,
            version_major: 4,
            version_minor: 0,
            root_inode: Reference(0),
            bytes_used: image.len() as u64,
            id_table_start,
            xattr_id_table_start,
            inode_table_start,
            directory_table_start,
            fragment_table_start,
            export_table_start: NO_TABLE,
        };
        image[..96].copy_from_slice(&superblock.to_bytes());
        image
    }
}
