use crate::selection::Judgement;
use hedgerow_fs::{FileKind, Listing, Stat};
use std::ops::Range;
use std::sync::Arc;

/// Number of entries statted by one worker at a time.
pub(super) const CHUNK: usize = 64;

/// Stats of entries, in canonical order; `None` if not available.
pub(super) type States = Arc<[Option<Stat>]>;

/// A listed directory: its relevant entries, in canonical order.
#[derive(Debug)]
pub(super) struct Node {
    /// Its number, by which others refer to it.
    pub(super) id: u64,
    listing: Listing,
    items: Vec<Item>,
    /// Whether its entries are statted and reported in chunks.
    pub(super) in_chunks: bool,
}

/// An entry: its number in the listing, with the decision about it in the upper bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item(u32);

const LISTED: u32 = 1 << 31;
const ENTERED: u32 = 1 << 30;
/// Maximum number of entries; a directory with at most 4 GiB of names is far below it.
const ENTRIES_LIMIT: u32 = 1 << 30;

impl Item {
    /// `None` for an irrelevant entry.
    pub(super) fn new(entry: u32, judgement: Judgement) -> Option<Self> {
        let listed = if judgement.listed { LISTED } else { 0 };
        let entered = if judgement.entered { ENTERED } else { 0 };
        let flags = listed | entered;
        (flags != 0 && entry < ENTRIES_LIMIT).then_some(Item(entry | flags))
    }

    pub(super) fn entry(self) -> u32 {
        self.0 & !(LISTED | ENTERED)
    }

    pub(super) fn is_listed(self) -> bool {
        self.0 & LISTED != 0
    }

    pub(super) fn is_entered(self) -> bool {
        self.0 & ENTERED != 0
    }
}

impl Node {
    /// Sorts `items`.
    pub(super) fn new(id: u64, listing: Listing, mut items: Vec<Item>, in_chunks: bool) -> Self {
        items.sort_unstable_by_key(|item| listing.name_of(item.entry()));
        Node {
            id,
            listing,
            items,
            in_chunks,
        }
    }

    /// Its relevant entries, in canonical order.
    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    pub(super) fn name(&self, item: Item) -> &[u8] {
        self.listing.name_of(item.entry())
    }

    pub(super) fn kind(&self, item: Item) -> Option<FileKind> {
        let entry = self.listing.entries().get(item.entry() as usize);
        entry.and_then(|entry| entry.kind)
    }

    /// Reorders stats from the order of the listing to canonical order.
    pub(super) fn in_order(&self, states: &[Option<Stat>]) -> States {
        let state = |item: &Item| states.get(item.entry() as usize).copied().flatten();
        self.items.iter().map(state).collect()
    }

    /// The positions of a chunk's entries in [`Node::items`].
    pub(super) fn chunk(&self, number: usize) -> Range<usize> {
        let start = (number * CHUNK).min(self.items.len());
        start..(start + CHUNK).min(self.items.len())
    }

    pub(super) fn chunks(&self) -> usize {
        if self.in_chunks {
            self.items.len().div_ceil(CHUNK)
        } else {
            0
        }
    }

    /// The position of the first directory to enter, from `start` on.
    pub(super) fn next_entered(&self, start: usize) -> Option<usize> {
        self.next_entered_before(start, self.items.len())
    }

    /// The position of the first directory to enter from `start` on, if it is before `end`.
    pub(super) fn next_entered_before(&self, start: usize, end: usize) -> Option<usize> {
        let span = self.items.get(start..end)?;
        let next = span.iter().position(|item| item.is_entered())?;
        Some(start + next)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let items = self.items.capacity() * size_of::<Item>();
        self.listing.memory_bytes() + items + size_of::<Node>()
    }
}

/// Memory taken by stats, in bytes.
pub(super) fn states_bytes(states: &States) -> usize {
    size_of_val::<[_]>(states)
}
