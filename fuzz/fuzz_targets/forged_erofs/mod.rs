//! EROFS images around any bytes: a superblock that is accepted, and a root.

use hedgerow_erofs::format::{
    incompat, Superblock, NID_BYTES, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET,
};

/// The number of the inode that `bytes` begin with.
pub const INODE: u64 = 4096 / NID_BYTES;

/// An image in whose second block `bytes` begin, with the features of `features`.
pub fn image(bytes: &[u8], features: u32) -> Vec<u8> {
    let mut image = vec![0; 4096];
    image.extend_from_slice(bytes);
    image.resize(image.len().next_multiple_of(4096), 0);
    let superblock = Superblock {
        block_bits: 12,
        root: INODE as u16,
        inodes: 1,
        blocks: (image.len() / 4096) as u32,
        incompat: features & incompat::KNOWN & !incompat::DEVICES,
        packed: INODE + 2,
        ..Superblock::default()
    };
    let start = SUPERBLOCK_OFFSET as usize;
    image[start..start + SUPERBLOCK_BYTES].copy_from_slice(&superblock.to_bytes());
    image
}
