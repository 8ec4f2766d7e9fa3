//! The second stage: blocks are compressed in parallel, and get their places in the order of the
//! plan.

use super::blocks::BlockList;
use super::compress::{Packed, Worker};
use super::fragments::Tail;
use super::kernel;
use super::output::Output;
use super::plan::{Batch, Block, Content, Event, Stored};
use super::slots::Slots;
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
    pub blocks: BlockList,
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
    /// The blocks of files, and the fragment blocks among them.
    slots: Slots,
    /// The last of them: they come in order.
    last_tail: Option<Tail>,
}

impl Packing {
    /// The content of a file of which all blocks came.
    fn settle(
        &mut self,
        current: Option<Current>,
        stored: Stored,
        output: &mut Output,
    ) -> Result<Content, WriteError> {
        match stored {
            Stored::Here { tail } => {
                let current = current.expect("the blocks of a file come before it");
                let mut layout = current.layout;
                layout.tail = tail;
                self.layouts.push(layout);
                Ok(Content::Blocks(self.layouts.len() as u32 - 1))
            }
            Stored::There(content) => {
                give_up(current.as_ref(), output, &mut self.slots)?;
                self.count_tail(content);
                Ok(content)
            }
        }
    }

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
                Cow::Borrowed(layout.expect("a content is stored before it is used again"))
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
    let packers = options.packers();
    let compressor = options.settings.compressor();
    let mut packing = Packing::default();
    let mut current: Option<Current> = None;
    run_ordered(
        &packers,
        super::window(&packers),
        items,
        |_| Worker::new(options, buffers),
        Worker::compress,
        |_, packed| commit(packed, compressor, output, tree, &mut packing, &mut current),
    )?;
    Ok(packing)
}

/// The file of which blocks come.
struct Current {
    layout: Layout,
    /// The number of its first block.
    first: u64,
}

impl Current {
    fn begin(output: &Output, slots: &Slots) -> Self {
        Current {
            layout: Layout {
                start: output.position(),
                ..Layout::default()
            },
            first: slots.next(),
        }
    }
}

fn commit(
    packed: Packed,
    compressor: Compressor,
    output: &mut Output,
    tree: &mut Tree<'_>,
    packing: &mut Packing,
    current: &mut Option<Current>,
) -> Result<(), WriteError> {
    let mut rest: &[u8] = &packed.bytes;
    for event in packed.events {
        let slots = &mut packing.slots;
        match event {
            Event::Block(word) => {
                let own = current.get_or_insert_with(|| Current::begin(output, slots));
                let position = output.position();
                let word = store(take(&mut rest, word), word, compressor, output)?;
                own.layout.blocks.push(word);
                slots.push(position, word);
            }
            Event::Holes { blocks, bytes } => {
                let own = current.get_or_insert_with(|| Current::begin(output, slots));
                own.layout.blocks.push_holes(blocks);
                own.layout.sparse_bytes += bytes;
            }
            Event::Elsewhere => {
                let own = current.get_or_insert_with(|| Current::begin(output, slots));
                own.layout.blocks.push(SizeWord(0));
            }
            Event::Run { first } => {
                let mut own = current.take().ok_or_else(lost_run)?;
                give_up(Some(&own), output, slots)?;
                let (start, words) = slots.run(first).ok_or_else(lost_run)?;
                own.layout.start = start;
                own.layout.blocks.replace(words);
                own.first = slots.next();
                *current = Some(own);
            }
            Event::Fragment(word) => {
                let position = output.position();
                let word = store(take(&mut rest, word), word, compressor, output)?;
                slots.push(position, word);
                packing.fragments.push((position, word));
            }
            Event::File { entry, stored } => {
                let content = packing.settle(current.take(), stored, output)?;
                if let Some(entry) = entry {
                    tree.file(entry, packing.layout(content).into_owned())?;
                }
            }
            Event::Other(entry) => tree.other(entry)?,
            Event::Skipped(error) => {
                give_up(current.take().as_ref(), output, slots)?;
                tree.skipped.push(error);
            }
        }
    }
    assert!(rest.is_empty(), "all bytes of a batch belong to a block");
    Ok(())
}

/// The plan numbers blocks as they are stored.
fn lost_run() -> WriteError {
    WriteError::Limit {
        reason: "a block has no place that was stored before".into(),
    }
}

/// The blocks of a file that turned out not to be wanted.
fn give_up(
    current: Option<&Current>,
    output: &mut Output,
    slots: &mut Slots,
) -> Result<(), WriteError> {
    let Some(current) = current else {
        return Ok(());
    };
    if slots.next() > current.first {
        slots.take_back(current.first);
        output.go_back_to(current.layout.start)?;
    }
    Ok(())
}

/// The next block of those that were packed together.
fn take<'b>(rest: &mut &'b [u8], word: SizeWord) -> &'b [u8] {
    let bytes = word.stored_bytes() as usize;
    let (block, after) = rest
        .split_at_checked(bytes)
        .expect("a batch holds the bytes of all its blocks");
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
    let shorter = if word.is_raw() || is_readable() {
        None
    } else {
        compressor.without_checksum(block)
    };
    match shorter {
        None => output.append(block).map(|()| word),
        Some(shorter) => {
            output.append(&shorter)?;
            Ok(SizeWord::new(shorter.len() as u32, false))
        }
    }
}
