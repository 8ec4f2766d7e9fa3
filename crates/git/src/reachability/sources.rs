//! What a walk reads from, out of a repository.

use crate::repository::Repository;
use crate::Result;
use hedgerow_pack::{Bitmaps, CommitGraph, ObjectId};
use hedgerow_reach::{IdMap, Source};
use std::collections::HashMap;

/// What a walk needs beside the store.
#[derive(Debug)]
pub struct Sources {
    graph: Option<CommitGraph>,
    checks_graph: bool,
    grafts: IdMap<Vec<ObjectId>>,
    /// Those of them that are the boundary of a shallow clone.
    shallow: IdMap<Vec<ObjectId>>,
    no_replacements: HashMap<ObjectId, ObjectId>,
}

impl Sources {
    /// Reads the commit-graph, if it may be believed, the boundary of a shallow clone, and grafts.
    pub fn read(repository: &Repository) -> Result<Self> {
        let uses_graph = repository
            .config()
            .bool("core.commitGraph")?
            .unwrap_or(true);
        let graph = if uses_graph && !repository.environment().unaided {
            repository.objects().commit_graph()
        } else {
            None
        };
        let found = repository.grafts()?;
        let grafts = found.iter().map(|(id, parents)| (*id, parents.to_vec()));
        let shallow = found.shallow().iter().map(|id| (*id, Vec::new()));
        Ok(Sources {
            graph,
            checks_graph: repository.environment().commit_graph_paranoia,
            grafts: grafts.collect(),
            shallow: shallow.collect(),
            no_replacements: HashMap::new(),
        })
    }

    /// As [`Sources::of`], but nothing is replaced: what a receiver is sent, who gets the references
    /// to replacements, too.
    pub fn without_replacements<'s>(&'s self, repository: &'s Repository) -> Source<'s> {
        Source {
            replacements: &self.no_replacements,
            ..self.of(repository)
        }
    }

    /// Objects as they are stored, whatever replaces them or is grafted onto them: what a pack is
    /// to hold.
    pub fn as_stored<'s>(&'s self, repository: &'s Repository) -> Source<'s> {
        Source {
            store: repository.objects(),
            graph: self.graph.as_ref(),
            checks_graph: self.checks_graph,
            grafts: &self.shallow,
            replacements: &self.no_replacements,
        }
    }

    /// The parents that grafts give to commits: they are reached in no other way, perhaps.
    pub fn graft_parents(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.grafts.values().flatten().copied()
    }

    /// Where walks of `repository` read.
    pub fn of<'s>(&'s self, repository: &'s Repository) -> Source<'s> {
        let objects = repository.shared_objects();
        Source {
            store: objects.store,
            graph: self.graph.as_ref(),
            checks_graph: self.checks_graph,
            grafts: &self.grafts,
            replacements: objects.replacements,
        }
    }
}

/// Whether commits have other parents than they say: what was made before that, like a bitmap,
/// does not hold.
pub fn is_grafted(repository: &Repository) -> bool {
    let common = repository.common_dir();
    let has_content = |name: &str| {
        let stat = hedgerow_fs::stat(&common.join(name));
        !matches!(stat, Ok(None)) && !matches!(stat, Ok(Some(stat)) if stat.size == 0)
    };
    has_content("shallow") || has_content("info/grafts")
}

/// The bitmaps of the repository, if they may be believed and nothing contradicts them: they know
/// of neither replacements nor grafts.
pub fn bitmaps(repository: &Repository) -> Option<Bitmaps<'_>> {
    let is_plain = repository.shared_objects().replacements.is_empty() && !is_grafted(repository);
    if is_plain && !repository.environment().unaided {
        Bitmaps::open(repository.objects())
    } else {
        None
    }
}
