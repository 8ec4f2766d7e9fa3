use super::queue::Queue;
use super::Walk;
use crate::commits::CommitIndex;
use crate::request::{Missing, Objects, Order};
use crate::Result;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// A walk in topological order that reads no more of the history than what was asked for needs. All
/// commits have larger generations than their parents: when those of at least a commit's own generation
/// were read, all its children were.
#[derive(Debug)]
pub(super) struct Advance {
    /// Commits that were met and whose parents were not, with their generations.
    unread: BinaryHeap<((u64, u64), CommitIndex)>,
    /// By number, how many children of each commit were met and not returned.
    children: Vec<u32>,
    ready: Ready,
}

/// Commits whose children were all returned.
#[derive(Debug)]
enum Ready {
    /// Last in, first out: a line of history is followed to its end.
    Last(Vec<CommitIndex>),
    Newest(Queue),
}

impl Walk<'_> {
    /// Whether few enough commits are wanted, of those with generations, and each that is met is wanted.
    pub(super) fn can_advance(&self) -> bool {
        let request = &self.request;
        let most = request
            .max_count
            .map(|count| count.saturating_add(request.skip));
        let marks_commits = request.not_before.is_some() || request.exclude_promised;
        most.is_some_and(|most| most < self.commits.count_in_graph())
            && request.objects == Objects::None
            && request.missing == Missing::Error
            && !marks_commits
            && !request.filter_tips
            && !request.boundary
    }

    /// Starts a walk in topological order from the list of tips.
    pub(super) fn start_advance(&mut self) -> Result<Advance> {
        let tips = std::mem::take(&mut self.list);
        let mut advance = Advance {
            unread: BinaryHeap::new(),
            children: Vec::new(),
            ready: self.none_ready(),
        };
        let mut lowest = u64::MAX;
        for tip in &tips {
            let generation = self.commits.generation(*tip);
            lowest = lowest.min(generation.0);
            advance.unread.push((generation, *tip));
        }
        self.read_to(&mut advance, lowest)?;
        for tip in &tips {
            if advance.count(*tip) == 0 {
                self.put(&mut advance.ready, *tip);
            }
        }
        advance.ready.reverse();
        Ok(advance)
    }

    /// The next commit in topological order.
    pub(super) fn advance(&mut self, advance: &mut Advance) -> Result<Option<CommitIndex>> {
        let Some(commit) = advance.ready.take() else {
            return Ok(None);
        };
        let mut at = 0;
        while let Some(parent) = self.followed_parent(commit, at) {
            at += 1;
            self.read_to(advance, self.commits.generation(parent).0)?;
            let Some(count) = advance.children.get_mut(parent as usize) else {
                continue;
            };
            if *count > 0 {
                *count -= 1;
                if *count == 0 {
                    self.put(&mut advance.ready, parent);
                }
            }
        }
        Ok(Some(commit))
    }

    /// Meets the parents of all commits of this generation and larger ones.
    fn read_to(&mut self, advance: &mut Advance, generation: u64) -> Result<()> {
        let mut met = Vec::new();
        while let Some(((found, _), commit)) = advance.unread.peek().copied() {
            if found < generation {
                break;
            }
            advance.unread.pop();
            self.reach_parents(commit, &mut |_, parent| met.push(parent))?;
            for parent in met.drain(..) {
                let generation = self.commits.generation(parent);
                advance.unread.push((generation, parent));
            }
            let mut at = 0;
            while let Some(parent) = self.followed_parent(commit, at) {
                at += 1;
                *advance.count_mut(parent) += 1;
            }
        }
        Ok(())
    }

    /// The parent number `at` of `commit`, if the walk follows it.
    fn followed_parent(&self, commit: CommitIndex, at: usize) -> Option<CommitIndex> {
        if self.request.first_parent && at > 0 {
            return None;
        }
        self.commits.parent(commit, at)
    }

    fn none_ready(&self) -> Ready {
        match self.request.order {
            Order::Date => Ready::Newest(Queue::default()),
            Order::Met | Order::Topological => Ready::Last(Vec::new()),
        }
    }

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
        let mut ready = self.none_ready();
        for tip in tips.unwrap_or(list) {
            if children.get(tip) == Some(&0) {
                self.put(&mut ready, *tip);
            }
        }
        ready.reverse();
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

impl Advance {
    fn count(&self, commit: CommitIndex) -> u32 {
        let count = self.children.get(commit as usize);
        count.copied().unwrap_or_default()
    }

    fn count_mut(&mut self, commit: CommitIndex) -> &mut u32 {
        let at = commit as usize;
        if at >= self.children.len() {
            self.children.resize(at + 1, 0);
        }
        &mut self.children[at]
    }
}

impl Ready {
    /// Has the first of the tips taken first, where the last one would be.
    fn reverse(&mut self) {
        if let Ready::Last(tips) = self {
            tips.reverse();
        }
    }

    fn take(&mut self) -> Option<CommitIndex> {
        match self {
            Ready::Last(commits) => commits.pop(),
            Ready::Newest(queue) => queue.pop(),
        }
    }
}
