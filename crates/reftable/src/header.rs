//! The start of a table, and its end.

use crate::error::malformed;
use crate::Result;
use gix_hash::Kind;
use hedgerow_codec::crc32;

const MAGIC: &[u8; 4] = b"REFT";
/// The bytes of a footer behind its copy of the header: five positions and a checksum.
const POSITIONS_BYTES: usize = 5 * 8;
const CHECKSUM_BYTES: usize = 4;
/// The longest header and the longest footer.
pub(crate) const HEADER_LIMIT: usize = 28;
pub(crate) const FOOTER_LIMIT: usize = HEADER_LIMIT + POSITIONS_BYTES + CHECKSUM_BYTES;

/// What is said at the start of a table and once more at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// What blocks are aligned to, in bytes; 0 if they are not.
    pub block_size: u32,
    pub min_update_index: u64,
    pub max_update_index: u64,
    pub hash: Kind,
    /// 1, or 2, which names the hash.
    version: u8,
}

impl Header {
    /// The header of a table with ids of `hash`, in the oldest version that can say so.
    pub(crate) fn new(block_size: u32, update_indexes: (u64, u64), hash: Kind) -> Self {
        Header {
            block_size,
            min_update_index: update_indexes.0,
            max_update_index: update_indexes.1,
            hash,
            version: if hash == Kind::Sha1 { 1 } else { 2 },
        }
    }

    /// The header at the start of `bytes`.
    pub(crate) fn read(bytes: &[u8], hash: Kind) -> Result<Self> {
        let wrong = |reason| malformed(reason, 0);
        let short = || wrong("no whole header");
        if bytes.get(..4).ok_or_else(short)? != MAGIC {
            return Err(wrong("no table"));
        }
        let version = *bytes.get(4).ok_or_else(short)?;
        let word = u64_at(bytes, 4).ok_or_else(short)?;
        let found = match version {
            1 => Kind::Sha1,
            2 => match bytes.get(24..28).ok_or_else(short)? {
                b"sha1" => Kind::Sha1,
                b"s256" => Kind::Sha256,
                _ => return Err(wrong("an unknown hash")),
            },
            _ => return Err(wrong("an unknown version")),
        };
        if found != hash {
            return Err(wrong("the hash of another repository"));
        }
        Ok(Header {
            // The version is the first of the four bytes.
            block_size: (word >> 32) as u32 & 0x00ff_ffff,
            min_update_index: u64_at(bytes, 8).ok_or_else(short)?,
            max_update_index: u64_at(bytes, 16).ok_or_else(short)?,
            hash,
            version,
        })
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(MAGIC);
        let word = u32::from(self.version) << 24 | self.block_size;
        bytes.extend_from_slice(&word.to_be_bytes());
        bytes.extend_from_slice(&self.min_update_index.to_be_bytes());
        bytes.extend_from_slice(&self.max_update_index.to_be_bytes());
        if self.version == 2 {
            let hash: &[u8] = match self.hash {
                Kind::Sha1 => b"sha1",
                _ => b"s256",
            };
            bytes.extend_from_slice(hash);
        }
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        if self.version == 1 {
            24
        } else {
            HEADER_LIMIT
        }
    }

    /// The length of the footer, in bytes.
    pub(crate) fn footer_len(&self) -> usize {
        self.len() + POSITIONS_BYTES + CHECKSUM_BYTES
    }
}

/// Where sections begin, in bytes from the start of the table; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Positions {
    pub ref_index: u64,
    /// Of the blocks of objects; without the length of their ids.
    pub objects: u64,
    pub object_index: u64,
    pub logs: u64,
    pub log_index: u64,
}

impl Positions {
    /// Those in `footer`, the last bytes of a table that begins with `header`.
    pub(crate) fn read(footer: &[u8], header: &Header) -> Result<Self> {
        let wrong = |reason| malformed(reason, 0);
        let mut copy = Vec::new();
        header.write(&mut copy);
        let rest = footer.strip_prefix(copy.as_slice());
        let rest = rest.ok_or_else(|| wrong("a footer that is not of the header"))?;
        let (said, checksum) = footer
            .split_last_chunk::<CHECKSUM_BYTES>()
            .ok_or_else(|| wrong("no whole footer"))?;
        if crc32(0, said) != u32::from_be_bytes(*checksum) {
            return Err(wrong("a footer with a wrong checksum"));
        }
        let position =
            |number: usize| u64_at(rest, number * 8).ok_or_else(|| wrong("no whole footer"));
        Ok(Positions {
            ref_index: position(0)?,
            objects: position(1)? >> 5,
            object_index: position(2)?,
            logs: position(3)?,
            log_index: position(4)?,
        })
    }

    /// The footer of a table with `header`.
    pub(crate) fn write(&self, header: &Header, bytes: &mut Vec<u8>) {
        let mut footer = Vec::with_capacity(FOOTER_LIMIT);
        header.write(&mut footer);
        let objects = self.objects << 5;
        for position in [
            self.ref_index,
            objects,
            self.object_index,
            self.logs,
            self.log_index,
        ] {
            footer.extend_from_slice(&position.to_be_bytes());
        }
        let checksum = crc32(0, &footer);
        footer.extend_from_slice(&checksum.to_be_bytes());
        bytes.extend_from_slice(&footer);
    }
}

fn u64_at(bytes: &[u8], position: usize) -> Option<u64> {
    let bytes = bytes.get(position..)?.first_chunk::<8>()?;
    Some(u64::from_be_bytes(*bytes))
}
