//! The work of the second stage: compresses the blocks of a batch.

use super::{CreateOptions, Reuse, Uncompressed};
use crate::format::SizeWord;
use hedgerow_codec::block::{BlockCompressor, BlockError};
use hedgerow_image::buffers::{Buffer, Buffers};
use hedgerow_image::plan::{Batch, Block, Event};
use hedgerow_image::WriteError;

/// A compressed batch.
pub(super) struct Packed {
    /// The stored blocks back to back.
    pub bytes: Buffer,
    pub events: Vec<Event<SizeWord>>,
}

/// The state of a compressing worker.
pub(super) struct Worker<'w> {
    compressor: Result<BlockCompressor, BlockError>,
    reuse: Option<&'w Reuse>,
    uncompressed: Uncompressed,
    buffers: &'w Buffers,
}

impl<'w> Worker<'w> {
    pub(super) fn new(options: &'w CreateOptions, buffers: &'w Buffers) -> Self {
        Worker {
            compressor: BlockCompressor::new(&options.settings),
            uncompressed: options.uncompressed,
            reuse: options.reuse.as_deref(),
            buffers,
        }
    }

    pub(super) fn compress(&mut self, batch: Batch<Block>) -> Result<Packed, WriteError> {
        let mut bytes = self.buffers.take(batch.bytes);
        let mut filled = 0;
        let mut events = Vec::with_capacity(batch.events.len());
        let raw = self.uncompressed;
        for event in batch.events {
            let mut store = |block: &Block, is_raw: bool| {
                let room = bytes.get_mut(filled..);
                let room = room.expect("a batch has room for all its blocks");
                let word = self.store(block, is_raw, room)?;
                filled += word.stored_bytes() as usize;
                Ok::<SizeWord, WriteError>(word)
            };
            events.push(match event {
                Event::Block(block) => Event::Block(store(&block, raw.data)?),
                Event::Fragment(block) => Event::Fragment(store(&block, raw.fragments)?),
                Event::Holes { blocks, bytes } => Event::Holes { blocks, bytes },
                Event::Elsewhere => Event::Elsewhere,
                Event::Run { first } => Event::Run { first },
                Event::Known { number } => Event::Known { number },
                Event::File { entry, stored, .. } => Event::File {
                    entry,
                    stored,
                    inline: None,
                },
                Event::Other(entry) => Event::Other(entry),
                Event::Skipped(error) => Event::Skipped(error),
            });
        }
        bytes.truncate(filled);
        Ok(Packed { bytes, events })
    }

    /// Writes a block to the start of `room`, compressed unless `is_raw` and if that makes it
    /// smaller.
    fn store(
        &mut self,
        block: &Block,
        is_raw: bool,
        room: &mut [u8],
    ) -> Result<SizeWord, WriteError> {
        let compressor = match &mut self.compressor {
            Ok(compressor) => compressor,
            Err(error) => return Err((*error).into()),
        };
        let content = block.bytes();
        let room = room.get_mut(..content.len());
        let room = room.expect("a batch has room for all its blocks");
        if is_raw || block.uncompressed {
            room.copy_from_slice(content);
            return Ok(SizeWord::new(content.len() as u32, true));
        }
        if let Some(reuse) = self.reuse {
            if let Some(word) = reuse.find(content, compressor, room)? {
                return Ok(word);
            }
        }
        let compressed = compressor.compress(content, room)?;
        if compressed.is_none() {
            room.copy_from_slice(content);
        }
        let stored = compressed.unwrap_or(content.len()) as u32;
        Ok(SizeWord::new(stored, compressed.is_none()))
    }
}
