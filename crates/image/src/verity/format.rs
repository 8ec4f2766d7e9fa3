//! The superblock of a tree, and where its blocks are. All numbers are little-endian.

use super::Digest;
use sha2::{Digest as _, Sha256};

/// Size of a block of data and of a block of hashes, in bytes.
pub const BLOCK_BYTES: u64 = 4096;
/// Maximum size of a salt in bytes.
pub const SALT_BYTES: usize = 256;
/// Size of the superblock in bytes; it has a block of its own.
pub(super) const SUPERBLOCK_BYTES: usize = 512;
/// Number of digests in a block.
pub(super) const FANOUT: u64 = BLOCK_BYTES / DIGEST_BYTES as u64;
pub(super) const DIGEST_BYTES: usize = 32;

const SIGNATURE: &[u8; 8] = b"verity\0\0";
const VERSION: u32 = 1;
/// The salt comes first; in type 0, that of Chrome OS, it comes last.
const HASH_TYPE: u32 = 1;
const ALGORITHM: &[u8] = b"sha256";

/// Positions of the fields.
const VERSION_AT: usize = 8;
const HASH_TYPE_AT: usize = 12;
const UUID_AT: usize = 16;
const ALGORITHM_AT: usize = 32;
const DATA_BLOCK_BYTES_AT: usize = 64;
const HASH_BLOCK_BYTES_AT: usize = 68;
pub(super) const DATA_BLOCKS_AT: usize = 72;
const SALT_BYTES_AT: usize = 80;
const SALT_AT: usize = 88;

/// A block of data or of hashes.
pub(super) type Block = [u8; BLOCK_BYTES as usize];

/// The superblock of a tree. What it does not hold has one value only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Superblock {
    pub uuid: [u8; 16],
    /// Number of blocks that are covered.
    pub data_blocks: u64,
    pub salt: Vec<u8>,
}

/// A field of a superblock that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrongField {
    /// The position of the field in the superblock.
    pub at: usize,
    pub what: String,
}

impl Superblock {
    /// Encodes it. The salt has [`SALT_BYTES`] at most.
    pub fn to_bytes(&self) -> [u8; SUPERBLOCK_BYTES] {
        let mut bytes = [0; SUPERBLOCK_BYTES];
        let mut put = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        assert!(self.salt.len() <= SALT_BYTES);
        put(0, SIGNATURE);
        put(VERSION_AT, &VERSION.to_le_bytes());
        put(HASH_TYPE_AT, &HASH_TYPE.to_le_bytes());
        put(UUID_AT, &self.uuid);
        put(ALGORITHM_AT, ALGORITHM);
        put(DATA_BLOCK_BYTES_AT, &(BLOCK_BYTES as u32).to_le_bytes());
        put(HASH_BLOCK_BYTES_AT, &(BLOCK_BYTES as u32).to_le_bytes());
        put(DATA_BLOCKS_AT, &self.data_blocks.to_le_bytes());
        put(SALT_BYTES_AT, &(self.salt.len() as u16).to_le_bytes());
        put(SALT_AT, &self.salt);
        bytes
    }

