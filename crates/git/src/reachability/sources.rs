//! What a walk reads from a repository.

use crate::repository::Repository;
use crate::Result;
use hedgerow_pack::{Bitmaps, CommitGraph, ObjectId};
use hedgerow_reach::{IdMap, Source};
use std::collections::HashMap;
use std::path::PathBuf;

/// The data that a walk needs besides the object store.
#[derive(Debug)]
pub struct Sources {
    graph: Option<CommitGraph>,
    checks_graph: bool,
    grafts: IdMap<Vec<ObjectId>>,
    /// The grafts that are the boundary of a shallow clone.
    shallow: IdMap<Vec<ObjectId>>,
    no_replacements: HashMap<ObjectId, ObjectId>,
}

impl Sources {
    /// Reads the commit-graph, if it can be trusted, the boundary of a shallow clone, and grafts.
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

    /// Takes `commits` for commits without parents, as if they were the boundary of a shallow clone. The
    /// commit-graph, which knows their parents, is not used then.
    pub fn make_shallow(&mut self, commits: &[ObjectId]) {
        for id in commits {
            self.grafts.insert(*id, Vec::new());
            self.shallow.insert(*id, Vec::new());
            self.graph = None;
        }
    }

    /// Like [`Sources::of`], but without replacements: for what is sent to a receiver, who also
    /// gets the replacement references.
    pub fn without_replacements<'s>(&'s self, repository: &'s Repository) -> Source<'s> {
        Source {
            replacements: &self.no_replacements,
            ..self.of(repository)
        }
    }

    /// Objects as they are stored, without replacements and grafts: for the content of a pack.
    pub fn as_stored<'s>(&'s self, repository: &'s Repository) -> Source<'s> {
        Source {
            store: repository.objects(),
            graph: self.graph.as_ref(),
            checks_graph: self.checks_graph,
            grafts: &self.shallow,
            replacements: &self.no_replacements,
        }
    }

    /// The parents that grafts give to commits: possibly they are not reachable in any other way.
    pub fn graft_parents(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.grafts.values().flatten().copied()
    }

    /// The source for walks of `repository`.
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

/// Whether commits have parents other than the stored ones: data derived from the stored parents,
/// such as a bitmap, is then invalid.
pub fn is_grafted(repository: &Repository) -> bool {
    let has_content = |path: &PathBuf| {
        let stat = hedgerow_fs::stat(path);
        !matches!(stat, Ok(None)) && !matches!(stat, Ok(Some(stat)) if stat.size == 0)
    };
    let files = [repository.shallow_file(), repository.graft_file()];
    files.iter().flatten().any(has_content)
}

/// The bitmaps of the repository, if they can be trusted and nothing contradicts them: they include
/// neither replacements nor grafts.
pub fn bitmaps(repository: &Repository) -> Option<Bitmaps<'_>> {
    let is_plain = repository.shared_objects().replacements.is_empty() && !is_grafted(repository);
    if is_plain && !repository.environment().unaided {
        Bitmaps::open(repository.objects())
    } else {
        None
    }
}
