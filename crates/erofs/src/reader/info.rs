use super::Image;

/// General information about an image.
#[derive(Clone, Debug)]
pub struct Info {
    /// Size of a block in bytes.
    pub block_bytes: u64,
    /// Size of the image in bytes.
    pub image_bytes: u64,
    /// The time of compact inodes, in seconds since the epoch.
    pub epoch_s: i64,
    /// Number of inodes.
    pub inodes: u64,
    /// The identifier, in its usual form.
    pub uuid: String,
    /// The features that a reader may ignore, and those that it must know.
    pub features: (u32, u32),
}

impl Image {
    /// Collects the information from the superblock.
    pub fn info(&self) -> Info {
        let superblock = &self.superblock;
        Info {
            block_bytes: superblock.block_bytes(),
            image_bytes: u64::from(superblock.blocks) << superblock.block_bits,
            epoch_s: superblock.epoch,
            inodes: superblock.inodes,
            uuid: hedgerow_image::uuid::text(&superblock.uuid),
            features: (superblock.compat, superblock.incompat),
        }
    }
}
