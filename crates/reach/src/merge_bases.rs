//! Merge bases of two commits.

use crate::commits::{CommitIndex, Commits};
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTH: u8 = LEFT | RIGHT;
/// It is an ancestor of a merge base that was found.
const STALE: u8 = 4;

/// The merge bases of `left` and `right`: common ancestors that are not ancestors of others. If
/// commit dates are wrong, some ancestors of merge bases may be included.
pub fn merge_bases(source: Source<'_>, left: &ObjectId, right: &ObjectId) -> Result<Vec<ObjectId>> {
    let mut search = Search {
        commits: Commits::new(source),
        marks: HashMap::new(),
        queue: BinaryHeap::new(),
        fresh: 0,
    };
    for (id, side) in [(left, LEFT), (right, RIGHT)] {
        let commit = search.commits.index(id);
        search.add(commit, side)?;
    }
    let mut found = Vec::new();
    while search.fresh > 0 {
        let Some((_, _, commit)) = search.queue.pop() else {
            break;
        };
        let mut marks = search.leave(commit);
        if marks & (BOTH | STALE) == BOTH {
            found.push(commit);
            marks |= STALE;
        }
        let mut at = 0;
        while let Some(parent) = search.commits.parent(commit, at) {
            at += 1;
            search.add(parent, marks)?;
        }
    }
    let mark = |commit: &CommitIndex| search.marks.get(commit).map_or(0, |known| known.0);
    found.retain(|commit| mark(commit) & STALE == 0);
    Ok(found
        .iter()
        .map(|commit| search.commits.id(*commit))
        .collect())
}

struct Search<'s> {
    commits: Commits<'s>,
    /// The marks of each commit, and whether it is queued.
    marks: HashMap<CommitIndex, (u8, bool)>,
    queue: BinaryHeap<(u64, Reverse<CommitIndex>, CommitIndex)>,
    /// Number of queued commits that are not stale.
    fresh: usize,
}

impl Search<'_> {
    fn add(&mut self, commit: CommitIndex, marks: u8) -> Result<()> {
        let (before, waits) = self.marks.get(&commit).copied().unwrap_or_default();
        if before & marks == marks {
            return Ok(());
        }
        if !self.commits.load(commit)? {
            let id = self.commits.id(commit);
            return Err(Error::Missing { kind: "commit", id });
        }
        let after = before | marks;
        self.fresh -= usize::from(waits && before & STALE == 0);
        self.fresh += usize::from(after & STALE == 0);
        self.marks.insert(commit, (after, true));
        if !waits {
            let seconds = self.commits.node(commit).seconds;
            self.queue.push((seconds, Reverse(commit), commit));
        }
        Ok(())
    }

    /// Records that `commit` is no longer queued; returns its marks.
    fn leave(&mut self, commit: CommitIndex) -> u8 {
        let noted = self.marks.get_mut(&commit);
        let (marks, waits) = noted.expect("a commit waits only with marks");
        *waits = false;
        self.fresh -= usize::from(*marks & STALE == 0);
        *marks
    }
}
