//! Walks over commits for what a switch of branches tells: how far a branch is from its upstream,
//! and which commits are left behind. Grafts and shallow boundaries are taken as they are read:
//! a parent that is missing in a shallow clone ends the walk there.

use super::Upstream;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString};
use hedgerow_pack::{oid, CommitGraph, ObjectId, ObjectKind, Reader};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::PathBuf;

/// How a branch relates to the branch it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracking {
    /// The branch it follows.
    pub upstream: Upstream,
    /// Whether that branch does not exist (any more). A branch without a commit finds nothing to
    /// be compared with either.
    pub is_gone: bool,
    /// Commits that only the branch has.
    pub ahead: usize,
    /// Commits that only the branch it follows has.
    pub behind: usize,
}

/// Commits that no reference leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orphans {
    /// How many there are.
    pub count: usize,
    /// Id and subject of the first four, newest first.
    pub first: Vec<(ObjectId, BString)>,
}

/// The search for orphaned commits ends after this many commits.
const ORPHAN_LIMIT: usize = 1_000_000;
/// So many orphaned commits are listed.
const SHOWN_ORPHANS: usize = 4;

/// How one commit stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is the other.
    Same,
    /// It reaches the other.
    Ahead,
    /// The other reaches it.
    Behind,
    /// Each has commits that the other does not have.
    Diverged,
    /// They have no commit in common.
    Unrelated,
}

/// Which side a commit was reached from.
const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTH: u8 = LEFT | RIGHT;
/// Commits that no commit-graph knows are walked on, so many of them, after all that are queued are
/// common and older than any that is not: a clock that was wrong may have dated a parent after its
/// child. Up to so many commits, the answer is right whatever the dates are.
const SPARE_COMMITS: usize = 10_000;
/// The generation of a commit that no commit-graph knows: it may reach any that one knows, and is
/// reached by none.
const UNKNOWN_GENERATION: u64 = u64::MAX;

impl Repository {
    /// How far the branch with the full name `branch` is from its upstream; `None` if it has none.
    pub fn tracking_status(&self, branch: &BStr) -> Result<Option<Tracking>> {
        self.tracking(branch, true)
    }

    /// The same without counting, which can take long: both numbers are 1 if there is a difference.
    pub fn tracking_difference(&self, branch: &BStr) -> Result<Option<Tracking>> {
        self.tracking(branch, false)
    }

    fn tracking(&self, branch: &BStr, counted: bool) -> Result<Option<Tracking>> {
        let Some(upstream) = self.upstream(branch)? else {
            return Ok(None);
        };
        let distance = self.distance(branch, upstream.tracking.as_ref(), counted)?;
        let (ahead, behind) = distance.unwrap_or_default();
        Ok(Some(Tracking {
            upstream,
            is_gone: distance.is_none(),
            ahead,
            behind,
        }))
    }

    /// How many commits only the reference `own` has, and how many only `other`, or 1 each if they
    /// differ and that is not `counted`; `None` if one of them is not there.
    pub(crate) fn distance(
        &self,
        own: &BStr,
        other: &BStr,
        counted: bool,
    ) -> Result<Option<(usize, usize)>> {
        let id = |name: &BStr| Ok::<_, Error>(self.reference(name)?.and_then(|found| found.id));
        let other = id(other)?;
        let (Some(own), Some(other)) = (id(own)?, other) else {
            return Ok(None);
        };
        if counted {
            self.ahead_behind(&own, &other).map(Some)
        } else {
            let differs = usize::from(own != other);
            Ok(Some((differs, differs)))
        }
    }

    /// How many commits only `left` reaches, and how many only `right`.
    ///
    /// Where clocks were wrong, that is right for all commits of a commit-graph and 10,000 others.
    pub fn ahead_behind(&self, left: &oid, right: &oid) -> Result<(usize, usize)> {
        if left == right {
            return Ok((0, 0));
        }
        let mut walk = Walk::new(self, |mark| mark != BOTH);
        walk.add(left, LEFT)?;
        walk.add(right, RIGHT)?;
        walk.run(usize::MAX)?;
        let count = |side: u8| {
            let commits = walk.commits.values();
            commits.filter(|commit| commit.mark == side).count()
        };
        Ok((count(LEFT), count(RIGHT)))
    }

