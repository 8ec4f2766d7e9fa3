//! The plan: what of the gathered contents is stored, and in which order. A pure function of the
//! entries in their order: no worker has a say in it.

use super::digest::{Digest, LargeDigest, LargeFiles};
use super::entry::Entry;
use super::fragments::{Fragments, Tail};
use super::gather::{Begun, Bytes, ContentId, Gathered, PIECE_BYTES};
use super::item::Treatment;
use super::{FragmentPolicy, WriteError};
use crate::buffers::{Buffer, Buffers};
use hedgerow_tree::NodeError;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Events of one item of work carry at least so many bytes, so that small files go together.
const BATCH_BYTES: usize = 256 * 1024;
/// And at most so many events, if they carry less.
const BATCH_EVENTS: usize = 4096;

/// What happens next in the image. A block is `B`: its content, and later what is stored of it.
pub(super) enum Event<B> {
    /// A block of the current file.
    Block(B),
    /// A block of the current file that is nothing but so many zeros.
    Hole(usize),
    /// The next fragment block.
    Fragment(B),
    /// The current file ends. Without an entry, that comes later.
    File {
        entry: Option<Entry>,
        stored: Stored,
    },
    /// An entry that is no file, or another name of one.
    Other(Entry),
    /// An entry is left out, with the blocks that came of it.
    Skipped(NodeError),
}

/// A block before it is compressed.
pub(super) struct Block {
    content: Arc<Buffer>,
    range: Range<usize>,
    /// Whether it stays as it is.
    pub uncompressed: bool,
}

impl Block {
    fn whole(content: Buffer) -> Self {
        Block {
            range: 0..content.len(),
            content: Arc::new(content),
            uncompressed: false,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.content.get(self.range.clone()).unwrap_or_default()
    }
}

/// Where the content of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// In the blocks that came before, and in a fragment block. They are numbered from 0 on.
    Here { tail: Option<Tail> },
    /// Where something else is that came before. Blocks that came of this file are given up.
    There(Content),
}

/// A content that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Empty,
    /// Nowhere but in a fragment block.
    Tail(Tail),
    /// In blocks: the number of those that are [`Stored::Here`].
    Blocks(u32),
}

/// Events that go through a worker together.
pub(super) struct Batch<B> {
    pub events: Vec<Event<B>>,
    pub bytes: usize,
}

/// What the plan depends on besides the entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanOptions {
    pub block_bytes: usize,
    pub fragments: FragmentPolicy,
    /// Whether equal contents are stored once.
    pub dedup: bool,
}

/// Turns gathered contents into batches of events.
pub(super) struct Planner<'l, G> {
    gathered: G,
    large: &'l LargeFiles,
    buffers: &'l Buffers,
    options: PlanOptions,
    /// Files that have blocks, by what they hold.
    files: HashMap<Digest, u32>,
    /// Where the contents are that have ids, and how large they are.
    contents: HashMap<ContentId, (Content, u64)>,
    /// Files that have blocks.
    stored: u32,
    fragments: Fragments<'l>,
    /// The file of which pieces have come.
    current: Option<Current>,
    batch: Batch<Block>,
    is_over: bool,
}

struct Current {
    begun: Begun,
    /// The hash of the digests of its pieces, if there are several.
    pieces: Option<Box<LargeDigest>>,
}

impl<'l, G: Iterator<Item = Gathered>> Planner<'l, G> {
    pub(super) fn new(
        gathered: G,
        large: &'l LargeFiles,
        buffers: &'l Buffers,
        options: PlanOptions,
    ) -> Self {
        debug_assert!(PIECE_BYTES.is_multiple_of(options.block_bytes));
        Planner {
            gathered,
            large,
            buffers,
            options,
            files: HashMap::new(),
            contents: HashMap::new(),
            stored: 0,
            fragments: Fragments::new(options.block_bytes, options.dedup, buffers),
            current: None,
            batch: empty_batch(),
            is_over: false,
        }
    }

