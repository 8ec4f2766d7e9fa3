//! The second stage: blocks are compressed in parallel, and get their places in the order of the
//! plan.

use super::compress::{Packed, Worker};
use super::fragments::Tail;
use super::kernel;
use super::output::Output;
use super::plan::{Batch, Block, Content, Event, Stored};
use super::tree::Tree;
use super::{CreateOptions, WriteError};
use crate::buffers::Buffers;
use crate::format::SizeWord;
use hedgerow_codec::block::Compressor;
use hedgerow_engine::run_ordered;
use std::borrow::Cow;

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

/// What was stored.
#[derive(Default)]
pub(super) struct Packing {
    pub layouts: Vec<Layout>,
    pub fragments: Vec<Fragment>,
    /// Files that are nothing but a tail, each content once.
    pub tails: u32,
    /// The last of them: they come in order.
    last_tail: Option<Tail>,
}

impl Packing {
    fn count_tail(&mut self, content: Content) {
        if let Content::Tail(tail) = content {
            if self.last_tail < Some(tail) {
                self.last_tail = Some(tail);
                self.tails += 1;
            }
        }
    }

    fn layout(&self, content: Content) -> Cow<'_, Layout> {
        match content {
            Content::Empty => Cow::default(),
            Content::Tail(tail) => Cow::Owned(Layout {
                tail: Some(tail),
                ..Layout::default()
            }),
            Content::Blocks(number) => {
                let layout = self.layouts.get(number as usize);
                layout.map(Cow::Borrowed).unwrap_or_default()
            }
        }
    }
}

/// Compresses and stores the batches of a plan.
pub(super) fn pack(
    batches: impl Iterator<Item = Batch<Block>> + Send,
    options: &CreateOptions,
    buffers: &Buffers,
    output: &mut Output,
    tree: &mut Tree<'_>,
) -> Result<Packing, WriteError> {
    let items = batches.map(|batch| {
        let bytes = batch.bytes as u64;
        Ok((batch, bytes))
    });
    let compressor = options.settings.compressor();
    let mut packing = Packing::default();
    let mut current: Option<Layout> = None;
    run_ordered(
        &options.packers,
        super::window(&options.packers),
        items,
        |_| Worker::new(options, buffers),
        Worker::compress,
        |_, packed| commit(packed, compressor, output, tree, &mut packing, &mut current),
    )?;
    Ok(packing)
}

fn commit(
    packed: Packed,
    compressor: Compressor,
    output: &mut Output,
    tree: &mut Tree<'_>,
    packing: &mut Packing,
    current: &mut Option<Layout>,
) -> Result<(), WriteError> {
    let mut rest: &[u8] = &packed.bytes;
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
                        packing.count_tail(content);
                        content
                    }
                };
                if let Some(entry) = entry {
                    tree.file(entry, packing.layout(content).into_owned())?;
                }
            }
            Event::Other(entry) => tree.other(entry)?,
            Event::Skipped(error) => {
                give_up(current.take(), output)?;
                tree.skipped.push(error);
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
