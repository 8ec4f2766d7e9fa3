//! Packs made by hand, with entries that git would not write.

use hedgerow_pack::{HashKind, ObjectId};
use hedgerow_testkit::blob_id;
use std::io::Write;
use std::path::Path;

pub const BLOB: u8 = 3;
pub const OFFSET_DELTA: u8 = 6;
pub const REFERENCE_DELTA: u8 = 7;

/// A pack that is being made.
#[derive(Default)]
pub struct Craft {
    bytes: Vec<u8>,
    entries: Vec<(ObjectId, u64)>,
}

impl Craft {
    pub fn new() -> Self {
        let mut bytes = b"PACK\0\0\0\x02".to_vec();
        bytes.extend_from_slice(&[0; 4]);
        Craft {
            bytes,
            entries: Vec::new(),
        }
    }

    /// Where the next entry starts.
    pub fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Adds an entry: its type, the size it declares, what stands between header and stream, and
    /// the content of the stream.
    pub fn add(&mut self, id: ObjectId, kind: u8, size: u64, base: &[u8], content: &[u8]) -> u64 {
        self.add_raw(
            id,
            &[header(kind, size), base.to_vec(), deflate(content)].concat(),
        )
    }

    pub fn add_raw(&mut self, id: ObjectId, entry: &[u8]) -> u64 {
        let offset = self.end();
        self.entries.push((id, offset));
        self.bytes.extend_from_slice(entry);
        offset
    }

    /// Adds a whole blob under its own id.
    pub fn add_blob(&mut self, content: &[u8]) -> (ObjectId, u64) {
        let id = blob_id(content);
        let offset = self.add(id, BLOB, content.len() as u64, &[], content);
        (id, offset)
    }

    /// Lists under `id` an offset of the caller's choice.
    pub fn list(&mut self, id: ObjectId, offset: u64) {
        self.entries.push((id, offset));
    }

    /// Writes `pack-NAME.pack` and `pack-NAME.idx` into `objects/pack`.
    pub fn write(mut self, objects: &Path, name: &str) {
        let count = (self.entries.len() as u32).to_be_bytes();
        self.bytes[8..12].copy_from_slice(&count);
        let checksum = hash(&self.bytes);
        self.bytes.extend_from_slice(checksum.as_slice());
        let directory = objects.join("pack");
        std::fs::write(directory.join(format!("pack-{name}.pack")), &self.bytes).unwrap();
        let index = index(&mut self.entries, checksum);
        std::fs::write(directory.join(format!("pack-{name}.idx")), index).unwrap();
    }
}

/// An index of version 2.
pub fn index(entries: &mut [(ObjectId, u64)], pack_checksum: ObjectId) -> Vec<u8> {
    entries.sort_unstable();
    let mut bytes = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=255 {
        let count = entries
            .iter()
            .filter(|(id, _)| id.first_byte() <= first)
            .count();
        bytes.extend_from_slice(&(count as u32).to_be_bytes());
    }
    for (id, _) in entries.iter() {
        bytes.extend_from_slice(id.as_slice());
    }
    bytes.extend(std::iter::repeat_n(0, entries.len() * 4));
    let mut large = Vec::new();
    for (_, offset) in entries.iter() {
        let small = if *offset < 1 << 31 {
            *offset as u32
        } else {
            large.push(*offset);
            (1 << 31) | (large.len() as u32 - 1)
        };
        bytes.extend_from_slice(&small.to_be_bytes());
    }
    for offset in large {
        bytes.extend_from_slice(&offset.to_be_bytes());
    }
    bytes.extend_from_slice(pack_checksum.as_slice());
    let checksum = hash(&bytes);
    bytes.extend_from_slice(checksum.as_slice());
    bytes
}

/// The header of an entry.
pub fn header(kind: u8, size: u64) -> Vec<u8> {
    let mut bytes = vec![kind << 4 | (size & 15) as u8];
    let mut rest = size >> 4;
    while rest > 0 {
        *bytes.last_mut().unwrap() |= 0x80;
        bytes.push((rest & 0x7f) as u8);
        rest >>= 7;
    }
    bytes
}

/// The distance back to a base.
pub fn distance(mut value: u64) -> Vec<u8> {
    let mut bytes = vec![(value & 0x7f) as u8];
    while value >> 7 > 0 {
        value = (value >> 7) - 1;
        bytes.push(0x80 | (value & 0x7f) as u8);
    }
    bytes.reverse();
    bytes
}

/// A length as deltas start with.
pub fn length(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(0x80 | (value & 0x7f) as u8);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A delta of two lengths and instructions.
pub fn delta(source: u64, result: u64, instructions: &[u8]) -> Vec<u8> {
    [length(source), length(result), instructions.to_vec()].concat()
}

pub fn deflate(content: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::fast();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// An id that is no hash of anything.
pub fn made_up(number: u32) -> ObjectId {
    hash(&number.to_be_bytes())
}

fn hash(bytes: &[u8]) -> ObjectId {
    let mut hasher = gix_hash::hasher(HashKind::Sha1);
    hasher.update(bytes);
    hasher.try_finalize().unwrap()
}
