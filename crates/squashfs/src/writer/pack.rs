//! The second stage: blocks are compressed in parallel, and get their places in the order of the
//! plan.

use super::entry::Entry;
use super::fragments::Tail;
use super::kernel;
use super::output::Output;
use super::plan::{Batch, Block, Content, Event, Stored};
use super::{CreateOptions, Reuse, WriteError};
use crate::format::SizeWord;
use hedgerow_codec::block::{BlockCompressor, Compressor};
use hedgerow_engine::{run_ordered, Window};
use hedgerow_tree::NodeError;
use std::borrow::Cow;

/// A batch that went through a worker.
struct Packed {
    /// What is stored of it, one behind the other.
    bytes: Vec<u8>,
    events: Vec<Event<SizeWord>>,
}

/// A file's content in the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Where its first block is.
    pub start: u64,
    pub words: Vec<SizeWord>,
    pub tail: Option<Tail>,
    /// Bytes that are zero and stored nowhere.
    pub sparse_bytes: u64,
}

/// Where each fragment block is, and how it is stored.
pub(super) type Fragment = (u64, SizeWord);

/// Who is told of the entries, in their order.
pub(super) trait Entries {
    /// A file with its content.
    fn file(&mut self, entry: Entry, layout: &Layout) -> Result<(), WriteError>;
    /// Another entry.
    fn other(&mut self, entry: Entry) -> Result<(), WriteError>;
    /// An entry that was left out.
    fn skipped(&mut self, error: NodeError);
}

/// What was stored.
#[derive(Default)]
pub(super) struct Packing {
    pub layouts: Vec<Layout>,
    pub fragments: Vec<Fragment>,
}

impl Packing {
    fn layout(&self, content: Content) -> Cow<'_, Layout> {
        let known = match content {
            Content::Blocks(number) => self.layouts.get(number as usize),
            Content::Tail(_) | Content::Empty => None,
        };
        let tail = match content {
            Content::Tail(tail) => Some(tail),
            Content::Blocks(_) | Content::Empty => None,
        };
        known.map_or_else(
            || {
                Cow::Owned(Layout {
                    tail,
                    ..Layout::default()
                })
            },
            Cow::Borrowed,
        )
    }
}

/// Compresses and stores the batches of a plan.
pub(super) fn pack(
    batches: impl Iterator<Item = Batch<Block>> + Send,
    options: &CreateOptions,
    window: Window,
    output: &mut Output,
    entries: &mut impl Entries,
) -> Result<Packing, WriteError> {
    let items = batches.map(|batch| {
        let bytes = batch.bytes as u64;
        Ok((batch, bytes))
    });
    let CreateOptions {
        settings, reuse, ..
    } = options;
    let compressor = settings.compressor();
    let mut packing = Packing::default();
    let mut current: Option<Layout> = None;
    let worker = |_| BlockCompressor::new(settings);
    let work = |compressor: &mut Result<BlockCompressor, _>, batch: Batch<Block>| match compressor {
        Ok(compressor) => compress(compressor, reuse.as_deref(), batch),
        // The settings were checked before; made anew, it tells what is wrong.
        Err(_) => Err(WriteError::from(
            BlockCompressor::new(settings)
                .err()
                .ok_or(WriteError::Cancelled)?,
        )),
    };
    run_ordered(
        &options.packers,
        window,
        items,
        worker,
        work,
        |_, packed| {
            commit(
                packed,
                compressor,
                output,
                entries,
                &mut packing,
                &mut current,
            )
        },
    )?;
    Ok(packing)
}

fn compress(
    compressor: &mut BlockCompressor,
    reuse: Option<&Reuse>,
    batch: Batch<Block>,
) -> Result<Packed, WriteError> {
    let mut bytes = Vec::with_capacity(batch.bytes);
    let mut events = Vec::with_capacity(batch.events.len());
    for event in batch.events {
        events.push(match event {
            Event::Block(block) => Event::Block(append(compressor, reuse, &block, &mut bytes)?),
            Event::Fragment(block) => {
                Event::Fragment(append(compressor, reuse, &block, &mut bytes)?)
            }
            Event::Hole(bytes) => Event::Hole(bytes),
            Event::File { entry, stored } => Event::File { entry, stored },
            Event::Other(entry) => Event::Other(entry),
            Event::Skipped(error) => Event::Skipped(error),
        });
    }
    Ok(Packed { bytes, events })
}

