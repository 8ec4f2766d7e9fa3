//! The plan: which of the gathered contents are stored, and in which order. It depends only on the
//! entries and their order, not on the workers.

use crate::buffers::{Buffer, Buffers};
use crate::digest::{Digest, FileDigest, LargeFiles, ZEROS};
use crate::fragments::{Fragments, Tail};
use crate::gather::{Begun, Bytes, ContentId, Gathered, PIECE_BYTES};
use crate::item::Treatment;
use crate::runs::Runs;
use crate::Entry;
use crate::{FragmentPolicy, WriteError};
use hedgerow_fs::is_zero;
use hedgerow_tree::NodeError;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A batch has at least this many bytes of blocks, so that small files go together.
const BATCH_BYTES: usize = 256 * 1024;
/// A batch with fewer bytes has at most about this many events.
const BATCH_EVENTS: usize = 4096;

/// A step of writing the image. `B` is a block: first its content, later its size word.
pub enum Event<B> {
    /// A block of the current file.
    Block(B),
    /// Blocks of the current file that are holes, and their size in bytes.
    Holes {
        /// Their number.
        blocks: u64,
        /// Their size.
        bytes: u64,
    },
    /// A block of the current file that is stored already; a following [`Event::Run`] tells where.
    Elsewhere,
    /// The blocks of the current file are the stored blocks with the numbers from `first` on.
    /// Blocks stored for it so far are discarded.
    Run {
        /// The number of the first.
        first: u32,
    },
    /// The next fragment block.
    Fragment(B),
    /// A block of the current file that equals the stored block with this number.
    Known {
        /// The number of the stored block.
        number: u32,
    },
    /// The end of the current file.
    File {
        /// The file; `None` if it comes later.
        entry: Option<Entry>,
        /// Where its content is.
        stored: Stored,
        /// The bytes after its last block, if they are stored with its inode.
        inline: Option<B>,
    },
    /// An entry that is not a regular file, or another hard link to a file.
    Other(Entry),
    /// An entry is left out. Blocks stored for it so far are discarded.
    Skipped(NodeError),
}

/// An uncompressed block.
pub struct Block {
    content: Arc<Buffer>,
    range: Range<usize>,
    /// Whether it is stored uncompressed.
    pub uncompressed: bool,
    /// Its digest, if it was computed.
    pub digest: Option<Digest>,
}

impl Block {
    fn whole(content: Buffer) -> Self {
        Block {
            range: 0..content.len(),
            content: Arc::new(content),
            uncompressed: false,
            digest: None,
        }
    }

    /// A block with a copy of `bytes`.
    pub fn copied(bytes: &[u8], buffers: &Buffers) -> Self {
        let mut buffer = buffers.take(bytes.len());
        buffer.copy_from_slice(bytes);
        Block::whole(buffer)
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.content[self.range.clone()]
    }
}

/// Where the content of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// In the blocks just stored for it, and in a fragment block. Such contents are numbered from
    /// 0.
    Here {
        /// The part in a fragment block.
        tail: Option<Tail>,
    },
    /// The same as a content that was stored before. Blocks stored for this file are discarded.
    There(Content),
}

/// A stored content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// None.
    Empty,
    /// Only in a fragment block.
    Tail(Tail),
    /// In blocks; the number counts the contents that are [`Stored::Here`].
    Blocks(u32),
}

/// Events that a worker processes together.
pub struct Batch<B> {
    /// The events in order.
    pub events: Vec<Event<B>>,
    /// Number of bytes of the blocks in them.
    pub bytes: usize,
    /// Number of bytes that were read since the batch before, whatever of them is stored: the steps
    /// of [`Stage::Contents`](hedgerow_engine::Stage::Contents).
    pub gathered_bytes: u64,
}

/// Options of the plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanOptions {
    /// Size of a block in bytes.
    pub block_bytes: usize,
    /// Which tails go into fragment blocks.
    pub fragments: FragmentPolicy,
    /// Fragment blocks are padded with zeros to a multiple of so many bytes, which must divide the size
    /// of a block; 1 for no padding.
    pub fragment_unit_bytes: usize,
    /// Tails of at most this many bytes are stored with the inode, if the file was read as a
    /// whole; 0 for none.
    pub inline_bytes: usize,
    /// Blocks of a file may be shared if at least so many one behind the other are the same as
    /// stored ones; 0 if only all blocks of a file can be shared, as a run.
    pub shared_blocks: usize,
    /// Whether equal contents are stored once.
    pub dedup: bool,
}

