//! Where a walk reads: the store, and what changes what the objects in it say.

use crate::ids::IdMap;
use gix_hash::{oid, ObjectId};
use hedgerow_pack::{CommitGraph, ObjectStore};
use std::collections::HashMap;

/// Replacements of replacements are followed this far.
const REPLACEMENT_DEPTH: usize = 5;

/// The objects of a repository, as a walk of them is to see them.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// The objects.
    pub store: &'s ObjectStore,
    /// The commit-graph, if it is to be used.
    pub graph: Option<&'s CommitGraph>,
    /// Whether a commit of the commit-graph counts only if the store has it, too.
    pub checks_graph: bool,
    /// Commits whose parents are others than they say: those at the boundary of a shallow clone
    /// have none.
    pub grafts: &'s IdMap<Vec<ObjectId>>,
    /// What is read instead of what (git-replace(1)).
    pub replacements: &'s HashMap<ObjectId, ObjectId>,
}

impl<'s> Source<'s> {
    /// What is read instead of `id`, if anything.
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

    /// The commit-graph, if nothing contradicts it: it knows of neither grafts nor replacements.
    pub(crate) fn usable_graph(&self) -> Option<&'s CommitGraph> {
        let is_plain = self.grafts.is_empty() && self.replacements.is_empty();
        self.graph.filter(|_| is_plain)
    }
}
