//! The bytes of a multi-pack-index, chunk by chunk in git's order.

use super::chunks::CHUNK_ROW_BYTES;
use super::order::Order;
use super::read::{hash_version, HEADER_BYTES, LARGE, OFFSET_ROW_BYTES, SIGNATURE};
use super::select::Bucket;
use crate::format::hashed_file::TrailerHasher;
use crate::format::id_table::FANOUT_BYTES;
use gix_hash::ObjectId;
use hedgerow_fs::{LockFile, Result};

/// Output is buffered up to this many bytes.
const BUFFER_BYTES: usize = 256 << 10;
/// The chunk of names is padded to a multiple of this.
const ALIGNMENT: usize = 4;

/// The contents of the file.
#[derive(Debug)]
pub(super) struct Content<'c> {
    pub hash: gix_hash::Kind,
    pub version: u8,
    /// The file names of the packs' indexes, sorted.
    pub names: &'c [String],
    pub buckets: &'c [Bucket],
    /// The pseudo-pack order, if the file gets a bitmap.
    pub order: Option<&'c Order>,
}

impl Content<'_> {
    /// Writes it to `file`, with the hash of everything at the end, which is returned.
    pub fn write(&self, file: &mut LockFile) -> Result<ObjectId> {
        let mut out = Output {
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES + 64),
            hasher: TrailerHasher::new(self.hash),
            written: 0,
        };
        let large_count = self.large_count();
        let end = self.write_header(&mut out, large_count)?;
        self.write_names(&mut out)?;
        let mut count = 0;
        for bucket in self.buckets {
            count += bucket.rows.len() as u32;
            out.put(&count.to_be_bytes())?;
        }
        for bucket in self.buckets {
            out.put(&bucket.ids)?;
        }
        self.write_offsets(&mut out, large_count.is_some())?;
        if let Some(order) = self.order {
            for position in &order.positions {
                out.put(&position.to_be_bytes())?;
            }
            for (first, count) in &order.packs {
                out.put(&first.to_be_bytes())?;
                out.put(&count.to_be_bytes())?;
            }
        }
        assert_eq!(
            out.written, end,
            "the chunks are as long as their table says"
        );
        out.finish()
    }

    fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        let rows = self.buckets.iter().flat_map(|bucket| &bucket.rows);
        rows.map(|row| row.offset)
    }

    /// The number of rows of the table of 64-bit offsets; `None` if there is no table. If one
    /// offset needs it, all offsets with the marker bit must go there.
    fn large_count(&self) -> Option<u64> {
        let is_needed = self.offsets().any(|offset| offset > u64::from(u32::MAX));
        is_needed.then(|| self.offsets().filter(|offset| is_large(*offset)).count() as u64)
    }

    /// Writes the header and the table of chunks. Returns where the last chunk is to end.
    fn write_header(&self, out: &mut Output<'_>, large_count: Option<u64>) -> Result<u64> {
        let objects: u64 = self.buckets.iter().map(|b| b.rows.len() as u64).sum();
        let hash_len = self.hash.len_in_bytes() as u64;
        let packs = self.names.len();
        let mut chunks = vec![
            (
                b"PNAM",
                self.names_bytes().next_multiple_of(ALIGNMENT) as u64,
            ),
            (b"OIDF", FANOUT_BYTES as u64),
            (b"OIDL", objects * hash_len),
            (b"OOFF", objects * OFFSET_ROW_BYTES as u64),
        ];
        chunks.extend(large_count.map(|count| (b"LOFF", count * 8)));
        if self.order.is_some() {
            chunks.push((b"RIDX", objects * 4));
            chunks.push((b"BTMP", packs as u64 * 8));
        }
        out.put(SIGNATURE)?;
        let hash = hash_version(self.hash);
        out.put(&[self.version, hash, chunks.len() as u8, 0])?;
        out.put(&(packs as u32).to_be_bytes())?;
        let mut start = (HEADER_BYTES + (chunks.len() + 1) * CHUNK_ROW_BYTES) as u64;
        for (name, bytes) in chunks {
            out.put(name)?;
            out.put(&start.to_be_bytes())?;
            start += bytes;
        }
        out.put(&[0; 4])?;
        out.put(&start.to_be_bytes())?;
        Ok(start)
    }

    fn names_bytes(&self) -> usize {
        self.names.iter().map(|name| name.len() + 1).sum()
    }

    fn write_names(&self, out: &mut Output<'_>) -> Result<()> {
        for name in self.names {
            out.put(name.as_bytes())?;
            out.put(&[0])?;
        }
        let bytes = self.names_bytes();
        let padding = bytes.next_multiple_of(ALIGNMENT) - bytes;
        out.put(&[0; ALIGNMENT][..padding])
    }

    /// Writes the rows of pack number and offset, and the 64-bit offsets if there are any.
    fn write_offsets(&self, out: &mut Output<'_>, has_large: bool) -> Result<()> {
        let mut large = 0;
        for row in self.buckets.iter().flat_map(|bucket| &bucket.rows) {
            let offset = if has_large && is_large(row.offset) {
                large += 1;
                LARGE | (large - 1)
            } else {
                row.offset as u32
            };
            let row = u64::from(row.pack) << 32 | u64::from(offset);
            out.put(&row.to_be_bytes())?;
        }
        if has_large {
            for offset in self.offsets().filter(|offset| is_large(*offset)) {
                out.put(&offset.to_be_bytes())?;
            }
        }
        Ok(())
    }
}

fn is_large(offset: u64) -> bool {
    offset >= u64::from(LARGE)
}

/// Writes to the file and hashes the data.
struct Output<'f> {
    file: &'f mut LockFile,
    buffer: Vec<u8>,
    hasher: TrailerHasher,
    /// Bytes that were put so far.
    written: u64,
}

impl Output<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.hasher.update(&self.buffer);
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<ObjectId> {
        self.flush()?;
        let hash = self.hasher.finish();
        self.file.write_all(hash.as_bytes())?;
        Ok(hash)
    }
}