/// Turns gathered contents into batches of events.
pub struct Planner<'l, G> {
    gathered: G,
    large: &'l LargeFiles,
    buffers: &'l Buffers,
    options: PlanOptions,
    /// Numbers of the files with blocks, by digest.
    files: HashMap<Digest, u32>,
    /// The contents with ids, and their sizes in bytes.
    contents: HashMap<ContentId, (Content, u64)>,
    /// Number of files with blocks.
    stored: u32,
    /// The blocks of these files.
    runs: Runs,
    fragments: Fragments<'l>,
    /// The file whose pieces are coming in.
    current: Option<Current>,
    batch: Batch<Block>,
    is_over: bool,
}

struct Current {
    begun: Begun,
    digest: FileDigest,
    /// The number of its first block.
    first: u64,
    /// Whether each of its blocks so far equals some stored block, and was stored nevertheless.
    may_be_run: bool,
    /// Whether some of its blocks are stored ones ([`Event::Known`]): its blocks in the plan are not
    /// all that it has, and no run stands for it.
    shares_blocks: bool,
}

/// A piece of a file's content with its digests.
struct Piece {
    bytes: Bytes,
    digests: Vec<Digest>,
}

impl<'l, G: Iterator<Item = Gathered>> Planner<'l, G> {
    /// A plan of what `gathered` yields.
    pub fn new(
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
            runs: Runs::default(),
            fragments: Fragments::new(&options, buffers),
            current: None,
            batch: empty_batch(),
            is_over: false,
        }
    }

    fn take(&mut self, gathered: Gathered) {
        self.batch.gathered_bytes += gathered.held_bytes() as u64;
        match gathered {
            Gathered::Other(entry) => self.push(0, Event::Other(entry)),
            Gathered::Skipped(error) => {
                if let Some(current) = self.current.take() {
                    self.runs.take_back(current.first);
                }
                self.push(0, Event::Skipped(error));
            }
            Gathered::Same { entry, digest } => self.same(entry, digest),
            Gathered::Known { entry, id } => self.known(entry, id),
            Gathered::Piece {
                entry,
                bytes,
                digests,
                is_last,
            } => {
                let begun = entry.map(|begun| Current {
                    begun,
                    digest: FileDigest::default(),
                    first: self.runs.next(),
                    may_be_run: true,
                    shares_blocks: false,
                });
                // Without a current file, the file was left out when its first piece came.
                if let Some(current) = begun.or_else(|| self.current.take()) {
                    self.piece(current, Piece { bytes, digests }, is_last);
                }
            }
        }
    }

    /// Handles a file whose content came before under this id.
    fn known(&mut self, mut entry: Entry, id: ContentId) {
        let Some((content, size_bytes)) = self.contents.get(&id) else {
            let reason = "its content could not be read when it came before";
            let error = NodeError::entry(WriteError::entry(&entry.path, reason));
            return self.push(0, Event::Skipped(error));
        };
        entry.size_bytes = *size_bytes;
        self.file(Some(entry), Stored::There(*content), None);
    }

    /// Handles a large file whose digest was found before.
    fn same(&mut self, entry: Entry, digest: Digest) {
        let Some(number) = self.files.get(&digest) else {
            let error = WriteError::entry(&entry.path, "its content is nowhere");
            return self.push(0, Event::Skipped(NodeError::entry(error)));
        };
        self.file(Some(entry), Stored::There(Content::Blocks(*number)), None);
    }

    /// Plans a piece of a file. A file smaller than a block is identified by the digest of its only
    /// piece, a larger one by that of all its blocks.
    fn piece(&mut self, mut current: Current, piece: Piece, is_last: bool) {
        let size_bytes = current.begun.entry.size_bytes;
        let block_bytes = self.options.block_bytes;
        let is_small = size_bytes < block_bytes as u64;
        if !is_small {
            current
                .digest
                .add(&piece.bytes, &piece.digests, block_bytes);
        }
        let treatment = current.begun.treatment;
        let piece = self.with_zeros(piece, treatment);
        if !is_last {
            self.blocks(&mut current, piece, 0);
            self.current = Some(current);
            return;
        }
        let digest = if is_small {
            // An empty file has no block, and nothing is looked up by its digest.
            piece.digests.first().copied().unwrap_or(ZEROS)
        } else {
            current.digest.finish(size_bytes)
        };
        if size_bytes > PIECE_BYTES as u64 && self.options.dedup && !treatment.not_shared {
            self.large.insert(size_bytes, digest);
        }
        let inline = self.inline_tail(&current, &piece.bytes);
        let stored = self.store(
            &mut current,
            piece,
            digest,
            inline.as_ref().map(Block::bytes),
        );
        let begun = current.begun;
        // What is stored with an inode is not found again.
        if let Some(id) = begun.id.filter(|_| inline.is_none()) {
            let content = match stored {
                Stored::Here { .. } => Content::Blocks(self.stored - 1),
                Stored::There(content) => content,
            };
            self.contents.insert(id, (content, size_bytes));
        }
        let entry = (!begun.is_nameless).then_some(begun.entry);
        self.file(entry, stored, inline);
    }

    fn file(&mut self, entry: Option<Entry>, stored: Stored, inline: Option<Block>) {
        let bytes = inline.as_ref().map_or(0, |inline| inline.bytes().len());
        self.push(
            bytes,
            Event::File {
                entry,
                stored,
                inline,
            },
        );
    }

    /// Stores the last piece of a file with this digest, or finds the same content. `inline` is the
    /// tail that is stored with the inode.
    fn store(
        &mut self,
        current: &mut Current,
        piece: Piece,
        mut digest: Digest,
        inline: Option<&[u8]>,
    ) -> Stored {
        let size_bytes = current.begun.entry.size_bytes;
        let treatment = current.begun.treatment;
        if size_bytes == 0 {
            return Stored::There(Content::Empty);
        }
        let is_small = size_bytes < self.options.block_bytes as u64;
        if inline.is_some() {
            if is_small {
                return Stored::There(Content::Empty);
            }
            // The blocks of the same content without an inline tail are others.
            let [first, ..] = &mut digest;
            *first = !*first;
        }
        let tail = self.tail_of(&piece.bytes, is_small, treatment);
        if let Some(tail) = tail.filter(|_| is_small) {
            let tail = self.add_tail(tail, digest, treatment);
            return Stored::There(Content::Tail(tail));
        }
        let is_shared = self.options.dedup && !treatment.not_shared;
        if is_shared {
            if let Some(number) = self.files.get(&digest) {
                self.runs.take_back(current.first);
                return Stored::There(Content::Blocks(*number));
            }
            self.files.insert(digest, self.stored);
        }
        self.stored += 1;
        let tail = tail.map(<[u8]>::to_vec);
        let tail_digest = piece.digests.last().copied();
        let rest = tail.as_deref().or(inline).map_or(0, <[u8]>::len);
        // The blocks of a file must be contiguous, so a fragment block comes after them.
        self.last_blocks(current, piece, rest, is_shared);
        let tail = tail.map(|tail| {
            let digest = tail_digest.expect("a tail has a digest");
            self.add_tail(&tail, digest, treatment)
        });
        Stored::Here { tail }
    }

    /// Stores the blocks of the last piece of a file, without its last `rest` bytes. If all blocks
    /// of the file are stored elsewhere as a run, that run is used instead.
    fn last_blocks(&mut self, current: &mut Current, piece: Piece, rest: usize, is_shared: bool) {
        let (first, treatment) = (current.first, current.begun.treatment);
        let is_whole = self.runs.next() == first && !current.shares_blocks;
        if is_shared && is_whole {
            let blocks: Vec<(usize, Option<Digest>)> =
                self.planned(&piece, rest, treatment).collect();
            let run: Vec<Digest> = blocks.iter().filter_map(|(_, digest)| *digest).collect();
            if let Some(first) = self.runs.find(&run) {
                for (bytes, digest) in blocks {
                    let bytes = bytes as u64;
                    self.push(
                        0,
                        match digest {
                            Some(_) => Event::Elsewhere,
                            None => Event::Holes { blocks: 1, bytes },
                        },
                    );
                }
                return self.push(0, Event::Run { first });
            }
        }
        self.blocks(current, piece, rest);
        let may_be_run =
            is_shared && current.may_be_run && !current.shares_blocks && self.runs.next() > first;
        if let Some(run) = self.runs.find_last(first).filter(|_| may_be_run) {
            self.runs.take_back(first);
            self.push(0, Event::Run { first: run });
        }
        self.runs.settle();
    }

    /// The blocks of a piece without its last `rest` bytes: their lengths, and their digests unless
    /// they are holes. [`Bytes::Zeros`] has none.
    fn planned<'p>(
        &self,
        piece: &'p Piece,
        rest: usize,
        treatment: Treatment,
    ) -> impl Iterator<Item = (usize, Option<Digest>)> + 'p {
        let content: &[u8] = match &piece.bytes {
            Bytes::Data(content) => content,
            Bytes::Zeros(_) => &[],
        };
        let end = content.len().saturating_sub(rest);
        let (blocks, _) = content.split_at(end);
        let block_bytes = self.options.block_bytes;
        let blocks = blocks.chunks(block_bytes).zip(&piece.digests);
        blocks.map(move |(block, digest)| {
            let is_short = block.len() < block_bytes;
            let is_zeros = *digest == ZEROS || is_short && is_zero(block);
            let is_hole = is_zeros && !treatment.not_sparse;
            (block.len(), (!is_hole).then_some(*digest))
        })
    }

    /// The part of a file's last piece that is stored with its inode.
    fn inline_tail(&self, current: &Current, bytes: &Bytes) -> Option<Block> {
        let begun = &current.begun;
        // The content of a larger file is not read again if it is known.
        let is_read = begun.entry.size_bytes <= PIECE_BYTES as u64 && !begun.is_nameless;
        let Bytes::Data(content) = bytes else {
            return None;
        };
        let start = content.len() - content.len() % self.options.block_bytes;
        let tail = content.get(start..)?;
        let fits = !tail.is_empty() && tail.len() <= self.options.inline_bytes;
        // A source that knows holes gives none of a file that is one hole.
        let is_hole = || !begun.treatment.not_sparse && is_zero(content);
        (is_read && fits && !is_hole()).then(|| Block::copied(tail, self.buffers))
    }

    /// The part of a file's last piece that goes into a fragment block.
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
            self.fragment(fragment);
        }
        place
    }

    /// Replaces zeros by data if holes are to be stored, so that it makes no difference whether the
    /// source reports holes.
    fn with_zeros(&self, piece: Piece, treatment: Treatment) -> Piece {
        let Bytes::Zeros(count) = piece.bytes else {
            return piece;
        };
        if !treatment.not_sparse {
            return piece;
        }
        // Such a piece is not joined, so it is no larger than others.
        let mut zeros = self.buffers.take((count as usize).min(PIECE_BYTES));
        zeros.fill(0);
        let mut digests = vec![ZEROS; zeros.len() / self.options.block_bytes];
        digests.extend(piece.digests);
        Piece {
            bytes: Bytes::Data(zeros),
            digests,
        }
    }

    /// Stores the blocks of a piece without its last `rest` bytes.
    fn blocks(&mut self, current: &mut Current, piece: Piece, rest: usize) {
        let treatment = current.begun.treatment;
        if let Bytes::Zeros(bytes) = piece.bytes {
            let blocks = bytes.div_ceil(self.options.block_bytes as u64);
            return self.push(0, Event::Holes { blocks, bytes });
        }
        let blocks: Vec<_> = self.planned(&piece, rest, treatment).collect();
        let Bytes::Data(content) = piece.bytes else {
            return;
        };
        let content = Arc::new(content);
        let known = self.known_blocks(&blocks, treatment);
        let mut start = 0;
        for ((bytes, digest), known) in blocks.into_iter().zip(known) {
            let range = start..start + bytes;
            start = range.end;
            if let Some(number) = known {
                current.shares_blocks = true;
                self.push(0, Event::Known { number });
                continue;
            }
            let Some(digest) = digest else {
                let bytes = bytes as u64;
                self.push(0, Event::Holes { blocks: 1, bytes });
                continue;
            };
            let is_shared = self.options.dedup && !treatment.not_shared;
            current.may_be_run &= is_shared && self.runs.has(&digest);
            self.runs.push(is_shared.then_some(digest));
            let block = Block {
                content: content.clone(),
                range,
                uncompressed: treatment.uncompressed,
                digest: Some(digest),
            };
            self.push(bytes, Event::Block(block));
        }
    }

    /// The numbers of the stored blocks that blocks of a file are the same as, if they are shared.
    fn known_blocks(
        &self,
        blocks: &[(usize, Option<Digest>)],
        treatment: Treatment,
    ) -> Vec<Option<u32>> {
        let mut known = vec![None; blocks.len()];
        let least = self.options.shared_blocks;
        if least == 0 || !self.options.dedup || treatment.not_shared {
            return known;
        }
        let mut last: Option<u32> = None;
        for ((_, digest), known) in blocks.iter().zip(&mut known) {
            let expected = last.map(|last| last + 1);
            last = digest.and_then(|digest| self.runs.find_block(&digest, expected));
            *known = last;
        }
        let follows =
            |a: &Option<u32>, b: &Option<u32>| a.is_some_and(|a| b.is_some_and(|b| b == a + 1));
        for stretch in known.chunk_by_mut(follows) {
            if stretch.len() < least {
                stretch.fill(None);
            }
        }
        known
    }

    /// Stores a fragment block. It has a number among the blocks, but is never part of a run.
    fn fragment(&mut self, fragment: Buffer) {
        self.runs.push(None);
        self.runs.settle();
        self.push(fragment.len(), Event::Fragment(Block::whole(fragment)));
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
                        self.fragment(fragment);
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
        gathered_bytes: 0,
    }
}
