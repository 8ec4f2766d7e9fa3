//! Tables of metadata blocks: pieces of 8 KiB, compressed in parallel and stored one after the
//! other.

use crate::format::{Reference, METADATA_BYTES, METADATA_HEADER_BYTES, METADATA_RAW};
use hedgerow_codec::block::{BlockCompressor, BlockDecompressor, Settings};
use hedgerow_engine::{run_ordered, Options, Window};
use hedgerow_image::WriteError;

/// Limit of the pieces in progress, in bytes.
const WINDOW: Window = Window { bytes: 4 << 20 };

/// An offset in the uncompressed table, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(pub u64);

impl Place {
    /// The index of its piece.
    pub(super) fn piece(self) -> u64 {
        self.0 / METADATA_BYTES as u64
    }
}

/// A table that is being written.
pub(super) struct MetadataTable<'s> {
    settings: &'s Settings,
    options: &'s Options,
    /// Whether blocks are compressed.
    compressed: bool,
    /// Bytes not compressed yet; they start at a multiple of 8 KiB.
    pending: Vec<u8>,
    /// Number of uncompressed bytes before `pending`.
    before: u64,
    /// The compressed blocks with their headers.
    stored: Vec<u8>,
    /// The start of each block in `stored`, and that of the next block.
    starts: Vec<u64>,
}

impl<'s> MetadataTable<'s> {
    pub(super) fn new(settings: &'s Settings, options: &'s Options) -> Self {
        MetadataTable {
            settings,
            options,
            compressed: true,
            pending: Vec::new(),
            before: 0,
            stored: Vec::new(),
            starts: vec![0],
        }
    }

    /// The same empty table; its blocks are not compressed if `raw`.
    pub(super) fn raw(mut self, raw: bool) -> Self {
        self.compressed = !raw;
        self
    }

    /// The place of the next byte.
    pub(super) fn place(&self) -> Place {
        Place(self.before + self.pending.len() as u64)
    }

    /// Number of bytes not compressed yet.
    pub(super) fn pending_bytes(&self) -> u64 {
        self.pending.len() as u64
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Compresses all full pieces.
    pub(super) fn settle(&mut self) -> Result<(), WriteError> {
        let full = self.pending.len() / METADATA_BYTES * METADATA_BYTES;
        self.compress(full)
    }

    /// The reference to a place whose piece is compressed or is the next one to be compressed;
    /// otherwise its position is not known.
    pub(super) fn reference(&self, place: Place) -> Option<Reference> {
        let start = self.starts.get(usize::try_from(place.piece()).ok()?)?;
        Some(Reference::new(
            *start,
            (place.0 % METADATA_BYTES as u64) as u16,
        ))
    }

    /// Compresses the rest. Returns the blocks and their starts.
    pub(super) fn finish(mut self) -> Result<(Vec<u8>, Vec<u64>), WriteError> {
        self.compress(self.pending.len())?;
        self.starts.pop();
        Ok((self.stored, self.starts))
    }

    /// Replaces the table by an empty one. Returns its uncompressed content.
    pub(super) fn replace(&mut self) -> Result<Unpacked, WriteError> {
        let new = MetadataTable::new(self.settings, self.options).raw(!self.compressed);
        let old = std::mem::replace(self, new);
        Ok(Unpacked {
            decompressor: BlockDecompressor::new(old.settings.compressor())?,
            stored: old.stored,
            starts: old.starts,
            next: 0,
            pending: Some(old.pending),
            piece: Vec::new(),
            taken: 0,
        })
    }

    fn compress(&mut self, bytes: usize) -> Result<(), WriteError> {
        if bytes == 0 {
            return Ok(());
        }
        let (pieces, _) = self.pending.split_at(bytes);
        let items = pieces
            .chunks(METADATA_BYTES)
            .map(|piece| Ok((piece, piece.len() as u64)));
        let (stored, starts) = (&mut self.stored, &mut self.starts);
        run_ordered(
            self.options,
            WINDOW,
            items,
            |_| BlockCompressor::new(self.settings),
            |compressor, piece| block(self.compressed.then_some(compressor), piece),
            |_, block| {
                stored.extend_from_slice(&block);
                starts.push(stored.len() as u64);
                Ok(())
            },
        )?;
        assert_eq!(
            starts.last(),
            Some(&(stored.len() as u64)),
            "the next block starts where the last one ends"
        );
        self.pending.drain(..bytes);
        self.before += bytes as u64;
        Ok(())
    }
}

/// Reads the uncompressed bytes of a table from its start.
pub(super) struct Unpacked {
    decompressor: BlockDecompressor,
    stored: Vec<u8>,
    starts: Vec<u64>,
    /// Index of the next block.
    next: usize,
    /// The uncompressed bytes after the last block.
    pending: Option<Vec<u8>>,
    piece: Vec<u8>,
    /// Number of bytes of `piece` already taken.
    taken: usize,
}

impl Unpacked {
    /// Takes the next `count` bytes, fewer at the end.
    pub(super) fn take(&mut self, mut count: usize) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::with_capacity(count);
        while count > 0 {
            if self.taken == self.piece.len() && !self.advance()? {
                break;
            }
            let (_, rest) = self.piece.split_at(self.taken);
            let part = rest.get(..count).unwrap_or(rest);
            bytes.extend_from_slice(part);
            count -= part.len();
            self.taken += part.len();
        }
        Ok(bytes)
    }

