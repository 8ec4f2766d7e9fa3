//! What a commit-graph tells of a commit.

use crate::format::big_endian::u32_at;
use gix_hash::oid;

/// In the place of a parent: there is none.
pub(super) const NO_PARENT: u32 = 0x7000_0000;
/// In the place of the second parent: the other bits are where a list of further parents starts.
/// In that list: this is the last one.
pub(super) const MARK: u32 = 1 << 31;

/// What a commit-graph knows of a commit, but for its parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphCommit<'g> {
    /// Its tree.
    pub tree: &'g oid,
    /// When it was committed, in seconds since the epoch.
    pub seconds: u64,
    /// One more than the largest of its parents'; 1 without parents; 0 if it was not computed.
    pub level: u32,
}

/// The positions of a commit's parents: see [`super::CommitGraph::parents`].
#[derive(Clone, Debug)]
pub struct Parents<'g> {
    pub(super) first: Option<u32>,
    pub(super) second: Option<u32>,
    /// The list of the parents but the first, if there are more than two, from the next one on.
    pub(super) further: Option<&'g [u8]>,
    /// Positions are below this.
    pub(super) count: u32,
}

impl Iterator for Parents<'_> {
    type Item = Option<u32>;

    fn next(&mut self) -> Option<Option<u32>> {
        let found = match (self.first.take(), self.second.take()) {
            (Some(first), second) => {
                self.second = second;
                first
            }
            (None, Some(second)) => second,
            (None, None) => self.listed()?,
        };
        if found < self.count {
            return Some(Some(found));
        }
        *self = Parents {
            first: None,
            second: None,
            further: None,
            count: 0,
        };
        Some(None)
    }
}

impl Parents<'_> {
    /// The next of the list; a position that cannot be if the list ends without a mark.
    fn listed(&mut self) -> Option<u32> {
        let list = self.further?;
        let Some(found) = u32_at(list, 0) else {
            return Some(u32::MAX);
        };
        self.further = match found & MARK {
            0 => list.get(4..),
            _ => None,
        };
        Some(found & !MARK)
    }
}
