use crate::commits::CommitIndex;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Queued commits, newest first; in the same second, first in, first out.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<(u64, Reverse<u64>, CommitIndex)>,
    count: u64,
}

impl Queue {
    pub fn push(&mut self, seconds: u64, commit: CommitIndex) {
        self.heap.push((seconds, Reverse(self.count), commit));
        self.count += 1;
    }

    pub fn pop(&mut self) -> Option<CommitIndex> {
        self.heap.pop().map(|(_, _, commit)| commit)
    }

    /// The date of the next commit.
    pub fn next_seconds(&self) -> Option<u64> {
        self.heap.peek().map(|(seconds, _, _)| *seconds)
    }

    /// The queued commits, in no order.
    pub fn iter(&self) -> impl Iterator<Item = CommitIndex> + '_ {
        self.heap.iter().map(|(_, _, commit)| *commit)
    }
}
