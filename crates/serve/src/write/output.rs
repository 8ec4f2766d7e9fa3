use crate::{PackOptions, Result};
use hedgerow_engine::Stage;
use hedgerow_pack::{IndexEntry, ObjectId, TrailerHasher};
use std::io::Write;

/// Output is buffered up to this many bytes before it is hashed and passed on.
const BUFFER_BYTES: usize = 256 << 10;

/// The start of a pack: the signature and version 2.
pub(super) const HEADER: &[u8] = b"PACK\0\0\0\x02";

/// The output of a pack: hashes, counts, and on request lists the entries for an index.
pub(super) struct Output<'o> {
    sink: &'o mut dyn Write,
    options: &'o PackOptions,
    buffer: Vec<u8>,
    trailer: Trailer,
    position: u64,
    listed: Option<Vec<IndexEntry>>,
}

/// The hash at the end of the pack.
pub(super) enum Trailer {
    /// Computed from what is written.
    Hashed(TrailerHasher),
    /// The hash of the pack that is copied in full with nothing else. If that pack has been damaged
    /// since, the receiver notices.
    Copied(ObjectId),
}

impl Trailer {
    fn update(&mut self, bytes: &[u8]) {
        if let Trailer::Hashed(hasher) = self {
            hasher.update(bytes);
        }
    }
}

impl<'o> Output<'o> {
    /// Starts a pack of `count` objects. `list`: [`Output::finish`] returns the entries of its
    /// index.
    pub fn start(
        sink: &'o mut dyn Write,
        options: &'o PackOptions,
        trailer: Trailer,
        count: u32,
        list: bool,
    ) -> Result<Self> {
        let mut output = Output {
            sink,
            options,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            trailer,
            position: 0,
            listed: list.then(|| Vec::with_capacity(count as usize)),
        };
        output.put(HEADER)?;
        output.put(&count.to_be_bytes())?;
        Ok(output)
    }

    /// The offset of the next entry.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether objects are listed.
    pub fn lists(&self) -> bool {
        self.listed.is_some()
    }

    /// Lists the object `id`, whose entry consists of `pieces`.
    pub fn list(&mut self, id: ObjectId, pieces: &[&[u8]]) {
        let mut listing = self.begin(id);
        pieces.iter().for_each(|piece| listing.add(piece));
        self.end(listing);
    }

    /// Starts to list the object `id`, whose entry starts here and comes in pieces.
    pub fn begin(&self, id: ObjectId) -> Listing {
        Listing {
            entry: IndexEntry {
                id,
                crc32: 0,
                offset: self.position,
            },
            is_wanted: self.listed.is_some(),
        }
    }

    /// Completes a listing.
    pub fn end(&mut self, listing: Listing) {
        if let Some(listed) = &mut self.listed {
            listed.push(listing.entry);
        }
    }

    /// Writes `bytes`.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.position += bytes.len() as u64;
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() < BUFFER_BYTES / 4 {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        // In pieces that are still in the CPU cache when they are written.
        for piece in bytes.chunks(BUFFER_BYTES) {
            if self.options.execution.cancel.is_cancelled() {
                return Err(crate::Error::Cancelled);
            }
            self.trailer.update(piece);
            self.sink.write_all(piece)?;
        }
        Ok(())
    }

    /// Writes the trailer. Returns it, the entries of the index in the order of the pack, and the
    /// length of the pack in bytes.
    pub fn finish(mut self) -> Result<(ObjectId, Vec<IndexEntry>, u64)> {
        self.flush()?;
        let hash = match self.trailer {
            Trailer::Hashed(hasher) => hasher.finish(),
            Trailer::Copied(hash) => hash,
        };
        self.sink.write_all(hash.as_bytes())?;
        self.sink.flush()?;
        let bytes = self.position + hash.as_bytes().len() as u64;
        self.options
            .execution
            .progress
            .stage(Stage::Writing)
            .set_bytes(bytes);
        Ok((hash, self.listed.unwrap_or_default(), bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.trailer.update(&self.buffer);
        self.sink.write_all(&self.buffer)?;
        self.buffer.clear();
        self.options
            .execution
            .progress
            .stage(Stage::Writing)
            .set_bytes(self.position);
        Ok(())
    }
}

/// The index row of an entry that is being written.
pub(super) struct Listing {
    entry: IndexEntry,
    is_wanted: bool,
}

impl Listing {
    pub fn add(&mut self, piece: &[u8]) {
        if self.is_wanted {
            self.entry.crc32 = hedgerow_codec::crc32(self.entry.crc32, piece);
        }
    }
}
