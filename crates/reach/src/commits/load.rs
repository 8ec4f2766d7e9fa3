use super::{CommitIndex, Commits, Node, State, NOWHERE};
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_fs::threads::each;
use hedgerow_object::CommitRef;
use hedgerow_pack::{Location, ObjectKind, Reader};
use std::cmp::Reverse;

/// A commit with more parents is read instead of taken from the commit-graph: in a hostile
/// commit-graph, the parent lists of all commits may extend to the end of the file.
const MAX_PARENTS: usize = 1 << 12;

/// Fewer commits than this are not worth a thread.
const FEW: usize = 512;

/// What is taken from a commit.
#[derive(Debug)]
pub(super) struct ReadCommit {
    tree: ObjectId,
    seconds: u64,
    /// As grafts have them, if they replace those of the commit.
    parents: Vec<ObjectId>,
}

/// The commit `id`, or what replaces it, which is at `location`.
fn read_at(
    source: &Source<'_>,
    reader: &mut Reader<'_>,
    id: &ObjectId,
    location: Location,
) -> Result<ReadCommit> {
    let (kind, content) = reader.read(&source.replacement(id), location)?;
    if kind != ObjectKind::Commit {
        return Err(Error::WrongKind {
            id: *id,
            found: kind.name(),
            expected: "commit",
        });
    }
    let commit = CommitRef::parse(id, content)?;
    let parents = match source.grafts.get(id) {
        Some(parents) => parents.clone(),
        None => commit.parents().collect(),
    };
    Ok(ReadCommit {
        tree: commit.tree(),
        seconds: commit.seconds(),
        parents,
    })
}

impl Commits<'_> {
    /// Reads the commit, from the commit-graph if possible. Returns whether it exists.
    ///
    /// # Errors
    /// If it is damaged, or not a commit.
    pub(crate) fn load(&mut self, index: CommitIndex) -> Result<bool> {
        match self.node(index).state {
            State::Read => return Ok(true),
            State::Missing => return Ok(false),
            State::Unread => {}
        }
        if self.load_from_graph(index) {
            return Ok(true);
        }
        let id = self.node(index).id;
        let read = match self.take_ahead(index) {
            Some(read) => Some(read),
            None => self.read(index, &id)?,
        };
        let Some(ReadCommit {
            tree,
            seconds,
            parents,
        }) = read
        else {
            self.node_mut(index).state = State::Missing;
            return Ok(false);
        };
        if self.false_commits.contains(&tree) {
            return Err(Error::WrongTree { tree, commit: id });
        }
        let start = self.parents.len() as u32;
        let parents: Vec<CommitIndex> = parents.iter().map(|id| self.index(id)).collect();
        let count = parents.len() as u32;
        self.parents.extend(parents);
        let node = self.node_mut(index);
        (node.tree, node.seconds) = (tree, seconds);
        node.parents = (start, count);
        node.state = State::Read;
        Ok(true)
    }

    /// Reads the commit with the number `index`, or what replaces it; `None` if it does not exist.
    fn read(&mut self, index: CommitIndex, id: &ObjectId) -> Result<Option<ReadCommit>> {
        let stored = self.source.replacement(id);
        match self.finder.location_of(&stored, id, self.place(index))? {
            Some(location) => read_at(&self.source, &mut self.reader, id, location).map(Some),
            None => Ok(None),
        }
    }

    /// Reads many commits, or what replaces them, where they are, with `threads` threads, before
    /// [`load`](Self::load) enters them one by one. What cannot be read is left to `load`, as are few
    /// commits and those in the commit-graph.
    pub(crate) fn read_ahead(&mut self, commits: &[(CommitIndex, Location)], threads: usize) {
        let is_unread = |(index, _): &(CommitIndex, Location)| {
            let node = self.node(*index);
            node.state == State::Unread && (self.graph.is_none() || node.position == NOWHERE)
        };
        let mut unread: Vec<_> = commits.iter().copied().filter(is_unread).collect();
        unread.sort_unstable_by_key(|(index, _)| *index);
        unread.dedup_by_key(|(index, _)| *index);
        let threads = threads.min(unread.len() / FEW);
        if threads < 2 {
            return;
        }
        let (source, nodes) = (self.source, &self.nodes);
        let shares = unread.chunks(unread.len().div_ceil(threads));
        let shares = each("commits", shares, |share| {
            let mut reader = Reader::new(source.store);
            let read = |(index, location): &(CommitIndex, Location)| {
                let id = &nodes[*index as usize].id;
                let read = read_at(&source, &mut reader, id, *location).ok()?;
                Some((*index, read))
            };
            share.iter().filter_map(read).collect::<Vec<_>>()
        });
        let read = shares.into_iter().flatten().flatten();
        self.ahead
            .extend(read.map(|(index, read)| (index, Some(read))));
        self.ahead.sort_by_key(|(index, _)| Reverse(*index));
    }

    /// Takes the commit `index`, if it was read ahead.
    fn take_ahead(&mut self, index: CommitIndex) -> Option<ReadCommit> {
        // They are entered in the order of their numbers, as a rule.
        if self.ahead.last().is_some_and(|(last, _)| *last == index) {
            return self.ahead.pop()?.1;
        }
        let at = self
            .ahead
            .binary_search_by_key(&Reverse(index), |(index, _)| Reverse(*index));
        self.ahead.get_mut(at.ok()?)?.1.take()
    }

    /// Returns whether the commit-graph has all data of the commit. If not, the only effect is that
    /// some parents got numbers.
    fn load_from_graph(&mut self, index: CommitIndex) -> bool {
        let Some(graph) = self.graph else {
            return false;
        };
        let Node { id, position, .. } = *self.node(index);
        let is_there = || matches!(self.finder.location(&id, self.place(index)), Ok(Some(_)));
        if self.source.checks_graph && !is_there() {
            return false;
        }
        let (Some(commit), Some(parents)) = (graph.commit(position), graph.parents(position))
        else {
            return false;
        };
        let start = self.parents.len();
        for parent in parents {
            let number = parent.and_then(|parent| match self.known_at(parent) {
                Some(number) => Some(number),
                None => Some(self.add(graph.id(parent)?.to_owned(), parent)),
            });
            let number = number.filter(|_| self.parents.len() - start < MAX_PARENTS);
            let Some(number) = number else {
                self.parents.truncate(start);
                return false;
            };
            self.parents.push(number);
        }
        let count = self.parents.len() - start;
        let node = self.node_mut(index);
        (node.tree, node.seconds) = (commit.tree.to_owned(), commit.seconds);
        node.parents = (start as u32, count as u32);
        node.state = State::Read;
        true
    }
}
