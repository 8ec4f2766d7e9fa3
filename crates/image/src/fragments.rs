//! Fragment blocks, which hold the tails of several files.

use crate::buffers::{Buffer, Buffers};
use crate::digest::Digest;
use crate::plan::PlanOptions;
use std::collections::HashMap;

/// One in this many tails, selected by its digest, ends its fragment block. So after an added or
/// removed tail, later blocks are soon the same as before, and can be reused.
const TAILS_PER_CUT: u32 = 256;

/// The place of a tail in a fragment block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tail {
    /// The number of the fragment block.
    pub fragment: u32,
    /// Where it is in that, in bytes.
    pub offset: u32,
}

/// Which parts of files are stored in fragment blocks, together with parts of other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentPolicy {
    /// None.
    Never,
    /// Files smaller than a block.
    SmallFiles,
    /// The tail of every file: the bytes after its last full block.
    Always,
}

/// Fills fragment blocks.
pub struct Fragments<'b> {
    block_bytes: usize,
    unit_bytes: usize,
    dedup: bool,
    tails: HashMap<Digest, Tail>,
    /// The block being filled; `number` is its number.
    current: Option<Buffer>,
    /// Number of bytes filled in `current`.
    filled: usize,
    number: u32,
    buffers: &'b Buffers,
}

impl<'b> Fragments<'b> {
    /// No fragment blocks yet.
    pub fn new(options: &PlanOptions, buffers: &'b Buffers) -> Self {
        Fragments {
            block_bytes: options.block_bytes,
            unit_bytes: options.fragment_unit_bytes,
            dedup: options.dedup,
            tails: HashMap::new(),
            current: None,
            filled: 0,
            number: 0,
            buffers,
        }
    }

    /// Adds a tail. Returns its place and the blocks that are complete: the block before it, and
    /// the block that it ends. A tail without a digest is not shared.
    pub fn add(&mut self, tail: &[u8], digest: Option<Digest>) -> (Tail, [Option<Buffer>; 2]) {
        let digest = digest.filter(|_| self.dedup);
        if let Some(known) = digest.and_then(|digest| self.tails.get(&digest)) {
            return (*known, [None, None]);
        }
        let mut before = None;
        if self.filled + tail.len() > self.block_bytes {
            before = self.finish();
        }
        let place = Tail {
            fragment: self.number,
            offset: self.filled as u32,
        };
        let (buffers, block_bytes) = (self.buffers, self.block_bytes);
        let block = self
            .current
            .get_or_insert_with(|| buffers.take(block_bytes));
        let end = self.filled + tail.len();
        if let Some(room) = block.get_mut(self.filled..end) {
            room.copy_from_slice(tail);
        }
        self.filled = end;
        let mut is_cut = false;
        if let Some(digest) = digest {
            self.tails.insert(digest, place);
            let [word, ..] = digest;
            is_cut = word.is_multiple_of(TAILS_PER_CUT);
        }
        // A minimum size, because otherwise many such tails could get a block each.
        let is_worth_it = self.filled >= self.block_bytes / 4;
        let after = if is_cut && is_worth_it {
            self.finish()
        } else {
            None
        };
        (place, [before, after])
    }

    /// Ends the current block and returns it, if it is not empty.
    pub fn finish(&mut self) -> Option<Buffer> {
        let mut block = self.current.take()?;
        let end = self.filled.next_multiple_of(self.unit_bytes);
        if let Some(padding) = block.get_mut(self.filled..end) {
            padding.fill(0);
        }
        block.truncate(end);
        self.filled = 0;
        self.number += 1;
        Some(block)
    }
}
