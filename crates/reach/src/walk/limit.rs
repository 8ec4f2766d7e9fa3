//! Limits the list of a walk to wanted commits.

use super::Walk;
use crate::commits::{flag, CommitIndex};
use crate::Result;
use std::collections::{BinaryHeap, VecDeque};

/// Number of commits that are still examined after all queued ones are uninteresting: a wrong clock
/// may have put a parent before its child.
const SLOP: u32 = 5;

impl Walk<'_> {
    /// Replaces the list of tips by all wanted commits, newest first.
    pub(super) fn limit(&mut self) -> Result<()> {
        let mut kept = VecDeque::new();
        let mut slop = SLOP;
        let mut last = u64::MAX;
        // A queued commit that is known to be wanted: it spares `slop_left` a search of the queue.
        let mut known_interesting = None;
        for commit in std::mem::take(&mut self.list) {
            self.queue.push(self.commits.node(commit).seconds, commit);
        }
        while let Some(commit) = self.queue.pop() {
            if known_interesting == Some(commit) {
                known_interesting = None;
            }
            let seconds = self.commits.node(commit).seconds;
            if self.request.not_before.is_some_and(|limit| seconds < limit) {
                self.commits.node_mut(commit).flags |= flag::UNINTERESTING;
            }
            self.queue_parents(commit)?;
            if self.commits.has(commit, flag::UNINTERESTING) {
                self.mark_parents_uninteresting(commit);
                slop = self.slop_left(last, slop, &mut known_interesting);
                if slop == 0 {
                    break;
                }
                continue;
            }
            if self.request.not_after.is_some_and(|limit| seconds > limit) {
                continue;
            }
            last = seconds;
            kept.push_back(commit);
        }
        self.queue = super::Queue::default();
        self.list = kept;
        Ok(())
    }

    /// How many more uninteresting commits to examine; 0 ends the walk. `last` is the date of the
    /// last commit that was kept.
    fn slop_left(&self, last: u64, slop: u32, known: &mut Option<CommitIndex>) -> u32 {
        let Some(next) = self.queue.next_seconds() else {
            return 0;
        };
        if last <= next {
            return SLOP;
        }
        let is_wanted = |commit: &CommitIndex| !self.commits.has(*commit, flag::UNINTERESTING);
        if known.as_ref().is_some_and(is_wanted) {
            return SLOP;
        }
        match self.queue.iter().find(is_wanted) {
            Some(wanted) => {
                *known = Some(wanted);
                SLOP
            }
            None => slop - 1,
        }
    }

    /// The same by generation numbers, which do not depend on clocks, and in topological order. A
    /// commit is examined after all its descendants.
    ///
    /// Edges are those of the tips alone, as known after all commits with generations of the tips
    /// were examined. That is what git does, which then returns more objects than necessary.
    pub(super) fn limit_by_generation(&mut self) -> Result<()> {
        let tips = self.list.clone();
        let mut queue = BinaryHeap::new();
        for tip in &tips {
            queue.push((self.commits.generation(*tip), *tip));
        }
        let is_wanted = |walk: &Self, at: CommitIndex| !walk.commits.has(at, flag::UNINTERESTING);
        let lowest = tips.iter().map(|tip| self.commits.generation(*tip).0).min();
        let mut has_edges = false;
        let mut known = None;
        let mut kept = VecDeque::new();
        while let Some((generation, commit)) = queue.pop() {
            if !has_edges && Some(generation.0) < lowest {
                has_edges = true;
                self.mark_edges(&tips)?;
            }
            let seconds = self.commits.node(commit).seconds;
            if self.request.not_before.is_some_and(|limit| seconds < limit) {
                self.commits.node_mut(commit).flags |= flag::UNINTERESTING;
            }
            let mut met = Vec::new();
            self.reach_parents(commit, &mut |_, parent| met.push(parent))?;
            for parent in met {
                queue.push((self.commits.generation(parent), parent));
            }
            if is_wanted(self, commit) {
                kept.push_back(commit);
                continue;
            }
            self.mark_parents_uninteresting(commit);
            let waits = |known: &CommitIndex| is_wanted(self, *known);
            // A commit that was kept meanwhile is no longer queued.
            if known.is_none_or(|known| kept.back() == Some(&known) || !waits(&known)) {
                known = queue.iter().map(|(_, commit)| *commit).find(waits);
            }
            if known.is_none() {
                break;
            }
        }
        if !has_edges {
            self.mark_edges(&tips)?;
        }
        kept.retain(|commit| is_wanted(self, *commit));
        self.list = self.in_topological_order(&kept, Some(&tips));
        Ok(())
    }
}
