use super::Image;
use crate::Result;
use hedgerow_codec::block::Settings;

/// General information about an image.
#[derive(Clone, Debug)]
pub struct Info {
    /// The compressor and its settings; settings that the image does not record have their
    /// defaults.
    pub settings: Settings,
    /// Whether the image records options of the compressor.
    pub options_recorded: bool,
    /// Size of a data block in bytes.
    pub block_size: u32,
    /// Size of the image in bytes, without padding.
    pub bytes_used: u64,
    /// Creation time in seconds since the epoch.
    pub mod_time: u32,
    /// The superblock's flags; see [`format::flags`](crate::format::flags).
    pub flags: u16,
    /// Number of inodes.
    pub inodes: u32,
    /// Number of fragment blocks.
    pub fragments: u32,
    /// Number of owners and groups.
    pub ids: u16,
    /// Number of sets of extended attributes.
    pub xattrs: u32,
    /// Whether inodes can be looked up by number, which NFS export needs.
    pub exportable: bool,
    /// Compressed size of the inode table in bytes.
    pub inode_table_bytes: u64,
    /// Compressed size of the directory table in bytes.
    pub directory_table_bytes: u64,
}

impl Image {
    /// Collects the information from the superblock and the option block.
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
