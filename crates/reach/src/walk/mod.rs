//! The walk over commits, in git's order: what git-rev-list(1) prints, and where it stops.
//!
//! Which commits are wanted is certain only when all were examined. Like git, a walk with
//! uninteresting tips ends a little after all queued commits are uninteresting, judged by dates. If
//! clocks were wrong it may end too early, and then it does so where git does.

mod boundary;
mod edges;
mod limit;
mod parents;
mod prepare;
mod queue;
mod topology;

pub(crate) use prepare::Pending;
pub(crate) use queue::Queue;

use crate::commits::{flag, CommitIndex, Commits, State};
use crate::finder::Finder;
use crate::marks::{mark, Marks};
use crate::promised::Promised;
use crate::request::{Missing, NoWalk, Order, Request, Side};
use crate::source::Source;
use crate::trees::TreeReader;
use crate::{Error, Result};
use std::collections::VecDeque;

/// A walk over commits.
#[derive(Debug)]
pub struct Walk<'s> {
    pub(crate) commits: Commits<'s>,
    pub(crate) request: Request,
    /// The tips that are not commits, and tags, in their order.
    pub(crate) pending: Vec<Pending>,
    pub(crate) marks: Marks<'s>,
    pub(crate) trees: TreeReader<'s>,
    pub(crate) promised: Option<Promised>,
    /// Edges that were found while trees of uninteresting commits were marked.
    pub(crate) edges: Vec<CommitIndex>,
    /// The list of commits: the tips, or all wanted commits.
    pub(crate) list: VecDeque<CommitIndex>,
    queue: Queue,
    mode: Mode,
    advance: Option<topology::Advance>,
    max_count: Option<u64>,
    skip: u64,
    /// Possible boundary commits, in the order in which they were met.
    boundary: Vec<CommitIndex>,
    /// All commits were returned; boundary commits follow.
    is_at_boundary: bool,
    /// All commits to return, in order, if known.
    ready: Option<VecDeque<CommitIndex>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Parents are queued when a commit is returned.
    Streaming,
    /// The list is final.
    Limited,
    /// The list is the tips, without their parents.
    Tips,
    /// In topological order, as far as was asked for.
    Advancing,
}

/// A commit that a walk returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkedCommit {
    /// Which one.
    pub commit: CommitIndex,
    /// Whether it is a boundary commit.
    pub is_boundary: bool,
    /// Whether it was reached from the left side of `A...B`.
    pub is_left: bool,
}

impl<'s> Walk<'s> {
    /// Prepares the walk for `request`: reads the tips, and limits the list if something is
    /// excluded.
    pub fn new(source: Source<'s>, request: Request) -> Result<Self> {
        let may_be_elsewhere = request.missing == Missing::AllowPromised;
        let promised = if request.exclude_promised || may_be_elsewhere {
            Some(Promised::read(source.store)?)
        } else {
            None
        };
        let mut walk = Walk {
            commits: Commits::new(source),
            max_count: request.max_count,
            skip: request.skip,
            request,
            pending: Vec::new(),
            marks: Marks::new(Finder::new(source.store)),
            trees: TreeReader::new(source),
            promised,
            edges: Vec::new(),
            list: VecDeque::new(),
            queue: Queue::default(),
            mode: Mode::Streaming,
            advance: None,
            boundary: Vec::new(),
            is_at_boundary: false,
            ready: None,
        };
        for id in walk.commits.false_commits() {
            walk.marks.add(id, mark::COMMIT);
        }
        let has_uninteresting = walk.read_tips()?;
        walk.start(has_uninteresting)?;
        Ok(walk)
    }