    /// Decodes it. A field with a value that is not supported is as wrong as one that has been
    /// changed: neither can be told from the other.
    pub fn from_bytes(bytes: &[u8; SUPERBLOCK_BYTES]) -> Result<Self, WrongField> {
        let wrong = |at, what: String| Err(WrongField { at, what });
        let u32_at = |at| u32::from_le_bytes(array(bytes, at));
        if bytes.first_chunk() != Some(SIGNATURE) {
            return wrong(0, "a damaged signature".into());
        }
        for (at, name, supported) in [
            (VERSION_AT, "version", VERSION),
            (HASH_TYPE_AT, "hash type", HASH_TYPE),
        ] {
            let found = u32_at(at);
            if found != supported {
                return wrong(at, format!("{name} {found}: only {supported} is supported"));
            }
        }
        let name: [u8; 32] = array(bytes, ALGORITHM_AT);
        let (start, rest) = name.split_at(ALGORITHM.len());
        if start != ALGORITHM || rest.iter().any(|byte| *byte != 0) {
            let end = name
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(name.len());
            let name = String::from_utf8_lossy(name.get(..end).unwrap_or_default());
            let what = format!("the algorithm '{name}': only sha256 is supported");
            return wrong(ALGORITHM_AT, what);
        }
        for (at, name) in [(DATA_BLOCK_BYTES_AT, "data"), (HASH_BLOCK_BYTES_AT, "hash")] {
            let found = u32_at(at);
            if u64::from(found) != BLOCK_BYTES {
                let what = format!("{name} blocks of {found} bytes: only 4096 are supported");
                return wrong(at, what);
            }
        }
        let salt_bytes = u16::from_le_bytes(array(bytes, SALT_BYTES_AT));
        if usize::from(salt_bytes) > SALT_BYTES {
            return wrong(SALT_BYTES_AT, format!("a salt of {salt_bytes} bytes"));
        }
        let end_of_salt = SALT_AT + usize::from(salt_bytes);
        for unused in [SALT_BYTES_AT + 2..SALT_AT, end_of_salt..SUPERBLOCK_BYTES] {
            let mut between = (unused.start..).zip(bytes.get(unused).unwrap_or_default());
            if let Some((at, _)) = between.find(|(_, byte)| **byte != 0) {
                return wrong(at, "bytes that are unused, but not zero".into());
            }
        }
        Ok(Superblock {
            uuid: array(bytes, UUID_AT),
            data_blocks: u64::from_le_bytes(array(bytes, DATA_BLOCKS_AT)),
            salt: bytes.get(SALT_AT..end_of_salt).unwrap_or_default().to_vec(),
        })
    }

    /// Whether these bytes were a superblock once: either the signature is intact, or all the rest
    /// is.
    pub fn is_meant_by(bytes: &[u8; SUPERBLOCK_BYTES]) -> bool {
        let mut signed = *bytes;
        signed[..SIGNATURE.len()].copy_from_slice(SIGNATURE);
        signed == *bytes || Superblock::from_bytes(&signed).is_ok()
    }
}

/// The `N` bytes at `at`, which are there.
fn array<const N: usize>(bytes: &[u8; SUPERBLOCK_BYTES], at: usize) -> [u8; N] {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    *found.expect("fields are in the superblock")
}

/// The shape of a tree. Level 0 has the digests of data blocks, each further level those of the
/// blocks of the one below it, and the highest has one block. A single data block needs no level:
/// its digest is the root hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub data_blocks: u64,
    /// The lowest first.
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    /// Its first block, counted from the start of the tree.
    start: u64,
    blocks: u64,
}

impl Shape {
    pub fn of(data_blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut blocks = data_blocks;
        while blocks > 1 {
            blocks = blocks.div_ceil(FANOUT);
            levels.push(Level { start: 0, blocks });
        }
        let mut start = 0;
        for level in levels.iter_mut().rev() {
            level.start = start;
            start += level.blocks;
        }
        Shape {
            data_blocks,
            levels,
        }
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Number of blocks of the tree.
    pub fn blocks(&self) -> u64 {
        self.levels.iter().map(|level| level.blocks).sum()
    }

    /// Number of groups of data blocks whose digests are in one block.
    pub fn groups(&self) -> u64 {
        self.data_blocks.div_ceil(FANOUT)
    }

    /// The numbers of the data blocks of a group.
    pub fn group(&self, number: u64) -> std::ops::Range<u64> {
        let start = number.saturating_mul(FANOUT);
        start..start.saturating_add(FANOUT).min(self.data_blocks)
    }

    /// The position of a block of a level, in bytes from the start of the tree.
    pub fn position(&self, level: usize, index: u64) -> u64 {
        let level = self.levels.get(level).expect("it is a level of the tree");
        assert!(index < level.blocks);
        (level.start + index) * BLOCK_BYTES
    }

    /// Number of digests in a block of a level.
    pub fn digests(&self, level: usize, index: u64) -> u64 {
        let below = match level.checked_sub(1) {
            None => self.data_blocks,
            Some(below) => self.levels.get(below).map_or(0, |below| below.blocks),
        };
        below
            .saturating_sub(index.saturating_mul(FANOUT))
            .min(FANOUT)
    }
}

/// Hashes blocks, each behind the salt.
#[derive(Clone)]
pub(super) struct Hasher(Sha256);

impl Hasher {
    pub fn new(salt: &[u8]) -> Self {
        Hasher(Sha256::new().chain_update(salt))
    }

