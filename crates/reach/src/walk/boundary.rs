use super::Walk;
use crate::commits::{flag, CommitIndex};

impl Walk<'_> {
    /// Records the parents of `commit`, which was returned: those that are not returned themselves
    /// are the boundary of the walk.
    pub(super) fn note_boundary(&mut self, commit: CommitIndex) {
        let mut at = 0;
        while let Some(parent) = self.commits.parent(commit, at) {
            at += 1;
            let node = self.commits.node_mut(parent);
            if node.flags & (flag::CHILD_SHOWN | flag::SHOWN) == 0 {
                node.flags |= flag::CHILD_SHOWN;
                self.boundary.push(parent);
            }
        }
    }

    pub(super) fn make_boundary_list(&mut self) {
        let mut list = std::collections::VecDeque::new();
        for commit in std::mem::take(&mut self.boundary) {
            let node = self.commits.node_mut(commit);
            if node.flags & (flag::SHOWN | flag::BOUNDARY) == 0 {
                node.flags |= flag::BOUNDARY;
                list.push_front(commit);
            }
        }
        self.list = self.in_topological_order(&list, None);
    }

    pub(super) fn next_boundary(&mut self) -> Option<CommitIndex> {
        let commit = self.list.pop_front()?;
        self.commits.node_mut(commit).flags |= flag::SHOWN;
        Some(commit)
    }
}
