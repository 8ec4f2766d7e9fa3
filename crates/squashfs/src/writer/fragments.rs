//! Fragment blocks: what does not fill a block goes together with others of its kind.

use super::digest::Digest;
use crate::buffers::{Buffer, Buffers};
use crate::format::NO_FRAGMENT;
use std::collections::HashMap;

/// One tail of so many ends its fragment block, by its digest. So the blocks behind an added or
/// removed tail are soon the same again, and [`reuse`](super::reuse) finds them.
const TAILS_PER_CUT: u32 = 256;

/// A part of a fragment block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// The fragment blocks as they fill.
pub(super) struct Fragments<'b> {
    block_bytes: usize,
    dedup: bool,
    tails: HashMap<Digest, Tail>,
    /// The block that is being filled, and its number.
    current: Option<Buffer>,
    /// How many bytes of it are filled.
    filled: usize,
    number: u32,
    buffers: &'b Buffers,
}

impl<'b> Fragments<'b> {
    pub(super) fn new(block_bytes: usize, dedup: bool, buffers: &'b Buffers) -> Self {
        Fragments {
            block_bytes,
            dedup,
            tails: HashMap::new(),
            current: None,
            filled: 0,
            number: 0,
            buffers,
        }
    }

    /// Where a tail is, and the blocks that are full: the one before it, and the one that it ends.
    /// Without a digest, it is not shared with others.
    pub(super) fn add(
        &mut self,
        tail: &[u8],
        digest: Option<Digest>,
    ) -> (Tail, [Option<Buffer>; 2]) {
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
        // Many equal tails must not get a block each.
        let is_worth_it = self.filled >= self.block_bytes / 4;
        let after = if is_cut && is_worth_it {
            self.finish()
        } else {
            None
        };
        (place, [before, after])
    }

    /// The block that is being filled, if there is something in it.
    pub(super) fn finish(&mut self) -> Option<Buffer> {
        let mut block = self.current.take()?;
        block.truncate(self.filled);
        self.filled = 0;
        self.number += 1;
        Some(block)
    }
}
