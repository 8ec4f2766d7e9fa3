use super::Walk;
use crate::commits::{flag, CommitIndex, State};
use crate::request::Missing;
use crate::Result;

impl Walk<'_> {
    /// Queues the parents of `commit` that were not seen yet.
    pub(super) fn queue_parents(&mut self, commit: CommitIndex) -> Result<()> {
        self.reach_parents(commit, &mut |walk, parent| {
            let seconds = walk.commits.node(parent).seconds;
            walk.queue.push(seconds, parent);
        })
    }

    /// Reads the parents of `commit` and passes its flags on to them; `meet` is called for those
    /// met for the first time.
    pub(super) fn reach_parents(
        &mut self,
        commit: CommitIndex,
        meet: &mut dyn FnMut(&mut Self, CommitIndex),
    ) -> Result<()> {
        let node = self.commits.node_mut(commit);
        if node.flags & flag::ADDED != 0 || node.state == State::Missing {
            return Ok(());
        }
        node.flags |= flag::ADDED;
        let is_uninteresting = node.flags & flag::UNINTERESTING != 0;
        let passed = node.flags & flag::LEFT;
        let mut at = 0;
        while let Some(parent) = self.commits.parent(commit, at) {
            at += 1;
            if is_uninteresting {
                self.commits.node_mut(parent).flags |= flag::UNINTERESTING;
                // Excluded commits may be missing.
                if !matches!(self.commits.load(parent), Ok(true)) {
                    continue;
                }
                self.mark_parents_uninteresting(parent);
            } else {
                if !self.commits.load(parent)? && !self.may_be_missing(commit, parent)? {
                    if self.request.first_parent {
                        break;
                    }
                    continue;
                }
                self.commits.node_mut(parent).flags |= passed;
            }
            let node = self.commits.node_mut(parent);
            if node.flags & flag::SEEN == 0 {
                node.flags |= flag::SEEN | flag::REACHED;
                meet(self, parent);
            }
            if self.request.first_parent && !is_uninteresting {
                break;
            }
        }
        Ok(())
    }

    /// Whether the walk continues despite the missing `parent`, which may be reported later.
    fn may_be_missing(&mut self, commit: CommitIndex, parent: CommitIndex) -> Result<bool> {
        let id = self.commits.id(parent);
        if self.is_promised(&id) {
            return Ok(false);
        }
        match self.request.missing {
            Missing::Error | Missing::AllowPromised => Err(self.broken_at(commit)),
            Missing::Allow | Missing::Collect => Ok(true),
        }
    }

    /// Marks all ancestors of `commit` that were read as uninteresting.
    pub(super) fn mark_parents_uninteresting(&mut self, commit: CommitIndex) {
        let mut pending: Vec<CommitIndex> = self.commits.parents(commit).to_vec();
        while let Some(commit) = pending.pop() {
            let node = self.commits.node_mut(commit);
            if node.flags & flag::UNINTERESTING == 0 {
                node.flags |= flag::UNINTERESTING;
                pending.extend_from_slice(self.commits.parents(commit));
            }
        }
    }
}
