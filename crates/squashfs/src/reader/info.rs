use super::Image;
use crate::Result;
use hedgerow_codec::block::Settings;

/// What an image says about itself.
#[derive(Clone, Debug)]
pub struct Info {
    /// The compressor and what it was told; what the image does not record is as by default.
    pub settings: Settings,
    /// Whether the image records options of the compressor.
    pub options_recorded: bool,
    /// Bytes of a block.
    pub block_size: u32,
    /// Bytes of the image, without padding.
    pub bytes_used: u64,
    /// When it was made, in seconds since the epoch.
    pub mod_time: u32,
    /// Of [`format::flags`](crate::format::flags).
    pub flags: u16,
    /// Inodes.
    pub inodes: u32,
    /// Fragment blocks.
    pub fragments: u32,
    /// Owners and groups.
    pub ids: u16,
    /// Sets of extended attributes.
    pub xattrs: u32,
    /// Whether inodes can be found by number, as NFS needs.
    pub exportable: bool,
    /// Bytes of the inode table, compressed.
    pub inode_table_bytes: u64,
    /// Bytes of the directory table, compressed.
    pub directory_table_bytes: u64,
}

impl Image {
    /// What the superblock and the option block say.
    pub fn info(&self) -> Result<Info> {
        let superblock = &self.superblock;
        let (inodes, directories) = (self.layout.inodes, self.layout.directories);
        let xattrs = self.layout.xattr_ids.map_or(0, |table| table.count);
        Ok(Info {
            settings: self.settings()?,
            options_recorded: self.option_block()?.is_some(),
            block_size: superblock.block_size,
            bytes_used: superblock.bytes_used,
            mod_time: superblock.mod_time,
            flags: superblock.flags,
            inodes: superblock.inode_count,
            fragments: superblock.fragment_count,
            ids: superblock.id_count,
            xattrs: u32::try_from(xattrs).unwrap_or(u32::MAX),
            exportable: self.layout.export.is_some(),
            inode_table_bytes: inodes.end.saturating_sub(inodes.start),
            directory_table_bytes: directories.end.saturating_sub(directories.start),
        })
    }
}