    /// The table of the commits it has met.
    pub fn commits(&self) -> &Commits<'s> {
        &self.commits
    }

    /// The parents of a returned commit, as far as it was read.
    pub fn parents(&self, commit: CommitIndex) -> impl Iterator<Item = gix_hash::ObjectId> + '_ {
        let parents = self.commits.parents(commit).iter();
        parents.map(|parent| self.commits.id(*parent))
    }

    /// The commit time of a returned commit, in seconds since the epoch.
    pub fn seconds(&self, commit: CommitIndex) -> u64 {
        self.commits.node(commit).seconds
    }

    /// The next commit; `None` at the end.
    pub fn next_commit(&mut self) -> Result<Option<WalkedCommit>> {
        if self.request.is_reversed && self.ready.is_none() {
            let mut all = VecDeque::new();
            while let Some(commit) = self.next_in_order()? {
                all.push_front(commit);
            }
            self.ready = Some(all);
        }
        let next = match &mut self.ready {
            Some(ready) => ready.pop_front(),
            None => self.next_in_order()?,
        };
        Ok(next.map(|commit| WalkedCommit {
            commit,
            is_boundary: self.commits.has(commit, flag::BOUNDARY),
            is_left: self.commits.has(commit, flag::LEFT),
        }))
    }

    fn start(&mut self, has_uninteresting: bool) -> Result<()> {
        self.leave_out_promised();
        let by_generation = self.request.order != Order::Met && self.commits.has_generations();
        let is_ordered = self.request.order != Order::Met;
        let is_limited = self.request.side.is_some()
            || has_uninteresting && !by_generation
            || is_ordered && !by_generation;
        if self.request.no_walk != Some(NoWalk::Unsorted) {
            let commits = &self.commits;
            let list = self.list.make_contiguous();
            list.sort_by_key(|commit| std::cmp::Reverse(commits.node(*commit).seconds));
        }
        if self.request.no_walk.is_some() {
            self.mode = Mode::Tips;
        } else if is_limited {
            self.limit()?;
            self.mode = Mode::Limited;
            if is_ordered {
                let list = std::mem::take(&mut self.list);
                self.list = self.in_topological_order(&list, None);
            }
        } else if by_generation && !has_uninteresting && self.can_advance() {
            self.mode = Mode::Advancing;
            self.advance = Some(self.start_advance()?);
        } else if by_generation {
            self.limit_by_generation()?;
            self.mode = Mode::Limited;
        }
        // `limit_by_generation` has marked the edges itself.
        if self.mode != Mode::Limited || !by_generation || is_limited {
            let list = std::mem::take(&mut self.list);
            self.mark_edges(&list)?;
            self.list = list;
        }
        // As with git, commits that are shown without a walk have no side.
        let has_sides = self.request.no_walk.is_none();
        if let (Some(Side::Left | Side::Right), true) = (self.request.side, has_sides) {
            self.keep_side();
        }
        Ok(())
    }

    /// Whether the object may be missing, because the remote of a partial clone has promised it.
    pub(crate) fn is_promised(&self, id: &hedgerow_pack::ObjectId) -> bool {
        let promised = self.promised.as_ref();
        promised.is_some_and(|promised| promised.contains(id))
    }

    /// Excludes what the promisor remote has sent.
    fn leave_out_promised(&mut self) {
        if !self.request.exclude_promised {
            return;
        }
        let held = self
            .promised
            .as_mut()
            .map(crate::promised::Promised::take_held);
        for (id, kind) in held.unwrap_or_default() {
            if kind == hedgerow_pack::ObjectKind::Commit {
                let commit = self.commits.index(&id);
                self.commits.node_mut(commit).flags |= flag::UNINTERESTING | flag::SEEN;
            } else {
                self.marks.add(&id, mark::UNINTERESTING);
            }
        }
    }

    fn keep_side(&mut self) {
        let wants_left = self.request.side == Some(Side::Left);
        for at in 0..self.list.len() {
            let commit = self.list[at];
            if self.commits.has(commit, flag::LEFT) != wants_left {
                self.commits.node_mut(commit).flags |= flag::SHOWN;
            }
        }
    }

    /// The next commit, before reversal.
    fn next_in_order(&mut self) -> Result<Option<CommitIndex>> {
        if self.is_at_boundary {
            return Ok(self.next_boundary());
        }
        let mut found = None;
        if self.max_count != Some(0) {
            found = self.next_shown()?;
            while self.skip > 0 && found.is_some() {
                self.skip -= 1;
                found = self.next_shown()?;
            }
            self.max_count = self.max_count.map(|count| count - 1);
        }
        if let Some(commit) = found {
            self.commits.node_mut(commit).flags |= flag::SHOWN;
        }
        if !self.request.boundary {
            return Ok(found);
        }
        match found {
            Some(commit) => self.note_boundary(commit),
            None => {
                self.is_at_boundary = true;
                self.make_boundary_list();
                return Ok(self.next_boundary());
            }
        }
        Ok(found)
    }

    /// The next commit that is to be returned.
    fn next_shown(&mut self) -> Result<Option<CommitIndex>> {
        if self.mode == Mode::Streaming {
            for commit in std::mem::take(&mut self.list) {
                self.queue.push(self.commits.node(commit).seconds, commit);
            }
        }
        loop {
            let next = match self.mode {
                Mode::Streaming => self.queue.pop(),
                Mode::Limited | Mode::Tips => self.list.pop_front(),
                Mode::Advancing => self.next_advanced()?,
            };
            let Some(commit) = next else {
                return Ok(None);
            };
            if matches!(self.mode, Mode::Streaming | Mode::Tips) {
                let seconds = self.commits.node(commit).seconds;
                if self.request.not_before.is_some_and(|limit| seconds < limit) {
                    continue;
                }
            }
            if self.mode == Mode::Streaming {
                self.queue_parents(commit)?;
            }
            if self.is_shown(commit) {
                return Ok(Some(commit));
            }
        }
    }

    fn next_advanced(&mut self) -> Result<Option<CommitIndex>> {
        let Some(mut advance) = self.advance.take() else {
            return Ok(None);
        };
        let next = self.advance(&mut advance);
        self.advance = Some(advance);
        next
    }

    fn is_shown(&self, commit: CommitIndex) -> bool {
        if self.commits.has(commit, flag::SHOWN | flag::UNINTERESTING) {
            return false;
        }
        let node = self.commits.node(commit);
        if self
            .request
            .not_after
            .is_some_and(|limit| node.seconds > limit)
        {
            return false;
        }
        if self.request.only_unpacked && self.commits.source().store.is_packed(&node.id) {
            return false;
        }
        let parents = self.commits.parents(commit).len();
        parents >= self.request.min_parents
            && self.request.max_parents.is_none_or(|most| parents <= most)
    }

    /// The error for a commit whose parent is missing.
    fn broken_at(&self, commit: CommitIndex) -> Error {
        let parents = self.commits.parents(commit).iter();
        let missing = parents
            .copied()
            .find(|parent| self.commits.node(*parent).state == State::Missing);
        Error::Missing {
            kind: "commit",
            id: self.commits.id(missing.unwrap_or(commit)),
        }
    }
}
