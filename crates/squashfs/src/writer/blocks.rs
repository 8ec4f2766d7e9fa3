//! The block list of a file's inode.

use crate::format::SizeWord;

/// Set in an element that stands for several holes; no size word has this bit.
const HOLES: u32 = 1 << 31;

/// The size words of a file's blocks. Consecutive holes, of which a file can have millions, take
/// one element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockList(Vec<u32>);

/// An element of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Block(SizeWord),
    /// This many holes.
    Holes(u32),
}

impl BlockList {
    pub(super) fn push(&mut self, word: SizeWord) {
        debug_assert!(word.0 & HOLES == 0);
        self.0.push(word.0);
    }

    pub(super) fn push_holes(&mut self, mut count: u64) {
        if let Some(last) = self.0.last_mut().filter(|last| **last & HOLES != 0) {
            count += u64::from(*last & !HOLES);
            self.0.pop();
        }
        while count > 0 {
            let part = count.min(u64::from(!HOLES));
            self.0.push(part as u32 | HOLES);
            count -= part;
        }
    }

    /// Replaces the size words of the blocks that are not holes by `words`, in order.
    pub(super) fn replace(&mut self, mut words: impl Iterator<Item = SizeWord>) {
        for entry in self.0.iter_mut().filter(|entry| **entry & HOLES == 0) {
            if let Some(word) = words.next() {
                *entry = word.0;
            }
        }
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.0.iter().map(|entry| match entry & HOLES {
            0 => Run::Block(SizeWord(*entry)),
            _ => Run::Holes(entry & !HOLES),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_counted_and_blocks_replaced() {
        let mut list = BlockList::default();
        list.push_holes(3);
        list.push_holes(4);
        list.push(SizeWord(5));
        list.push_holes(5 << 31);
        list.push(SizeWord(6));
        list.replace([SizeWord(7), SizeWord(8)].into_iter());
        let runs: Vec<Run> = list.runs().collect();
        assert_eq!(runs[..2], [Run::Holes(7), Run::Block(SizeWord(7))]);
        let holes = |run: &Run| match run {
            Run::Holes(count) => u64::from(*count),
            Run::Block(_) => 0,
        };
        assert_eq!(runs.iter().map(holes).sum::<u64>(), 7 + (5 << 31));
        assert_eq!(runs.last(), Some(&Run::Block(SizeWord(8))));
    }
}