    /// How the commit `one` stands to `other`; right as far as [`Repository::ahead_behind`] is.
    pub fn relation(&self, one: &oid, other: &oid) -> Result<Relation> {
        if one == other {
            return Ok(Relation::Same);
        }
        let mut walk = Walk::new(self, |mark| mark != BOTH);
        walk.add(one, LEFT)?;
        walk.add(other, RIGHT)?;
        walk.run(usize::MAX)?;
        let mark = |id: &oid| walk.commits.get(id).map_or(0, |commit| commit.mark);
        let common = |commit: &Visited| commit.mark == BOTH;
        Ok(match (mark(one) == BOTH, mark(other) == BOTH) {
            (_, true) => Relation::Ahead,
            (true, false) => Relation::Behind,
            (false, false) if walk.commits.values().any(common) => Relation::Diverged,
            (false, false) => Relation::Unrelated,
        })
    }

    /// The commits that `old` reaches and neither `new` nor any reference does: those a switch
    /// away from a detached `old` leaves behind.
    pub fn orphaned_commits(&self, old: &oid, new: Option<&oid>) -> Result<Orphans> {
        let mut walk = Walk::new(self, |mark| mark == LEFT);
        let mut tips: Vec<ObjectId> = new.map(ToOwned::to_owned).into_iter().collect();
        for reference in self.references_below("refs/".into())? {
            tips.extend(reference.id);
        }
        if tips.iter().any(|tip| **tip == *old) {
            return Ok(Orphans::default());
        }
        walk.add(old, LEFT)?;
        for tip in &tips {
            if let Some(commit) = self.peel_to_commit(tip)? {
                walk.add(&commit, RIGHT)?;
            }
        }
        walk.run(ORPHAN_LIMIT)?;
        let left = walk.left_from(old);
        let mut orphans = Orphans {
            count: left.len(),
            first: Vec::new(),
        };
        // To say that there is one more takes as long as to show it.
        let shown = if left.len() == SHOWN_ORPHANS + 1 {
            left.len()
        } else {
            SHOWN_ORPHANS
        };
        for id in left.into_iter().take(shown) {
            let subject = self.subject(&self.commit(&id)?);
            orphans.first.push((id, subject));
        }
        Ok(orphans)
    }

