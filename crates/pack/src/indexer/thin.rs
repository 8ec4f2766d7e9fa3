//! Completes a thin pack: appends the missing bases.

use super::conclude::Conclusion;
use super::{IndexOptions, Refusal};
use crate::error::{Error, Result};
use crate::format::hashed_file::TrailerHasher;
use crate::pack_file::index_writer::IndexEntry;
use crate::read::reader::Reader;
use gix_hash::ObjectId;
use hedgerow_codec::{crc32, StockDeflater};
use hedgerow_fs::threads::each;
use hedgerow_fs::OutputFile;
use hedgerow_object::pack_entry::{EntryHeader, EntryType};

/// Offset of the number of entries in the header.
const COUNT_OFFSET: u64 = 8;
/// Number of bytes hashed at a time.
const BUFFER_BYTES: usize = 256 << 10;
/// Number of objects that a thread compresses before they are written.
const BATCH_OBJECTS: usize = 32;
/// Size of a thread's cache of recently read objects, in bytes.
const RECENT_BYTES: usize = 8 << 20;

/// A completed pack.
pub(crate) struct Completed {
    pub checksum: ObjectId,
    pub added: Vec<IndexEntry>,
}

/// Appends the outside bases of `concluded` to the pack in `file`, whose entries end at `end`.
pub(crate) fn complete(
    file: &OutputFile,
    end: u64,
    concluded: &Conclusion,
    options: &IndexOptions<'_>,
) -> Result<Completed> {
    let mut at = end;
    let mut added = Vec::new();
    let threads = options.execution.threads().get();
    for batch in concluded.outside.chunks(threads * BATCH_OBJECTS) {
        let parts = batch.chunks(batch.len().div_ceil(threads));
        let parts = each("bases", parts, |part| entries(part, options));
        let joined = parts
            .into_iter()
            .map(|part| part.expect("compressing does not panic"));
        let parts: Vec<Vec<Vec<u8>>> = joined.collect::<Result<_>>()?;
        let made: usize = parts.iter().map(Vec::len).sum();
        assert_eq!(made, batch.len(), "every missing base becomes an entry");
        for (id, entry) in batch.iter().zip(parts.into_iter().flatten()) {
            file.write_at(&entry, at)?;
            added.push(IndexEntry {
                id: *id,
                crc32: crc32(0, &entry),
                offset: at,
            });
            at += entry.len() as u64;
        }
    }
    let count = concluded.count() + added.len();
    let count = u32::try_from(count).map_err(|_| Refusal::TooMany)?;
    file.write_at(&count.to_be_bytes(), COUNT_OFFSET)?;
    let checksum = hash(file, at, options.hash)?;
    file.write_at(checksum.as_bytes(), at)?;
    Ok(Completed { checksum, added })
}

/// The entries for the objects `ids` of the repository, not as deltas.
fn entries(ids: &[ObjectId], options: &IndexOptions<'_>) -> Result<Vec<Vec<u8>>> {
    let missing = |id: &ObjectId| Error::Missing { id: *id };
    let Some(store) = options.store else {
        return ids.first().map_or(Ok(Vec::new()), |id| Err(missing(id)));
    };
    let mut deflater = StockDeflater::new(options.compression);
    let mut reader = Reader::with_recent(store, RECENT_BYTES);
    let mut entries = Vec::with_capacity(ids.len());
    for id in ids {
        let location = store.locate(id)?.ok_or_else(|| missing(id))?;
        let corrupt = |_| Error::Refused(Refusal::LocalCorrupt(*id));
        let (kind, content) = reader.read_verified(id, location).map_err(corrupt)?;
        let header = EntryHeader {
            kind: EntryType::Whole(kind),
            size: content.len() as u64,
        };
        let mut entry = header.encode().as_bytes().to_vec();
        entry.extend_from_slice(&deflater.zlib(content));
        entries.push(entry);
    }
    Ok(entries)
}

/// The hash of the first `end` bytes of `file`.
fn hash(file: &OutputFile, end: u64, kind: gix_hash::Kind) -> Result<ObjectId> {
    let mut hasher = TrailerHasher::new(kind);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut at = 0;
    while at < end {
        let length = (end - at).min(BUFFER_BYTES as u64) as usize;
        let (piece, _) = buffer.split_at_mut(length);
        file.read_exact_at(piece, at)?;
        hasher.update(piece);
        at += length as u64;
    }
    Ok(hasher.finish())
}
