//! Packs made by hand, with what git would not write.

use gix_hash::{Kind, ObjectId};
use hedgerow::plumbing::codec::deflate;

pub const COMMIT: u8 = 1;
pub const TREE: u8 = 2;
pub const BLOB: u8 = 3;
pub const TAG: u8 = 4;
const OFFSET_DELTA: u8 = 6;
const REFERENCE_DELTA: u8 = 7;

/// A pack that is being made.
pub struct Craft {
    pub bytes: Vec<u8>,
    hash: Kind,
    count: u32,
}

impl Craft {
    pub fn new(hash: Kind) -> Self {
        Craft {
            bytes: b"PACK\0\0\0\x02\0\0\0\0".to_vec(),
            hash,
            count: 0,
        }
    }

    /// Adds an object that is no delta. Returns its id.
    pub fn add(&mut self, kind: u8, content: &[u8]) -> ObjectId {
        self.entry(kind, content.len() as u64, &[], &deflate(content, 1));
        id(self.hash, kind, content)
    }

    /// Adds a delta against the entry that starts `distance` bytes before. Returns where it starts.
    pub fn add_offset_delta(&mut self, distance: u64, delta: &[u8]) -> u64 {
        let (size, base) = (delta.len() as u64, varint(distance));
        self.entry(OFFSET_DELTA, size, &base, &deflate(delta, 1))
    }

    /// Adds a delta against the object `base`.
    pub fn add_reference_delta(&mut self, base: &ObjectId, delta: &[u8]) -> u64 {
        let size = delta.len() as u64;
        self.entry(REFERENCE_DELTA, size, base.as_slice(), &deflate(delta, 1))
    }

    /// Adds an entry: its type, the size it declares, what stands before the stream, the stream.
    pub fn entry(&mut self, kind: u8, size: u64, base: &[u8], stream: &[u8]) -> u64 {
        let offset = self.bytes.len() as u64;
        self.bytes.push(kind << 4 | (size & 15) as u8);
        let mut rest = size >> 4;
        while rest > 0 {
            *self.bytes.last_mut().unwrap() |= 0x80;
            self.bytes.push((rest & 0x7f) as u8);
            rest >>= 7;
        }
        self.bytes.extend_from_slice(base);
        self.bytes.extend_from_slice(stream);
        self.count += 1;
        offset
    }

    /// The pack, with the count of what was added and its checksum.
    pub fn seal(self) -> Vec<u8> {
        let count = self.count;
        self.seal_as(count)
    }

    /// The pack, saying that it has `count` entries.
    pub fn seal_as(mut self, count: u32) -> Vec<u8> {
        self.bytes[8..12].copy_from_slice(&count.to_be_bytes());
        seal(self.bytes, self.hash)
    }
}

/// `bytes` and their checksum.
pub fn seal(mut bytes: Vec<u8>, hash: Kind) -> Vec<u8> {
    let checksum = hash_of(hash, &bytes);
    bytes.extend_from_slice(checksum.as_slice());
    bytes
}

pub fn id(hash: Kind, kind: u8, content: &[u8]) -> ObjectId {
    let name = ["", "commit", "tree", "blob", "tag"][usize::from(kind)];
    let header = format!("{name} {}\0", content.len());
    hash_of(hash, &[header.as_bytes(), content].concat())
}

/// A delta that makes `result` without its base of `source` bytes.
pub fn insertion(source: u64, result: &[u8]) -> Vec<u8> {
    let length = |mut value: u64| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(0x80 | (value & 0x7f) as u8);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    let mut delta = [length(source), length(result.len() as u64)].concat();
    for piece in result.chunks(127) {
        delta.push(piece.len() as u8);
        delta.extend_from_slice(piece);
    }
    delta
}

/// An index that lists the id `wanted` where the pack has the object `real`.
pub fn lying_index(index: &[u8], real: &ObjectId, wanted: &ObjectId) -> Vec<u8> {
    let hash = real.kind();
    let (length, table) = (hash.len_in_bytes(), 8 + 1024);
    let count = u32::from_be_bytes(index[table - 4..table].try_into().unwrap()) as usize;
    assert_eq!(count, 1, "an index of one object is forged");
    assert_eq!(&index[table..table + length], real.as_slice());
    let mut forged = index[..index.len() - length].to_vec();
    for first in 0..256 {
        let known = u32::from(first >= usize::from(wanted.first_byte()));
        forged[8 + first * 4..12 + first * 4].copy_from_slice(&known.to_be_bytes());
    }
    forged[table..table + length].copy_from_slice(wanted.as_slice());
    seal(forged, hash)
}

/// The distance back to a base, as it stands in an entry.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = vec![(value & 0x7f) as u8];
    while value >> 7 > 0 {
        value = (value >> 7) - 1;
        bytes.push(0x80 | (value & 0x7f) as u8);
    }
    bytes.reverse();
    bytes
}

fn hash_of(hash: Kind, bytes: &[u8]) -> ObjectId {
    let mut hasher = gix_hash::hasher(hash);
    hasher.update(bytes);
    hasher.try_finalize().unwrap()
}