    /// The commit that `id` is or that its tags lead to; `None` if that is something else or
    /// missing.
    pub fn peel_to_commit(&self, id: &oid) -> Result<Option<ObjectId>> {
        match self.peel(id, Some(ObjectKind::Commit)) {
            Ok(commit) => Ok(commit),
            Err(Error::Pack(_) | Error::CorruptObject { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A walk from two sets of commits that stops where nothing of interest is left: first those that no
/// commit-graph knows, newest first, then the others, children before parents.
struct Walk<'a> {
    repository: &'a Repository,
    reader: Reader<'a>,
    graph: Option<CommitGraph>,
    /// Which marks keep the walk going.
    is_open: fn(u8) -> bool,
    /// Ordered by generation, by date, then by id, so that the order of additions does not matter.
    queue: BinaryHeap<(u64, i64, ObjectId)>,
    commits: HashMap<ObjectId, Visited>,
    /// Queued commits that keep the walk going.
    open: usize,
    has_shallow: bool,
}

struct Visited {
    generation: u64,
    seconds: i64,
    parents: Vec<ObjectId>,
    mark: u8,
    is_queued: bool,
}

impl<'a> Walk<'a> {
    /// The commits that only the left side has, newest first; of the same second those that were
    /// reached first.
    fn left_from(&self, tip: &oid) -> Vec<ObjectId> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([tip.to_owned()]);
        let mut queue = BinaryHeap::new();
        let mut reached = vec![tip.to_owned()];
        loop {
            for id in reached.drain(..) {
                let commit = self.commits.get(&id).filter(|commit| commit.mark == LEFT);
                let order = Reverse(seen.len());
                queue.extend(commit.map(|commit| (commit.seconds, order, id)));
            }
            let Some((_, _, id)) = queue.pop() else {
                return found;
            };
            found.push(id);
            reached.extend(
                self.commits[&id]
                    .parents
                    .iter()
                    .copied()
                    .filter(|parent| seen.insert(*parent)),
            );
        }
    }

    fn new(repository: &'a Repository, is_open: fn(u8) -> bool) -> Self {
        let has_shallow = is_there(repository.shallow_file());
        Walk {
            graph: repository.whole_commit_graph(),
            has_shallow,
            reader: Reader::new(repository.objects()),
            repository,
            is_open,
            queue: BinaryHeap::new(),
            commits: HashMap::new(),
            open: 0,
        }
    }

    /// Marks the commit `id` as reached from `side` and queues it if that is news.
    fn add(&mut self, id: &oid, side: u8) -> Result<()> {
        let id = id.to_owned();
        if !self.commits.contains_key(&id) {
            match self.load(&id) {
                Ok(visited) => self.commits.insert(id, visited),
                Err(Error::Pack(_)) if self.has_shallow => return Ok(()),
                Err(error) => return Err(error),
            };
        }
        let visited = self.commits.get_mut(&id);
        let visited = visited.expect("it was loaded above, if not before");
        let before = visited.mark;
        if before | side == before {
            return Ok(());
        }
        visited.mark |= side;
        let was_open = visited.is_queued && (self.is_open)(before);
        self.open -= usize::from(was_open);
        self.open += usize::from((self.is_open)(visited.mark));
        if !visited.is_queued {
            visited.is_queued = true;
            self.queue.push((visited.generation, visited.seconds, id));
        }
        Ok(())
    }

    fn load(&mut self, id: &ObjectId) -> Result<Visited> {
        if let Some(visited) = self.graph.as_ref().and_then(|graph| known(graph, id)) {
            return Ok(visited);
        }
        let commit = self.repository.commit_with(&mut self.reader, id)?;
        Ok(Visited {
            generation: UNKNOWN_GENERATION,
            seconds: commit.seconds,
            parents: commit.parents,
            mark: 0,
            is_queued: false,
        })
    }

    /// Walks until nothing is open and no common commit that is queued can reach one that is not,
    /// or until `limit` commits were met.
    fn run(&mut self, limit: usize) -> Result<()> {
        let mut spare = SPARE_COMMITS;
        let mut oldest = i64::MAX;
        while let Some((generation, seconds, id)) = self.queue.pop() {
            let visited = self.commits.get_mut(&id);
            let visited = visited.expect("what is queued was loaded");
            visited.is_queued = false;
            let mark = visited.mark;
            let parents = visited.parents.clone();
            if (self.is_open)(mark) {
                self.open -= 1;
                oldest = oldest.min(seconds);
            } else if self.open > 0 {
                spare = SPARE_COMMITS;
            } else if generation != UNKNOWN_GENERATION || spare == 0 {
                // Parents are of lower generations than their children.
                break;
            } else if seconds < oldest {
                spare -= 1;
            }
            for parent in parents {
                self.add(&parent, mark)?;
            }
            if self.commits.len() >= limit {
                break;
            }
        }
        Ok(())
    }
}

impl Repository {
    /// The commit-graph, if it may be used and knows all parents of its commits as they count here.
    pub(crate) fn whole_commit_graph(&self) -> Option<CommitGraph> {
        let is_wanted = self.config().bool("core.commitGraph").ok()? != Some(false);
        let has_others = is_there(self.shallow_file()) || is_there(self.graft_file());
        let is_whole = !has_others && self.shared_objects().replacements.is_empty();
        (is_wanted && is_whole && !self.environment().unaided)
            .then(|| self.objects().commit_graph())
            .flatten()
    }
}

/// Whether there is such a file.
fn is_there(file: Option<PathBuf>) -> bool {
    file.is_some_and(|path| hedgerow_fs::exists(&path))
}

/// What the commit-graph knows of the commit `id`; `None` if that is not enough.
fn known(graph: &CommitGraph, id: &oid) -> Option<Visited> {
    let position = graph.position(id)?;
    let commit = graph.commit(position)?;
    let generation = graph.generation(position)?;
    let parents: Option<Vec<ObjectId>> = graph
        .parents(position)?
        .map(|parent| Some(graph.id(parent?)?.to_owned()))
        .collect();
    (commit.level > 0).then_some(Visited {
        generation,
        seconds: i64::try_from(commit.seconds).ok()?,
        parents: parents?,
        mark: 0,
        is_queued: false,
    })
}
