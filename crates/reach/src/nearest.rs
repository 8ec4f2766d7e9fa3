//! The named commit that a commit comes nearest after: git-describe(1), under "SEARCH STRATEGY".

use crate::commits::{CommitIndex, Commits};
use crate::ids::IdMap;
use crate::source::Source;
use crate::walk::Queue;
use crate::{Error, Result};
use gix_hash::ObjectId;
use std::collections::{HashMap, HashSet};

/// So many of the newest candidates are compared, as git does if it is not told otherwise.
const MOST_CANDIDATES: usize = 10;

/// A commit with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The commit.
    pub commit: ObjectId,
    /// Number of commits that are reachable from the start and not from it. Not exact if commit
    /// dates are wrong.
    pub distance: u64,
}

/// Of the commits that `start` reaches and that are the keys of `named`, the one with the smallest
/// distance. Those whose value is false do not count, but end the search as soon as all are met.
pub fn nearest_named(
    source: Source<'_>,
    start: &ObjectId,
    named: &IdMap<bool>,
) -> Result<Option<Nearest>> {
    let mut search = Search {
        commits: Commits::new(source),
        reached_from: HashMap::new(),
        queue: Queue::default(),
        queued: HashSet::new(),
        candidates: Vec::new(),
    };
    let start = search.commits.index(start);
    search.add(start, 0)?;
    search.find(named)?;
    let numbered = search.candidates.iter().zip(0..);
    let best = numbered.min_by_key(|(candidate, _)| candidate.distance);
    let Some((&Candidate { commit, distance }, number)) = best else {
        return Ok(None);
    };
    Ok(Some(Nearest {
        distance: distance + search.count_outside(number)?,
        commit: search.commits.id(commit),
    }))
}

struct Search<'s> {
    commits: Commits<'s>,
    /// For each commit that was met, the candidates that are known to reach it, as bits.
    reached_from: HashMap<CommitIndex, u16>,
    queue: Queue,
    queued: HashSet<CommitIndex>,
    /// In the order in which they were met.
    candidates: Vec<Candidate>,
}

struct Candidate {
    commit: CommitIndex,
    /// Number of commits seen so far that it does not reach.
    distance: u64,
}

impl Search<'_> {
    /// Finds the candidates, and how many commits seen by then each does not reach.
    fn find(&mut self, named: &IdMap<bool>) -> Result<()> {
        let most = named.len().min(MOST_CANDIDATES);
        let mut seen = 0;
        while self.candidates.len() < most {
            let Some(commit) = self.next() else {
                return Ok(());
            };
            let id = self.commits.id(commit);
            let mut bits = self.bits(commit);
            if named.get(&id) == Some(&true) {
                bits |= 1 << self.candidates.len();
                self.candidates.push(Candidate {
                    commit,
                    distance: seen,
                });
            }
            seen += 1;
            for (candidate, number) in self.candidates.iter_mut().zip(0..) {
                candidate.distance += u64::from(bits & (1 << number) == 0);
            }
            if self.queued.is_empty() && self.is_below_best(bits) {
                return Ok(());
            }
            let mut at = 0;
            while let Some(parent) = self.commits.parent(commit, at) {
                at += 1;
                self.add(parent, bits)?;
            }
        }
        Ok(())
    }

    /// Whether all candidates with the smallest distance reach what has these bits: what is below is
    /// no nearer.
    fn is_below_best(&self, bits: u16) -> bool {
        let distances = self.candidates.iter().map(|candidate| candidate.distance);
        let Some(least) = distances.clone().min() else {
            return false;
        };
        let mut best = distances
            .zip(0..)
            .filter(|(distance, _)| *distance == least);
        best.all(|(_, number)| bits & (1 << number) != 0)
    }

    /// How many of the commits that were not seen yet the candidate does not reach.
    fn count_outside(&mut self, number: u32) -> Result<u64> {
        let is_inside = |bits: u16| bits & (1 << number) != 0;
        let mut count = 0;
        let outside = self
            .queued
            .iter()
            .filter(|queued| !is_inside(self.bits(**queued)));
        let mut outside: HashSet<CommitIndex> = outside.copied().collect();
        while !outside.is_empty() {
            let Some(commit) = self.next() else {
                break;
            };
            let bits = self.bits(commit);
            count += u64::from(outside.remove(&commit));
            let mut at = 0;
            while let Some(parent) = self.commits.parent(commit, at) {
                at += 1;
                self.add(parent, bits)?;
                if is_inside(self.bits(parent)) {
                    outside.remove(&parent);
                } else if self.queued.contains(&parent) {
                    outside.insert(parent);
                }
            }
        }
        Ok(count)
    }

    fn next(&mut self) -> Option<CommitIndex> {
        let commit = self.queue.pop()?;
        self.queued.remove(&commit);
        Some(commit)
    }

    fn bits(&self, commit: CommitIndex) -> u16 {
        self.reached_from.get(&commit).copied().unwrap_or_default()
    }

    /// Queues a commit that is met for the first time; the candidates of `bits` reach it.
    fn add(&mut self, commit: CommitIndex, bits: u16) -> Result<()> {
        if let Some(known) = self.reached_from.get_mut(&commit) {
            *known |= bits;
            return Ok(());
        }
        if !self.commits.load(commit)? {
            let id = self.commits.id(commit);
            return Err(Error::Missing { kind: "commit", id });
        }
        self.reached_from.insert(commit, bits);
        self.queue.push(self.commits.node(commit).seconds, commit);
        self.queued.insert(commit);
        Ok(())
    }
}
