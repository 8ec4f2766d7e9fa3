use super::{CommitIndex, Commits, Node, State};
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_object::CommitRef;
use hedgerow_pack::ObjectKind;

/// A commit with more parents is read instead of taken from the commit-graph: in a hostile
/// commit-graph, the parent lists of all commits may extend to the end of the file.
const MAX_PARENTS: usize = 1 << 12;

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
        let found = self.source.replacement(&id);
        let Some(location) = self.source.store.locate(&found)? else {
            self.node_mut(index).state = State::Missing;
            return Ok(false);
        };
        let (kind, content) = self.reader.read(&found, location)?;
        if kind != ObjectKind::Commit {
            return Err(Error::WrongKind {
                id,
                found: kind.name(),
                expected: "commit",
            });
        }
        let commit = CommitRef::parse(&id, content)?;
        let parents: Vec<ObjectId> = match self.source.grafts.get(&id) {
            Some(parents) => parents.clone(),
            None => commit.parents().collect(),
        };
        let (tree, seconds) = (commit.tree(), commit.seconds());
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

    /// Returns whether the commit-graph has all data of the commit. If not, the only effect is that
    /// some parents got numbers.
    fn load_from_graph(&mut self, index: CommitIndex) -> bool {
        let Some(graph) = self.graph else {
            return false;
        };
        let Node { id, position, .. } = *self.node(index);
        if self.source.checks_graph && !matches!(self.source.store.locate(&id), Ok(Some(_))) {
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
