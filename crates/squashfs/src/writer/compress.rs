//! What a worker of the second stage does.

use super::buffers::Buffers;
use super::plan::{Batch, Block, Event};
use super::{CreateOptions, Reuse, WriteError};
use crate::format::SizeWord;
use hedgerow_codec::block::{BlockCompressor, BlockError};

/// A batch that went through a worker.
pub(super) struct Packed {
    /// What is stored of it, one behind the other.
    pub bytes: Vec<u8>,
    pub events: Vec<Event<SizeWord>>,
}

/// Compresses blocks.
pub(super) struct Worker<'w> {
    compressor: Result<BlockCompressor, BlockError>,
    reuse: Option<&'w Reuse>,
    buffers: &'w Buffers,
    /// For a block that is being compressed.
    room: Vec<u8>,
}

impl<'w> Worker<'w> {
    pub(super) fn new(options: &'w CreateOptions, buffers: &'w Buffers) -> Self {
        Worker {
            compressor: BlockCompressor::new(&options.settings),
            reuse: options.reuse.as_deref(),
            buffers,
            room: vec![0; options.block_bytes as usize],
        }
    }

    pub(super) fn compress(&mut self, batch: Batch<Block>) -> Result<Packed, WriteError> {
        let mut bytes = self.buffers.take(batch.bytes);
        bytes.clear();
        let mut events = Vec::with_capacity(batch.events.len());
        for event in batch.events {
            events.push(match event {
                Event::Block(block) => Event::Block(self.append(block, &mut bytes)?),
                Event::Fragment(block) => Event::Fragment(self.append(block, &mut bytes)?),
                Event::Hole(bytes) => Event::Hole(bytes),
                Event::File { entry, stored } => Event::File { entry, stored },
                Event::Other(entry) => Event::Other(entry),
                Event::Skipped(error) => Event::Skipped(error),
            });
        }
        Ok(Packed { bytes, events })
    }

    /// Appends a block, compressed if that makes it smaller.
    fn append(&mut self, block: Block, bytes: &mut Vec<u8>) -> Result<SizeWord, WriteError> {
        let word = self.stored(block.bytes(), block.uncompressed, bytes)?;
        if let Some(buffer) = block.into_buffer() {
            self.buffers.give(buffer);
        }
        Ok(word)
    }

    fn stored(
        &mut self,
        block: &[u8],
        uncompressed: bool,
        bytes: &mut Vec<u8>,
    ) -> Result<SizeWord, WriteError> {
        let compressor = match &mut self.compressor {
            Ok(compressor) => compressor,
            Err(error) => return Err(error.clone().into()),
        };
        let mut compressed = None;
        if !uncompressed {
            if let Some(reuse) = self.reuse {
                if let Some(word) = reuse.find(block, compressor, bytes)? {
                    return Ok(word);
                }
            }
            let room = self.room.get_mut(..block.len()).unwrap_or_default();
            let count = compressor.compress(block, room)?;
            compressed = count.and_then(|count| room.get(..count));
        }
        let stored = compressed.unwrap_or(block);
        bytes.extend_from_slice(stored);
        Ok(SizeWord::new(stored.len() as u32, compressed.is_none()))
    }
}
