//! The source of a walk's objects: the store, with grafts and replacements.

use crate::ids::{IdMap, IdSet};
use gix_hash::{oid, ObjectId};
use hedgerow_pack::{CommitGraph, ObjectKind, ObjectStore, Reader};
use std::collections::HashMap;

/// Maximum length of a chain of replacements.
const REPLACEMENT_DEPTH: usize = 5;

/// The objects of a repository as a walk sees them.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// The objects.
    pub store: &'s ObjectStore,
    /// The commit-graph, if it is to be used.
    pub graph: Option<&'s CommitGraph>,
    /// Whether a commit in the commit-graph must also exist in the store.
    pub checks_graph: bool,
    /// Replaced parents of commits. Commits at the boundary of a shallow clone have none.
    pub grafts: &'s IdMap<Vec<ObjectId>>,
    /// Objects and their replacements (git-replace(1)).
    pub replacements: &'s HashMap<ObjectId, ObjectId>,
}

impl<'s> Source<'s> {
    /// The object to read instead of `id`; `id` itself if it is not replaced.
    pub(crate) fn replacement(&self, id: &oid) -> ObjectId {
        let mut current = id.to_owned();
        if self.replacements.is_empty() {
            return current;
        }
        for _ in 0..REPLACEMENT_DEPTH {
            match self.replacements.get(&current) {
                Some(next) => current = *next,
                None => break,
            }
        }
        current
    }

    /// The objects that count as commits without parents, and are none. The boundary of a shallow clone
    /// comes from a server, which may name anything: as with git, nothing else may lead to them then.
    pub(crate) fn false_commits(&self) -> IdSet {
        let boundary = self.grafts.iter().filter(|(_, parents)| parents.is_empty());
        let mut reader = Reader::new(self.store);
        let mut is_commit = |id: &ObjectId| {
            let location = self.store.locate(id).ok().flatten();
            let header = location.and_then(|location| reader.header(id, location).ok());
            header.is_some_and(|header| header.kind == ObjectKind::Commit)
        };
        let false_ones = boundary.filter(|(id, _)| !is_commit(id));
        false_ones.map(|(id, _)| *id).collect()
    }

    /// The commit-graph, unless there are grafts or replacements, which it does not include.
    pub(crate) fn usable_graph(&self) -> Option<&'s CommitGraph> {
        let is_plain = self.grafts.is_empty() && self.replacements.is_empty();
        self.graph.filter(|_| is_plain)
    }
}
