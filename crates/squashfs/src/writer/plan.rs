//! The plan: what of the gathered contents is stored, and in which order. A pure function of the
//! entries in their order: no worker has a say in it.

use super::gather::{Digest, Gathered, PIECE_BYTES};
use super::input::Node;
use crate::format::NO_FRAGMENT;
use hedgerow_tree::NodeKind;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Events of one item of work carry at least so many bytes, so that small files go together.
const BATCH_BYTES: usize = 256 * 1024;

/// What happens next in the image.
pub(super) enum Event {
    /// A block of the current file, to be compressed.
    Block {
        content: Arc<Vec<u8>>,
        range: Range<usize>,
    },
    /// A block of the current file that is all zeros.
    Hole { bytes: usize },
    /// The next fragment block, to be compressed.
    Fragment(Vec<u8>),
    /// The current file ends.
    File { node: Node, stored: Stored },
    /// An entry that is no file, or another name of one.
    Other { node: Node, target: Vec<u8> },
}

/// Where a file's content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// In the blocks that came before, and in a fragment block.
    Here { tail: Option<Tail> },
    /// Where the content of an earlier file is: the number of that, counting files that were stored.
    /// Blocks that came before are given up.
    Same(u32),
}

/// A part of a fragment block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    pub fragment: u32,
    pub offset: u32,
}

impl Tail {
    pub(super) const NONE: Tail = Tail {
        fragment: NO_FRAGMENT,
        offset: 0,
    };
}

/// Events that go through a worker together.
#[derive(Default)]
pub(super) struct Batch {
    pub events: Vec<Event>,
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
    /// Files that were stored, by size and digest of the whole.
    files: HashMap<(u64, Digest), u32>,
    stored: u32,
    tails: HashMap<Digest, Tail>,
    fragment: Vec<u8>,
    fragments: u32,
    /// The file of which pieces have come.
    current: Option<Current>,
    batch: Batch,
    is_over: bool,
}

struct Current {
    node: Node,
    digests: blake3::Hasher,
}

impl<G: Iterator<Item = Gathered>> Planner<G> {
    pub(super) fn new(gathered: G, options: PlanOptions) -> Self {
        debug_assert!(PIECE_BYTES.is_multiple_of(options.block_bytes));
        Planner {
            gathered,
            options,
            files: HashMap::new(),
            stored: 0,
            tails: HashMap::new(),
            fragment: Vec::new(),
            fragments: 0,
            current: None,
            batch: Batch::default(),
            is_over: false,
        }
    }

    fn take(&mut self, mut gathered: Gathered) {
        if let Some(node) = gathered.node.take() {
            if node.kind != NodeKind::File || gathered.is_repeated {
                let target = gathered.target;
                return self.push(0, Event::Other { node, target });
            }
            let digests = blake3::Hasher::new();
            self.current = Some(Current { node, digests });
        }
        let Some(mut current) = self.current.take() else {
            return;
        };
        let is_whole = current.node.size_bytes <= PIECE_BYTES as u64;
        let digest = match is_whole {
            true => gathered.digest,
            false => {
                current.digests.update(&gathered.digest);
                current.digests.finalize().into()
            }
        };
        if !gathered.is_last {
            self.blocks(gathered.bytes, 0);
            self.current = Some(current);
            return;
        }
        let key = (current.node.size_bytes, digest);
        let same = self.files.get(&key).filter(|_| self.options.dedup);
        let stored = match same {
            Some(number) => Stored::Same(*number),
            None => {
                let tail = self.tail(gathered);
                self.files.insert(key, self.stored);
                self.stored += 1;
                Stored::Here { tail }
            }
        };
        let node = current.node;
        self.push(0, Event::File { node, stored });
    }

    /// The last piece of a file: blocks, and what is left over.
    fn tail(&mut self, gathered: Gathered) -> Option<Tail> {
        let tail_bytes = gathered.bytes.len() % self.options.block_bytes;
        let is_hole = || is_zero(gathered.bytes.get(gathered.bytes.len() - tail_bytes..));
        if tail_bytes == 0 || !self.options.fragments || is_hole() {
            self.blocks(gathered.bytes, 0);
            return None;
        }
        let digest = gathered.tail_digest;
        let known = self.tails.get(&digest).copied();
        let known = known.filter(|_| self.options.dedup);
        let head = gathered.bytes.len() - tail_bytes;
        let own = match known {
            Some(_) => Vec::new(),
            None => gathered.bytes.get(head..).unwrap_or_default().to_vec(),
        };
        // The blocks of a file stand together: a fragment block comes behind them.
        self.blocks(gathered.bytes, tail_bytes);
        Some(known.unwrap_or_else(|| self.add_to_fragment(&own, digest)))
    }

    fn add_to_fragment(&mut self, bytes: &[u8], digest: Digest) -> Tail {
        if self.fragment.len() + bytes.len() > self.options.block_bytes {
            self.end_fragment();
        }
        let tail = Tail {
            fragment: self.fragments,
            offset: self.fragment.len() as u32,
        };
        self.fragment.extend_from_slice(bytes);
        self.tails.insert(digest, tail);
        tail
    }

    fn end_fragment(&mut self) {
        if self.fragment.is_empty() {
            return;
        }
        let next = Vec::with_capacity(self.options.block_bytes);
        let fragment = std::mem::replace(&mut self.fragment, next);
        self.fragments += 1;
        let bytes = fragment.len();
        self.push(bytes, Event::Fragment(fragment));
    }

    /// Blocks of a piece, without its last `rest` bytes.
    fn blocks(&mut self, bytes: Vec<u8>, rest: usize) {
        let end = bytes.len() - rest;
        let content = Arc::new(bytes);
        let mut start = 0;
        while start < end {
            let range = start..(start + self.options.block_bytes).min(end);
            start = range.end;
            let bytes = range.len();
            match is_zero(content.get(range.clone())) {
                true => self.push(0, Event::Hole { bytes }),
                false => {
                    let content = content.clone();
                    self.push(bytes, Event::Block { content, range });
                }
            }
        }
    }

    fn push(&mut self, bytes: usize, event: Event) {
        self.batch.bytes += bytes;
        self.batch.events.push(event);
    }
}

impl<G: Iterator<Item = Gathered>> Iterator for Planner<G> {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        while !self.is_over && self.batch.bytes < BATCH_BYTES && self.batch.events.len() < 4096 {
            match self.gathered.next() {
                Some(gathered) => self.take(gathered),
                None => {
                    self.end_fragment();
                    self.is_over = true;
                }
            }
        }
        let batch = std::mem::take(&mut self.batch);
        (!batch.events.is_empty()).then_some(batch)
    }
}

fn is_zero(bytes: Option<&[u8]>) -> bool {
    let bytes = bytes.unwrap_or_default();
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}