    /// Moves to the next piece. Returns false at the end.
    fn advance(&mut self) -> Result<bool, WriteError> {
        self.taken = 0;
        let (Some(start), Some(end)) = (self.starts.get(self.next), self.starts.get(self.next + 1))
        else {
            self.piece = self.pending.take().unwrap_or_default();
            return Ok(!self.piece.is_empty());
        };
        self.next += 1;
        let block = &self.stored[*start as usize..*end as usize];
        let (header, payload) = block
            .split_first_chunk::<2>()
            .expect("a block was stored with its header");
        self.piece = match u16::from_le_bytes(*header) & METADATA_RAW {
            0 => {
                let mut piece = vec![0; METADATA_BYTES];
                let count = self.decompressor.decompress(payload, &mut piece)?;
                piece.truncate(count);
                piece
            }
            _ => payload.to_vec(),
        };
        Ok(true)
    }
}

/// Encodes a metadata block: header and payload, compressed if there is a compressor.
fn block(
    compressor: Option<&mut Result<BlockCompressor, hedgerow_codec::block::BlockError>>,
    piece: &[u8],
) -> Result<Vec<u8>, WriteError> {
    let header = METADATA_HEADER_BYTES as usize;
    let mut block = vec![0; header + piece.len()];
    let (_, room) = block.split_at_mut(header);
    let compressed = match compressor {
        None => None,
        Some(Err(error)) => return Err((*error).into()),
        Some(Ok(compressor)) => compressor.compress(piece, room)?,
    };
    let word = match compressed {
        Some(bytes) => {
            block.truncate(header + bytes);
            bytes as u16
        }
        None => {
            room.copy_from_slice(piece);
            piece.len() as u16 | METADATA_RAW
        }
    };
    block
        .iter_mut()
        .zip(word.to_le_bytes())
        .for_each(|(byte, new)| *byte = new);
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_codec::block::{BlockError, Compressor};

    #[test]
    fn a_compressor_that_cannot_be_made_is_an_error() {
        let mut missing = Err(BlockError::OutOfMemory(Compressor::Xz));
        assert!(block(Some(&mut missing), b"metadata").is_err());
        let settings = Settings::default_for(Compressor::Gzip, 1 << 17);
        let stored = block(Some(&mut BlockCompressor::new(&settings)), b"metadata").unwrap();
        assert_eq!(stored, b"\x08\x80metadata");
    }
}
