//! What a walk reads from, out of a repository.

use crate::failure::Failure;
use bstr::ByteSlice;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{CommitGraph, ObjectId};
use hedgerow_reach::{IdMap, Source};

/// More than a list of grafts takes.
const LIMIT_BYTES: u64 = 64 << 20;

/// What a walk needs beside the store.
pub struct Sources {
    graph: Option<CommitGraph>,
    grafts: IdMap<Vec<ObjectId>>,
}

impl Sources {
    /// Reads the commit-graph, the boundary of a shallow clone, and grafts.
    pub fn read(repository: &Repository) -> Result<Self, Failure> {
        let uses_graph = repository
            .config()
            .bool("core.commitGraph")?
            .unwrap_or(true);
        let graph = match uses_graph {
            true => repository.objects().commit_graph(),
            false => None,
        };
        let mut grafts = IdMap::default();
        let common = repository.common_dir();
        for line in lines(&common.join("info/grafts"))? {
            if line.first() != Some(&b'#') {
                let mut ids = line.fields().filter_map(|hex| ObjectId::from_hex(hex).ok());
                if let Some(commit) = ids.next() {
                    grafts.insert(commit, ids.collect());
                }
            }
        }
        for line in lines(&common.join("shallow"))? {
            if let Ok(commit) = ObjectId::from_hex(line.trim_ascii()) {
                grafts.insert(commit, Vec::new());
            }
        }
        Ok(Sources { graph, grafts })
    }

    pub fn of<'s>(&'s self, repository: &'s Repository) -> Source<'s> {
        let objects = repository.shared_objects();
        Source {
            store: objects.store,
            graph: self.graph.as_ref(),
            grafts: &self.grafts,
            replacements: objects.replacements,
        }
    }
}

fn lines(path: &std::path::Path) -> Result<Vec<Vec<u8>>, Failure> {
    let content = hedgerow_fs::read_file(path, LIMIT_BYTES).map_err(Failure::fatal)?;
    let content = content.unwrap_or_default();
    Ok(content.lines().map(<[u8]>::to_vec).collect())
}
