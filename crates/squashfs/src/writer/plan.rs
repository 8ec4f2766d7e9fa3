//! The plan: what of the gathered contents is stored, and in which order. A pure function of the
//! entries in their order: no worker has a say in it.

use super::entry::Entry;
use super::fragments::{Fragments, Tail};
use super::gather::{shortened, Bytes, Digest, Gathered, PIECE_BYTES};
use super::WriteError;
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
    /// The current file ends.
    File { entry: Entry, stored: Stored },
    /// An entry that is no file, or another name of one.
    Other(Entry),
    /// An entry is left out, with the blocks that came of it.
    Skipped(NodeError),
}

/// The content of a block, before it is compressed.
pub(super) enum Block {
    Part {
        content: Arc<Vec<u8>>,
        range: Range<usize>,
    },
    Whole(Vec<u8>),
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Block::Part { content, range } => content.get(range.clone()).unwrap_or_default(),
            Block::Whole(content) => content,
        }
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
    /// Whether what does not fill a block goes together with others of its kind.
    pub fragments: bool,
    /// Whether equal contents are stored once.
    pub dedup: bool,
}

/// Turns gathered contents into batches of events.
pub(super) struct Planner<G> {
    gathered: G,
    options: PlanOptions,
    /// Files that have blocks, by what they hold.
    files: HashMap<Digest, u32>,
    /// Where the contents are that have ids, and how large they are.
    contents: HashMap<[u8; 32], (Content, u64)>,
    /// Files that have blocks.
    stored: u32,
    fragments: Fragments,
    /// The file of which pieces have come.
    current: Option<Current>,
    batch: Batch<Block>,
    is_over: bool,
}

struct Current {
    entry: Entry,
    pieces: Option<Box<blake3::Hasher>>,
}

impl<G: Iterator<Item = Gathered>> Planner<G> {
    pub(super) fn new(gathered: G, options: PlanOptions) -> Self {
        debug_assert!(PIECE_BYTES.is_multiple_of(options.block_bytes));
        Planner {
            gathered,
            options,
            files: HashMap::new(),
            contents: HashMap::new(),
            stored: 0,
            fragments: Fragments::new(options.block_bytes, options.dedup),
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
            Gathered::SameContent { entry, id } => self.same_content(entry, id),
            Gathered::Piece {
                entry,
                bytes,
                digest,
                tail_digest,
                is_last,
            } => {
                let begun = entry.map(|entry| Current {
                    pieces: (!is_last).then(Box::default),
                    entry,
                });
                // Without one, the file was left out when its first piece came.
                if let Some(current) = begun.or_else(|| self.current.take()) {
                    self.piece(current, bytes, (digest, tail_digest), is_last);
                }
            }
        }
    }

    /// A file that needs not be read, because another one with the same content was.
    fn same_content(&mut self, mut entry: Entry, id: [u8; 32]) {
        let Some((content, size_bytes)) = self.contents.get(&id) else {
            let reason = "the file with the same content could not be read";
            let error = NodeError::entry(WriteError::entry(&entry.path, reason));
            return self.push(0, Event::Skipped(error));
        };
        entry.size_bytes = *size_bytes;
        let stored = Stored::There(*content);
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
            digest.iter().for_each(|word| {
                pieces.update(&word.to_le_bytes());
            });
        }
        if !is_last {
            self.blocks(bytes, 0);
            self.current = Some(current);
            return;
        }
        if let Some(pieces) = &mut current.pieces {
            // No content of one piece has this hash: its size does not fit.
            pieces.update(&current.entry.size_bytes.to_le_bytes());
            digest = shortened(pieces.finalize());
        }
        let stored = self.store(&current, bytes, digest, tail_digest);
        let entry = current.entry;
        if let Some(id) = entry.content_id {
            let content = match stored {
                Stored::Here { .. } => Content::Blocks(self.stored - 1),
                Stored::There(content) => content,
            };
            self.contents.insert(id, (content, entry.size_bytes));
        }
        self.push(0, Event::File { entry, stored });
    }

    /// The last piece of a file.
    fn store(
        &mut self,
        current: &Current,
        bytes: Bytes,
        digest: Digest,
        tail_digest: Digest,
    ) -> Stored {
        if current.entry.size_bytes == 0 {
            return Stored::There(Content::Empty);
        }
        let is_one_tail = bytes.len() < self.options.block_bytes && current.pieces.is_none();
        if is_one_tail && self.options.fragments {
            if let Bytes::Data(content) = &bytes {
                if !is_zero(content) {
                    let tail = self.add_tail(content, digest);
                    return Stored::There(Content::Tail(tail));
                }
            }
        }
        if self.options.dedup {
            if let Some(number) = self.files.get(&digest) {
                return Stored::There(Content::Blocks(*number));
            }
            self.files.insert(digest, self.stored);
        }
        self.stored += 1;
        let tail = self.last_blocks(bytes, tail_digest);
        Stored::Here { tail }
    }

    /// Blocks, and what is left over.
    fn last_blocks(&mut self, bytes: Bytes, tail_digest: Digest) -> Option<Tail> {
        let tail_bytes = bytes.len() % self.options.block_bytes;
        let tail = match &bytes {
            Bytes::Data(content) if self.options.fragments && tail_bytes > 0 => {
                content.get(content.len() - tail_bytes..)
            }
            _ => None,
        };
        let tail = tail.filter(|tail| !is_zero(tail)).map(<[u8]>::to_vec);
        match tail {
            None => {
                self.blocks(bytes, 0);
                None
            }
            Some(tail) => {
                // The blocks of a file stand together: a fragment block comes behind them.
                self.blocks(bytes, tail_bytes);
                Some(self.add_tail(&tail, tail_digest))
            }
        }
    }

    fn add_tail(&mut self, tail: &[u8], digest: Digest) -> Tail {
        let (place, full) = self.fragments.add(tail, digest);
        for fragment in full.into_iter().flatten() {
            self.push(fragment.len(), Event::Fragment(Block::Whole(fragment)));
        }
        place
    }

    /// Blocks of a piece, without its last `rest` bytes.
    fn blocks(&mut self, bytes: Bytes, rest: usize) {
        let end = bytes.len() - rest;
        let content = match bytes {
            Bytes::Data(content) => Some(Arc::new(content)),
            Bytes::Zeros(_) => None,
        };
        for start in (0..end).step_by(self.options.block_bytes) {
            let range = start..(start + self.options.block_bytes).min(end);
            let data = content.as_ref().filter(|content| {
                content
                    .get(range.clone())
                    .is_some_and(|part| !is_zero(part))
            });
            let bytes = range.len();
            match data.cloned() {
                None => self.push(0, Event::Hole(bytes)),
                Some(content) => self.push(bytes, Event::Block(Block::Part { content, range })),
            }
        }
    }

    fn push(&mut self, bytes: usize, event: Event<Block>) {
        self.batch.bytes += bytes;
        self.batch.events.push(event);
    }
}

impl<G: Iterator<Item = Gathered>> Iterator for Planner<G> {
    type Item = Batch<Block>;

    fn next(&mut self) -> Option<Batch<Block>> {
        let is_full =
            |batch: &Batch<Block>| batch.bytes >= BATCH_BYTES || batch.events.len() >= BATCH_EVENTS;
        while !self.is_over && !is_full(&self.batch) {
            match self.gathered.next() {
                Some(gathered) => self.take(gathered),
                None => {
                    if let Some(fragment) = self.fragments.finish() {
                        self.push(fragment.len(), Event::Fragment(Block::Whole(fragment)));
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
