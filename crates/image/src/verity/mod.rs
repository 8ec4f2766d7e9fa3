//! Hash trees of dm-verity behind images.
//!
//! The kernel checks each block that it reads of a device against a tree of hashes, whose root is
//! told to it from outside. [`append`] writes such a tree behind an image, [`check()`] checks an
//! image against its tree, [`inspect`] tells what is there. The form is that of `veritysetup format
//! --hash-offset=SIZE`: a block with a superblock, then the levels of the tree, the highest first.
//! Data and hash blocks have 4096 bytes, and the hash is SHA-256.
//!
//! Source: the kernel's `Documentation/admin-guide/device-mapper/verity.rst` and cryptsetup's
//! description of the format.

mod check;
mod find;
mod format;
mod write;

pub use check::{check, inspect, Checked};
pub use format::{BLOCK_BYTES, SALT_BYTES};
pub use write::append;

use crate::hex;

/// A digest of SHA-256.
pub type Digest = [u8; 32];

/// How a tree is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerityOptions {
    /// What is hashed before each block; at most [`SALT_BYTES`] bytes.
    pub salt: Vec<u8>,
}

/// A tree behind an image: what is needed to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verity {
    /// The digest that vouches for every block.
    pub root_hash: Digest,
    /// Where the superblock of the tree is, in bytes from the start of the image. All before it is
    /// covered.
    pub hash_offset: u64,
    /// Number of blocks that are covered.
    pub data_blocks: u64,
    /// What is hashed before each block.
    pub salt: Vec<u8>,
    /// The identifier in the superblock of the tree.
    pub uuid: [u8; 16],
}

impl Verity {
    /// The block at which the tree itself starts, as tables of dm-verity have it.
    pub fn hash_start_block(&self) -> u64 {
        self.hash_offset / BLOCK_BYTES + 1
    }

    /// The salt as veritysetup and tables of dm-verity have it: `-` for none.
    pub fn salt_text(&self) -> String {
        match self.salt.as_slice() {
            [] => "-".into(),
            salt => hex::text(salt),
        }
    }
}

/// Parses a root hash.
///
/// # Errors
/// It is none; the message tells what one is.
pub fn parse_root_hash(text: &str) -> Result<Digest, String> {
    let bytes = hex::parse(text).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| format!("'{text}' is not a root hash: it has 64 hexadecimal digits"))
}

/// Parses a salt; `-` is none.
///
/// # Errors
/// It is none; the message tells what one is.
pub fn parse_salt(text: &str) -> Result<Vec<u8>, String> {
    if text == "-" {
        return Ok(Vec::new());
    }
    let is_valid = |bytes: &Vec<u8>| (1..=SALT_BYTES).contains(&bytes.len());
    let bytes = hex::parse(text).filter(is_valid);
    bytes.ok_or_else(|| {
        format!("'{text}' is not a salt: it has 1 to {SALT_BYTES} bytes, as hexadecimal digits")
    })
}
