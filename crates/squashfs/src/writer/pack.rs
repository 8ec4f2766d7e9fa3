//! The second stage: blocks are compressed in parallel and stored in the order of the plan.

use super::blocks::BlockList;
use super::compress::{Packed, Worker};
use super::kernel;
use super::slots::Slots;
use super::tree::Tree;
use super::CreateOptions;
use crate::format::SizeWord;
use hedgerow_codec::block::Compressor;
use hedgerow_engine::{run_ordered, Stage};
use hedgerow_image::buffers::Buffers;
use hedgerow_image::fragments::Tail;
use hedgerow_image::plan::{Batch, Block, Content, Event, Stored};
use hedgerow_image::Output;
use hedgerow_image::{stages, WriteError};
use std::borrow::Cow;

/// Where and how a file's content is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Position of its first block.
    pub start: u64,
    pub blocks: BlockList,
    pub tail: Option<Tail>,
    /// Bytes in holes, which are not stored.
    pub sparse_bytes: u64,
}

/// The position and the size word of a fragment block.
pub(super) type Fragment = (u64, SizeWord);

/// What was stored.
#[derive(Default)]
pub(super) struct Packing {
    pub layouts: Vec<Layout>,
    pub fragments: Vec<Fragment>,
    /// Number of distinct contents that consist of a tail only.
    pub tails: u32,
    /// All stored blocks, data and fragments.
    slots: Slots,
    /// The last tail counted; new tails come in ascending order.
    last_tail: Option<Tail>,
}

impl Packing {
    /// Finishes the content of a file, whose blocks have all come.
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
    let contents = options.execution.progress.stage(Stage::Contents);
    let mut packing = Packing::default();
    let mut current: Option<Current> = None;
    run_ordered(
        &packers,
        stages::window(&packers),
        items,
        |_| Worker::new(options, buffers),
        |worker: &mut Worker, batch: Batch<Block>| {
            let gathered_bytes = batch.gathered_bytes;
            let packed = worker.compress(batch);
            contents.step(gathered_bytes);
            packed
        },
        |_, packed| commit(packed, compressor, output, tree, &mut packing, &mut current),
    )?;
    Ok(packing)
}

/// The file whose blocks are being stored.
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

/// Carries out the events of a batch in order. `current` outlives the batch, because the blocks of
/// a file can be spread over several batches.
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
            Event::Known { .. } => return Err(lost_run()),
            Event::File { entry, stored, .. } => {
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

/// The error if the plan and the stored blocks disagree on numbers, which must not happen.
fn lost_run() -> WriteError {
    WriteError::Limit {
        reason: "a block has no place that was stored before".into(),
    }
}

/// Discards the blocks of a file that are not needed.
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

/// Takes the next stored block of a batch.
fn take<'b>(rest: &mut &'b [u8], word: SizeWord) -> &'b [u8] {
    let bytes = word.stored_bytes() as usize;
    let (block, after) = rest
        .split_at_checked(bytes)
        .expect("a batch holds the bytes of all its blocks");
    *rest = after;
    block
}

/// Appends a block, without its checksum where the kernel could not read it. Returns the size word.
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