    fn take(&mut self, gathered: Gathered) {
        match gathered {
            Gathered::Other(entry) => self.push(0, Event::Other(entry)),
            Gathered::Skipped(error) => {
                self.current = None;
                self.push(0, Event::Skipped(error));
            }
            Gathered::Same { entry, digest } => self.same(entry, digest),
            Gathered::Known { entry, id } => self.known(entry, id),
            Gathered::Piece {
                entry,
                bytes,
                digest,
                tail_digest,
                is_last,
            } => {
                let begun = entry.map(|begun| Current {
                    pieces: (!is_last).then(Box::default),
                    begun,
                });
                // Without one, the file was left out when its first piece came.
                if let Some(current) = begun.or_else(|| self.current.take()) {
                    self.piece(current, bytes, (digest, tail_digest), is_last);
                }
            }
        }
    }

    /// A file that needs not be read, because its content came before.
    fn known(&mut self, mut entry: Entry, id: ContentId) {
        let Some((content, size_bytes)) = self.contents.get(&id) else {
            let reason = "its content could not be read when it came before";
            let error = NodeError::entry(WriteError::entry(&entry.path, reason));
            return self.push(0, Event::Skipped(error));
        };
        entry.size_bytes = *size_bytes;
        let stored = Stored::There(*content);
        let entry = Some(entry);
        self.push(0, Event::File { entry, stored });
    }

    /// A large file of which it is known that it is here already.
    fn same(&mut self, entry: Entry, digest: Digest) {
        let Some(number) = self.files.get(&digest) else {
            let error = WriteError::entry(&entry.path, "its content is nowhere");
            return self.push(0, Event::Skipped(NodeError::entry(error)));
        };
        let stored = Stored::There(Content::Blocks(*number));
        let entry = Some(entry);
        self.push(0, Event::File { entry, stored });
    }

    fn piece(
        &mut self,
        mut current: Current,
        bytes: Bytes,
        (mut digest, tail_digest): (Digest, Digest),
        is_last: bool,
    ) {
        if let Some(pieces) = &mut current.pieces {
            pieces.add(digest);
        }
        let treatment = current.begun.treatment;
        let bytes = self.with_zeros(bytes, treatment);
        if !is_last {
            self.blocks(bytes, 0, treatment);
            self.current = Some(current);
            return;
        }
        let size_bytes = current.begun.entry.size_bytes;
        if let Some(pieces) = &mut current.pieces {
            digest = pieces.finish(size_bytes);
        }
        if size_bytes > PIECE_BYTES as u64 && self.options.dedup && !treatment.not_shared {
            self.large.insert(size_bytes, digest);
        }
        let stored = self.store(bytes, size_bytes, (digest, tail_digest), treatment);
        let begun = current.begun;
        if let Some(id) = begun.id {
            let content = match stored {
                Stored::Here { .. } => Content::Blocks(self.stored - 1),
                Stored::There(content) => content,
            };
            self.contents.insert(id, (content, size_bytes));
        }
        let entry = (!begun.is_nameless).then_some(begun.entry);
        self.push(0, Event::File { entry, stored });
    }

    /// The last piece of a file of `size_bytes`.
    fn store(
        &mut self,
        bytes: Bytes,
        size_bytes: u64,
        (digest, tail_digest): (Digest, Digest),
        treatment: Treatment,
    ) -> Stored {
        if size_bytes == 0 {
            return Stored::There(Content::Empty);
        }
        let is_small = size_bytes < self.options.block_bytes as u64;
        let tail = self.tail_of(&bytes, is_small, treatment);
        if let Some(tail) = tail.filter(|_| is_small) {
            let tail = self.add_tail(tail, digest, treatment);
            return Stored::There(Content::Tail(tail));
        }
        if self.options.dedup && !treatment.not_shared {
            if let Some(number) = self.files.get(&digest) {
                return Stored::There(Content::Blocks(*number));
            }
            self.files.insert(digest, self.stored);
        }
        self.stored += 1;
        let tail = tail.map(<[u8]>::to_vec);
        let rest = tail.as_ref().map_or(0, Vec::len);
        // The blocks of a file stand together: a fragment block comes behind them.
        self.blocks(bytes, rest, treatment);
        let tail = tail.map(|tail| self.add_tail(&tail, tail_digest, treatment));
        Stored::Here { tail }
    }