/// Appends a block, compressed if that makes it smaller.
fn append(
    compressor: &mut BlockCompressor,
    reuse: Option<&Reuse>,
    block: &Block,
    bytes: &mut Vec<u8>,
) -> Result<SizeWord, WriteError> {
    let uncompressed = block.uncompressed;
    let block = block.bytes();
    if uncompressed {
        bytes.extend_from_slice(block);
        return Ok(SizeWord::new(block.len() as u32, true));
    }
    if let Some(reuse) = reuse {
        if let Some(word) = reuse.find(block, compressor, bytes)? {
            return Ok(word);
        }
    }
    let start = bytes.len();
    bytes.resize(start + block.len(), 0);
    let room = bytes.get_mut(start..).unwrap_or_default();
    let compressed = compressor.compress(block, room)?;
    if compressed.is_none() {
        room.copy_from_slice(block);
    }
    let stored = compressed.unwrap_or(block.len());
    bytes.truncate(start + stored);
    Ok(SizeWord::new(stored as u32, compressed.is_none()))
}

fn commit(
    packed: Packed,
    compressor: Compressor,
    output: &mut Output,
    entries: &mut impl Entries,
    packing: &mut Packing,
    current: &mut Option<Layout>,
) -> Result<(), WriteError> {
    let mut rest = packed.bytes.as_slice();
    for event in packed.events {
        match event {
            Event::Block(word) => {
                let layout = current.get_or_insert_with(|| Layout {
                    start: output.position(),
                    ..Layout::default()
                });
                let block = take(&mut rest, word);
                layout.words.push(store(block, word, compressor, output)?);
            }
            Event::Hole(bytes) => {
                let layout = current.get_or_insert_with(|| Layout {
                    start: output.position(),
                    ..Layout::default()
                });
                layout.words.push(SizeWord(0));
                layout.sparse_bytes += bytes as u64;
            }
            Event::Fragment(word) => {
                let position = output.position();
                let block = take(&mut rest, word);
                let word = store(block, word, compressor, output)?;
                packing.fragments.push((position, word));
            }
            Event::File { entry, stored } => {
                let layout = current.take();
                let content = match stored {
                    Stored::Here { tail } => {
                        let mut layout = layout.unwrap_or_default();
                        layout.tail = tail;
                        packing.layouts.push(layout);
                        Content::Blocks(packing.layouts.len() as u32 - 1)
                    }
                    Stored::There(content) => {
                        give_up(layout, output)?;
                        content
                    }
                };
                if let Some(entry) = entry {
                    entries.file(entry, &packing.layout(content))?;
                }
            }
            Event::Other(entry) => entries.other(entry)?,
            Event::Skipped(error) => {
                give_up(current.take(), output)?;
                entries.skipped(error);
            }
        }
    }
    Ok(())
}

/// The blocks of a file that turned out not to be wanted.
fn give_up(layout: Option<Layout>, output: &mut Output) -> Result<(), WriteError> {
    match layout {
        Some(layout) => output.go_back_to(layout.start),
        None => Ok(()),
    }
}

/// The next block of those that were packed together.
fn take<'b>(rest: &mut &'b [u8], word: SizeWord) -> &'b [u8] {
    let bytes = word.stored_bytes() as usize;
    let (block, after) = rest.split_at_checked(bytes).unwrap_or_default();
    *rest = after;
    block
}

/// Appends a block; without its checksum where the kernel could not read that. Returns how it is
/// stored.
fn store(
    block: &[u8],
    word: SizeWord,
    compressor: Compressor,
    output: &mut Output,
) -> Result<SizeWord, WriteError> {
    let is_readable = || kernel::reads_checksum(output.position(), block.len() as u64);
    let shorter = match word.is_raw() || is_readable() {
        true => None,
        false => compressor.without_checksum(block),
    };
    match shorter {
        None => output.append(block).map(|()| word),
        Some(shorter) => {
            output.append(&shorter)?;
            Ok(SizeWord::new(shorter.len() as u32, false))
        }
    }
}
