//! Completes a thin pack: the bases that it left out are added at its end.

use super::conclude::Conclusion;
use super::IndexOptions;
use crate::hashed_file::TrailerHasher;
use crate::index_writer::IndexEntry;
use crate::{Error, ObjectKind, Result};
use gix_hash::ObjectId;
use hedgerow_codec::{crc32, deflate};
use hedgerow_fs::OutputFile;

/// Where the count of entries stands.
const COUNT_OFFSET: u64 = 8;
/// What is hashed at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// A pack that was completed.
pub(crate) struct Completed {
    pub checksum: ObjectId,
    pub added: Vec<IndexEntry>,
}

/// Adds what `concluded` needs from outside to the pack in `file`, whose entries end at `end`.
pub(crate) fn complete(
    file: &OutputFile,
    end: u64,
    concluded: &Conclusion,
    options: &IndexOptions<'_>,
) -> Result<Completed> {
    let mut at = end;
    let mut added = Vec::new();
    for id in &concluded.outside {
        let store = options.store.ok_or(Error::Missing { id: *id })?;
        let (kind, content) = store.read(id)?;
        let mut entry = header(kind, content.len() as u64);
        entry.extend_from_slice(&deflate(&content, options.compression));
        file.write_at(&entry, at)?;
        added.push(IndexEntry {
            id: *id,
            crc32: crc32(0, &entry),
            offset: at,
        });
        at += entry.len() as u64;
    }
    let count = concluded.count() + added.len();
    file.write_at(&(count as u32).to_be_bytes(), COUNT_OFFSET)?;
    let checksum = hash(file, at, options.hash)?;
    file.write_at(checksum.as_bytes(), at)?;
    Ok(Completed { checksum, added })
}

/// The hash of the first `end` bytes of `file`.
fn hash(file: &OutputFile, end: u64, kind: gix_hash::Kind) -> Result<ObjectId> {
    let mut hasher = TrailerHasher::new(kind);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut at = 0;
    while at < end {
        let length = (end - at).min(BUFFER_BYTES as u64) as usize;
        let piece = buffer.get_mut(..length).unwrap_or_default();
        file.read_exact_at(piece, at)?;
        hasher.update(piece);
        at += length as u64;
    }
    Ok(hasher.finish())
}

/// The header of an entry that is no delta (gitformat-pack).
fn header(kind: ObjectKind, size: u64) -> Vec<u8> {
    let number = match kind {
        ObjectKind::Commit => 1,
        ObjectKind::Tree => 2,
        ObjectKind::Blob => 3,
        ObjectKind::Tag => 4,
    };
    let mut byte = number << 4 | (size & 15) as u8;
    let mut rest = size >> 4;
    let mut bytes = Vec::new();
    while rest > 0 {
        bytes.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    bytes.push(byte);
    bytes
}