    /// What of the last piece of a file goes into a fragment block.
    fn tail_of<'b>(
        &self,
        bytes: &'b Bytes,
        is_small: bool,
        treatment: Treatment,
    ) -> Option<&'b [u8]> {
        let wanted = match self.options.fragments {
            FragmentPolicy::Never => false,
            FragmentPolicy::SmallFiles => is_small,
            FragmentPolicy::Always => true,
        };
        // A fragment block is compressed as a whole or not at all.
        if !wanted || treatment.unfragmented || treatment.uncompressed {
            return None;
        }
        let Bytes::Data(content) = bytes else {
            return None;
        };
        let start = content.len() - content.len() % self.options.block_bytes;
        let tail = content.get(start..).filter(|tail| !tail.is_empty());
        tail.filter(|tail| treatment.not_sparse || !is_zero(tail))
    }

    fn add_tail(&mut self, tail: &[u8], digest: Digest, treatment: Treatment) -> Tail {
        let digest = (!treatment.not_shared).then_some(digest);
        let (place, full) = self.fragments.add(tail, digest);
        for fragment in full.into_iter().flatten() {
            self.push(fragment.len(), Event::Fragment(Block::whole(fragment)));
        }
        place
    }

    /// A piece as it is stored: whether a source tells of holes makes no difference.
    fn with_zeros(&self, bytes: Bytes, treatment: Treatment) -> Bytes {
        match bytes {
            Bytes::Zeros(count) if treatment.not_sparse => {
                let mut zeros = self.buffers.take(count);
                zeros.fill(0);
                Bytes::Data(zeros)
            }
            bytes => bytes,
        }
    }

    /// Blocks of a piece, without its last `rest` bytes.
    fn blocks(&mut self, bytes: Bytes, rest: usize, treatment: Treatment) {
        let end = bytes.len() - rest;
        let content = match bytes {
            Bytes::Data(content) => Some(Arc::new(content)),
            Bytes::Zeros(_) => None,
        };
        for start in (0..end).step_by(self.options.block_bytes) {
            let range = start..(start + self.options.block_bytes).min(end);
            let bytes = range.len();
            let stored = content.as_ref().filter(|content| {
                let block = content.get(range.clone()).unwrap_or_default();
                treatment.not_sparse || !is_zero(block)
            });
            match stored.cloned() {
                None => self.push(0, Event::Hole(bytes)),
                Some(content) => {
                    let uncompressed = treatment.uncompressed;
                    let block = Block {
                        content,
                        range,
                        uncompressed,
                    };
                    self.push(bytes, Event::Block(block));
                }
            }
        }
    }

    fn push(&mut self, bytes: usize, event: Event<Block>) {
        self.batch.bytes += bytes;
        self.batch.events.push(event);
    }
}

impl<G: Iterator<Item = Gathered>> Iterator for Planner<'_, G> {
    type Item = Batch<Block>;

    fn next(&mut self) -> Option<Batch<Block>> {
        let is_full =
            |batch: &Batch<Block>| batch.bytes >= BATCH_BYTES || batch.events.len() >= BATCH_EVENTS;
        while !self.is_over && !is_full(&self.batch) {
            match self.gathered.next() {
                Some(gathered) => self.take(gathered),
                None => {
                    if let Some(fragment) = self.fragments.finish() {
                        self.push(fragment.len(), Event::Fragment(Block::whole(fragment)));
                    }
                    self.is_over = true;
                }
            }
        }
        let batch = std::mem::replace(&mut self.batch, empty_batch());
        (!batch.events.is_empty()).then_some(batch)
    }
}

fn empty_batch() -> Batch<Block> {
    Batch {
        events: Vec::new(),
        bytes: 0,
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}
