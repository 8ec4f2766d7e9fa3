use super::queue::Queue;
use super::Walk;
use crate::commits::CommitIndex;
use crate::request::Order;
use std::collections::{HashMap, VecDeque};

/// Commits whose children were all returned.
enum Ready {
    /// Last in, first out: a line of history is followed to its end.
    Last(Vec<CommitIndex>),
    Newest(Queue),
}

impl Walk<'_> {
    /// The commits of `list` with no parent before its children. `tips` gives the order of those
    /// without children, if not `list` itself; the list then comes from a limit by generations.
    pub(super) fn in_topological_order(
        &self,
        list: &VecDeque<CommitIndex>,
        tips: Option<&VecDeque<CommitIndex>>,
    ) -> VecDeque<CommitIndex> {
        let follows = |commit: CommitIndex| {
            let parents = self.commits.parents(commit);
            if tips.is_some() && self.request.first_parent {
                parents.get(..1).unwrap_or(parents)
            } else {
                parents
            }
        };
        let mut children: HashMap<CommitIndex, u32> = list.iter().map(|at| (*at, 0)).collect();
        for parent in list.iter().flat_map(|commit| follows(*commit)) {
            if let Some(count) = children.get_mut(parent) {
                *count += 1;
            }
        }
        let mut ready = match self.request.order {
            Order::Date => Ready::Newest(Queue::default()),
            Order::Met | Order::Topological => Ready::Last(Vec::new()),
        };
        for tip in tips.unwrap_or(list) {
            if children.get(tip) == Some(&0) {
                self.put(&mut ready, *tip);
            }
        }
        // The last one is taken first.
        if let Ready::Last(tips) = &mut ready {
            tips.reverse();
        }
        let mut ordered = VecDeque::with_capacity(list.len());
        while let Some(commit) = ready.take() {
            for parent in follows(commit) {
                if let Some(count) = children.get_mut(parent).filter(|count| **count > 0) {
                    *count -= 1;
                    if *count == 0 {
                        self.put(&mut ready, *parent);
                    }
                }
            }
            ordered.push_back(commit);
        }
        ordered
    }

    fn put(&self, ready: &mut Ready, commit: CommitIndex) {
        match ready {
            Ready::Last(commits) => commits.push(commit),
            Ready::Newest(queue) => queue.push(self.commits.node(commit).seconds, commit),
        }
    }
}

impl Ready {
    fn take(&mut self) -> Option<CommitIndex> {
        match self {
            Ready::Last(commits) => commits.pop(),
            Ready::Newest(queue) => queue.pop(),
        }
    }
}