    pub fn digest(&self, block: &[u8]) -> Digest {
        self.0.clone().chain_update(block).finalize().into()
    }

    /// The block of the digests of the blocks in `data`.
    pub fn hash_block(&self, data: &[u8]) -> Block {
        let mut digests = [0; BLOCK_BYTES as usize];
        let places = digests.chunks_exact_mut(DIGEST_BYTES);
        for (place, block) in places.zip(data.chunks(BLOCK_BYTES as usize)) {
            place.copy_from_slice(&self.digest(block));
        }
        digests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn superblock() -> Superblock {
        Superblock {
            uuid: [7; 16],
            data_blocks: 1 << 40,
            salt: vec![1, 2, 3],
        }
    }

    #[test]
    fn a_superblock_comes_back() {
        let longest = Superblock {
            salt: vec![0xff; SALT_BYTES],
            ..superblock()
        };
        for superblock in [superblock(), longest] {
            let bytes = superblock.to_bytes();
            assert_eq!(Superblock::from_bytes(&bytes), Ok(superblock));
        }
    }

    /// Every changed byte is told with the place of its field, apart from what may have any value.
    #[test]
    fn every_field_is_looked_at() {
        let bytes = superblock().to_bytes();
        let any_value = [
            UUID_AT..UUID_AT + 16,
            DATA_BLOCKS_AT..DATA_BLOCKS_AT + 8,
            SALT_BYTES_AT..SALT_BYTES_AT + 1,
            SALT_AT..SALT_AT + 3,
        ];
        for at in 0..SUPERBLOCK_BYTES {
            let mut wrong = bytes;
            wrong[at] ^= 0x10;
            let is_free = any_value.iter().any(|field| field.contains(&at));
            match Superblock::from_bytes(&wrong) {
                Ok(_) => assert!(is_free, "{at}"),
                Err(field) => assert!(!is_free && field.at <= at && at < field.at + 32, "{at}"),
            }
            assert!(Superblock::is_meant_by(&wrong), "{at}");
        }
        assert!(!Superblock::is_meant_by(&[0; SUPERBLOCK_BYTES]));
    }

    #[test]
    fn trees_have_as_many_levels_as_they_need() {
        for (data_blocks, levels) in [
            (0, &[][..]),
            (1, &[]),
            (2, &[1]),
            (127, &[1]),
            (128, &[1]),
            (129, &[2, 1]),
            (128 * 128, &[128, 1]),
            (128 * 128 + 1, &[129, 2, 1]),
            (128 * 128 * 128 - 1, &[16_384, 128, 1]),
            (128 * 128 * 128, &[16_384, 128, 1]),
            (128 * 128 * 128 + 1, &[16_385, 129, 2, 1]),
        ] {
            let shape = Shape::of(data_blocks);
            let found: Vec<u64> = shape.levels.iter().map(|level| level.blocks).collect();
            assert_eq!(found, levels, "{data_blocks}");
            assert_eq!(shape.blocks(), levels.iter().sum::<u64>());
            // The highest level stands first, and each follows the one above it.
            let mut start = 0;
            for (level, blocks) in levels.iter().enumerate().rev() {
                assert_eq!(shape.position(level, 0), start * BLOCK_BYTES);
                let held: u64 = (0..*blocks).map(|index| shape.digests(level, index)).sum();
                let below = level
                    .checked_sub(1)
                    .map_or(data_blocks, |below| levels[below]);
                assert_eq!(held, below);
                start += blocks;
            }
        }
        assert_eq!(Shape::of(u64::MAX).levels(), 10);
    }
}
