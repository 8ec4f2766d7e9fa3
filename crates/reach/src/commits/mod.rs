//! Commits as a walk sees them: numbered in the order in which they are met, and read once.

mod load;

use crate::ids::IdMap;
use crate::source::Source;
use gix_hash::ObjectId;
use hedgerow_pack::{CommitGraph, Reader};
use std::collections::HashMap;

/// The number of a commit in a table of [`Commits`].
pub type CommitIndex = u32;

/// The state of a commit in the walk, with git's flag names.
pub(crate) mod flag {
    /// Excluded, along with all that it reaches.
    pub const UNINTERESTING: u16 = 1;
    /// It was queued.
    pub const SEEN: u16 = 2;
    /// Its parents were queued.
    pub const ADDED: u16 = 4;
    /// It was returned.
    pub const SHOWN: u16 = 8;
    /// It is to be returned as a boundary.
    pub const BOUNDARY: u16 = 16;
    /// A child of it was returned.
    pub const CHILD_SHOWN: u16 = 32;
    /// It was reached from the left side of `A...B`.
    pub const LEFT: u16 = 64;
    /// It was reached by the walk, not named by the user: filters apply.
    pub const REACHED: u16 = 128;
}

/// The known data of a commit.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub id: ObjectId,
    pub tree: ObjectId,
    pub seconds: u64,
    /// The start and number of its parents in the common list.
    parents: (u32, u32),
    pub flags: u16,
    pub state: State,
    /// Its position in the commit-graph; [`NOWHERE`] if it is not in it.
    position: u32,
}

const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not read yet.
    Unread,
    Read,
    /// Does not exist.
    Missing,
}

/// A table of commits that grows as new ones are met.
#[derive(Debug)]
pub struct Commits<'s> {
    source: Source<'s>,
    reader: Reader<'s>,
    graph: Option<&'s CommitGraph>,
    by_id: IdMap<CommitIndex>,
    /// Commit numbers by position in the commit-graph.
    by_position: Vec<CommitIndex>,
    nodes: Vec<Node>,
    parents: Vec<CommitIndex>,
    /// Commits that were read by other threads and not entered yet.
    ahead: HashMap<CommitIndex, load::ReadCommit>,
}

impl<'s> Commits<'s> {
    /// An empty table.
    pub fn new(source: Source<'s>) -> Self {
        let graph = source.usable_graph();
        Commits {
            reader: Reader::new(source.store),
            by_position: vec![NOWHERE; graph.map_or(0, |graph| graph.count() as usize)],
            graph,
            source,
            by_id: IdMap::default(),
            nodes: Vec::new(),
            parents: Vec::new(),
            ahead: HashMap::new(),
        }
    }

    /// Whether commits have generation numbers: these then determine the order of a walk.
    pub(crate) fn has_generations(&self) -> bool {
        let first = self.graph.and_then(|graph| {
            let last = graph.count().checked_sub(1)?;
            graph.commit(last)
        });
        first.is_some_and(|commit| commit.level != 0)
    }

    /// The number of the commit `id`; a commit met for the first time gets a new one.
    pub(crate) fn index(&mut self, id: &ObjectId) -> CommitIndex {
        if let Some(index) = self.by_id.get(id) {
            return *index;
        }
        let position = self.graph.and_then(|graph| graph.position(id));
        if let Some(index) = position.and_then(|at| self.known_at(at)) {
            return index;
        }
        let index = self.add(*id, position.unwrap_or(NOWHERE));
        if position.is_none() {
            self.by_id.insert(*id, index);
        }
        index
    }

    fn known_at(&self, position: u32) -> Option<CommitIndex> {
        let known = self.by_position.get(position as usize).copied();
        known.filter(|index| *index != NOWHERE)
    }

    fn add(&mut self, id: ObjectId, position: u32) -> CommitIndex {
        let index = self.nodes.len() as CommitIndex;
        if let Some(slot) = self.by_position.get_mut(position as usize) {
            *slot = index;
        }
        self.nodes.push(Node {
            id,
            tree: ObjectId::null(id.kind()),
            seconds: 0,
            parents: (0, 0),
            flags: 0,
            state: State::Unread,
            position,
        });
        index
    }

    pub(crate) fn node(&self, index: CommitIndex) -> &Node {
        &self.nodes[index as usize]
    }

    pub(crate) fn node_mut(&mut self, index: CommitIndex) -> &mut Node {
        &mut self.nodes[index as usize]
    }

    pub(crate) fn has(&self, index: CommitIndex, flags: u16) -> bool {
        self.node(index).flags & flags != 0
    }

    /// Its parents; none before it is read.
    pub(crate) fn parents(&self, index: CommitIndex) -> &[CommitIndex] {
        let (start, count) = self.node(index).parents;
        let range = start as usize..(start + count) as usize;
        self.parents
            .get(range)
            .expect("the parents of a node are in the list")
    }

    /// The parent number `at`, if it exists.
    pub(crate) fn parent(&self, index: CommitIndex, at: usize) -> Option<CommitIndex> {
        self.parents(index).get(at).copied()
    }

    /// Its generation in the commit-graph, which is larger than that of its parents, and its date.
    /// Commits outside the graph rank above all of those in it, ordered by date.
    pub(crate) fn generation(&self, index: CommitIndex) -> (u64, u64) {
        let node = self.node(index);
        let graph = self.graph;
        let found = graph.and_then(|graph| graph.generation(node.position));
        (found.unwrap_or(u64::MAX), node.seconds)
    }

    /// The id of a commit.
    pub fn id(&self, index: CommitIndex) -> ObjectId {
        self.node(index).id
    }

    /// The trees of the commits that were read.
    pub(crate) fn trees(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let read = self.nodes.iter().filter(|node| node.state == State::Read);
        read.map(|node| node.tree)
    }

    pub(crate) fn source(&self) -> &Source<'s> {
        &self.source
    }
}
