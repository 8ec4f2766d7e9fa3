use super::Image;
use crate::format::{array, compat, incompat, Superblock, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET};
use hedgerow_codec::cluster::Algorithm;
use hedgerow_image::Part;

/// The features that a reader may ignore, with the names that erofs-utils gives them.
const COMPATIBLE: [(u32, &str); 6] = [
    (compat::CHECKSUM, "sb_csum"),
    (compat::MTIME, "mtime"),
    (compat::XATTR_FILTER, "xattr_filter"),
    (compat::XATTRS_IN_METADATA, "shared_ea_in_metabox"),
    (compat::PLAIN_XATTR_PREFIXES, "plain_xattr_pfx"),
    (compat::SHARED_INODE_XATTRS, "ishare_xattrs"),
];
/// Those that it must know.
const INCOMPATIBLE: [(u32, &str); 9] = [
    (incompat::ZERO_PADDING, "lz4_0padding"),
    (incompat::COMPRESSION, "compr_cfgs"),
    (incompat::CHUNKED, "chunked_file"),
    (incompat::DEVICES, "device_table"),
    (incompat::INLINE_CLUSTER, "ztailpacking"),
    (incompat::FRAGMENTS, "fragments"),
    (incompat::XATTR_PREFIXES, "xattr_prefixes"),
    (incompat::WIDE, "48bit"),
    (incompat::METADATA_INODE, "metabox"),
];

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
    /// The names of all of these that have one, as erofs-utils gives them.
    pub feature_names: Vec<&'static str>,
    /// The compressors that contents may need; none if nothing is compressed.
    pub compressors: Vec<&'static str>,
    /// Maximum size of a compressed cluster in bytes. Only images with LZ4 tell it.
    pub cluster_bytes: Option<u64>,
}

impl Image {
    /// Collects the information from the superblock and what follows it.
    pub fn info(&self) -> Info {
        let superblock = &self.superblock;
        let known = COMPATIBLE.iter().map(|it| (superblock.compat, it));
        let known = known.chain(INCOMPATIBLE.iter().map(|it| (superblock.incompat, it)));
        let named = known.filter(|(features, (feature, _))| features & feature != 0);
        Info {
            block_bytes: superblock.block_bytes(),
            image_bytes: u64::from(superblock.blocks) << superblock.block_bits,
            epoch_s: superblock.epoch,
            inodes: superblock.inodes,
            uuid: hedgerow_image::uuid::text(&superblock.uuid),
            features: (superblock.compat, superblock.incompat),
            feature_names: named.map(|(_, (_, name))| *name).collect(),
            compressors: compressors(superblock).map(Algorithm::name).collect(),
            cluster_bytes: self.cluster_bytes(),
        }
    }

    /// The settings of LZ4, which come first, have the maximum number of blocks behind the window.
    fn cluster_bytes(&self) -> Option<u64> {
        const BLOCKS_AT: usize = 4;
        let superblock = &self.superblock;
        if !compressors(superblock).any(|it| it == Algorithm::Lz4) {
            return None;
        }
        if !superblock.has(incompat::COMPRESSION) {
            return Some(superblock.block_bytes());
        }
        let place = SUPERBLOCK_OFFSET + superblock.bytes() as u64;
        let settings = self.metadata_array::<6>(Part::OptionBlock, place).ok()?;
        let blocks = u16::from_le_bytes(array(&settings, BLOCKS_AT)).max(1);
        Some(u64::from(blocks) << superblock.block_bits)
    }
}

/// The compressors that the superblock names. Without settings, that is LZ4 or none.
fn compressors(superblock: &Superblock) -> impl Iterator<Item = Algorithm> + '_ {
    let may_need = |algorithm: &Algorithm| {
        if superblock.has(incompat::COMPRESSION) {
            return superblock.compressors >> algorithm.id() & 1 != 0;
        }
        *algorithm == Algorithm::Lz4 && superblock.has(incompat::ZERO_PADDING)
    };
    Algorithm::ALL.into_iter().filter(may_need)
}

impl Superblock {
    /// Its size with its extension slots.
    fn bytes(&self) -> usize {
        SUPERBLOCK_BYTES + usize::from(self.slots) * crate::format::SLOT_BYTES
    }
}
