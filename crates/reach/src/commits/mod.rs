//! Commits as a walk sees them: numbered in the order in which they are met, and read once.

mod load;

use crate::finder::Finder;
use crate::ids::{IdMap, IdSet};
use crate::source::Source;
use gix_hash::ObjectId;
use hedgerow_pack::{CommitGraph, Reader};

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
    /// Its position in the main pack, if it is not in the commit-graph; [`NOWHERE`] if it is not there.
    place: u32,
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
    finder: Finder<'s>,
    /// Commit numbers by position in the main pack, each plus one; empty before the first.
    by_place: Vec<u32>,
    /// Those of commits that are elsewhere.
    by_id: IdMap<CommitIndex>,
    false_commits: IdSet,
    /// Commit numbers by position in the commit-graph.
    by_position: Vec<CommitIndex>,
    nodes: Vec<Node>,
    parents: Vec<CommitIndex>,
    /// Commits that were read by other threads and not entered yet, by descending numbers.
    ahead: Vec<(CommitIndex, Option<load::ReadCommit>)>,
}

impl<'s> Commits<'s> {
    /// An empty table.
    pub fn new(source: Source<'s>) -> Self {
        let graph = source.usable_graph();
        Commits {
            reader: Reader::new(source.store),
            by_position: vec![NOWHERE; graph.map_or(0, |graph| graph.count() as usize)],
            graph,
            finder: Finder::new(source.store),
            by_place: Vec::new(),
            false_commits: source.false_commits(),
            source,
            by_id: IdMap::default(),
            nodes: Vec::new(),
            parents: Vec::new(),
            ahead: Vec::new(),
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

    /// How many commits the commit-graph has.
    pub(crate) fn count_in_graph(&self) -> u64 {
        self.graph.map_or(0, |graph| u64::from(graph.count()))
    }

    /// How many commits were met.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of the commit `id`; a commit met for the first time gets a new one.
    pub(crate) fn index(&mut self, id: &ObjectId) -> CommitIndex {
        if let Some(position) = self.graph.and_then(|graph| graph.position(id)) {
            let known = self.known_at(position);
            return known.unwrap_or_else(|| self.add(*id, position));
        }
        let place = self.finder.position(id.as_slice());
        self.index_at(id, place)
    }

    /// The number of the commit `id`, which is not in the commit-graph and whose position in the main
    /// pack is `place`.
    pub(crate) fn index_at(&mut self, id: &ObjectId, place: Option<u32>) -> CommitIndex {
        let Some(place) = place else {
            if let Some(index) = self.by_id.get(id) {
                return *index;
            }
            let index = self.add(*id, NOWHERE);
            self.by_id.insert(*id, index);
            return index;
        };
        if self.by_place.is_empty() {
            self.by_place = vec![0; self.finder.count()];
        }
        let known = self.by_place.get(place as usize).copied();
        if let Some(index) = known.and_then(|known| known.checked_sub(1)) {
            return index;
        }
        let index = self.add(*id, NOWHERE);
        self.node_mut(index).place = place;
        if let Some(slot) = self.by_place.get_mut(place as usize) {
            *slot = index + 1;
        }
        index
    }

    /// The position of a commit in the main pack, if it is there.
    pub(crate) fn place(&self, index: CommitIndex) -> Option<u32> {
        let node = self.node(index);
        match node.place {
            NOWHERE if node.position != NOWHERE => self.finder.position(node.id.as_slice()),
            NOWHERE => None,
            place => Some(place),
        }
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
            place: NOWHERE,
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

    /// The objects that count as commits, and are none.
    pub(crate) fn false_commits(&self) -> &IdSet {
        &self.false_commits
    }

    /// Finds what is in the store.
    pub(crate) fn finder(&self) -> &Finder<'s> {
        &self.finder
    }

    pub(crate) fn source(&self) -> &Source<'s> {
        &self.source
    }
}
