//! The commit-graph: parents, trees and dates of commits without reading the commits
//! (gitformat-commit-graph(5), version 1).
//!
//! A graph is one file or a chain of them. Positions count over the whole chain, base first. No
//! file is hashed when it is opened: positions are checked when they are followed, and what cannot
//! be followed is `None`, for which the commit itself is to be read.

mod commit;
mod layer;

pub use commit::{GraphCommit, Parents};

use crate::database::store::ObjectStore;
use crate::error::Result;
use gix_hash::{oid, Kind, ObjectId};
use layer::Layer;
use std::path::Path;

/// Upper size limit of the list of layers, in bytes; larger files are an error.
const LIMIT_BYTES: u64 = 1 << 20;

/// The commits of an object directory as its commit-graph tells them.
#[derive(Debug)]
pub struct CommitGraph {
    /// Base first.
    layers: Vec<Layer>,
    /// Whether all layers have corrected dates.
    has_corrected_dates: bool,
}

impl CommitGraph {
    /// Opens the commit-graph of the object directory `objects`: `info/commit-graph`, else the
    /// chain of `info/commit-graphs`. `Ok(None)` if there is neither; an error is a reason.
    pub(crate) fn open(objects: &Path, hash: Kind) -> Result<Option<Self>, String> {
        let info = objects.join("info");
        let layers = match Layer::open(&info.join("commit-graph"), hash, 0, &[])? {
            Some(layer) => vec![layer],
            None => open_chain(&info.join("commit-graphs"), hash)?,
        };
        if layers.is_empty() {
            return Ok(None);
        }
        let has_corrected_dates = layers.iter().all(Layer::has_corrected_dates);
        Ok(Some(CommitGraph {
            layers,
            has_corrected_dates,
        }))
    }

    /// How many commits it has.
    pub fn count(&self) -> u32 {
        self.layers.last().map_or(0, Layer::end)
    }

    /// The position of the commit `id`.
    pub fn position(&self, id: &oid) -> Option<u32> {
        self.layers
            .iter()
            .rev()
            .find_map(|layer| layer.position(id))
    }

    /// The commit at `position`.
    pub fn id(&self, position: u32) -> Option<&oid> {
        self.layer(position)?.id(position)
    }

    /// What is known of the commit at `position`.
    pub fn commit(&self, position: u32) -> Option<GraphCommit<'_>> {
        self.layer(position)?.commit(position)
    }

    /// The positions of the parents of the commit at `position`, first one first. An item is
    /// `None` where the file is wrong, and then the last.
    pub fn parents(&self, position: u32) -> Option<Parents<'_>> {
        let layer = self.layer(position)?;
        Some(layer.parents(position, self.count()))
    }

    /// The corrected date of the commit at `position`, which is larger than that of its parents;
    /// where a layer of the chain has none of them, its level, which is too.
    pub fn generation(&self, position: u32) -> Option<u64> {
        let layer = self.layer(position)?;
        if self.has_corrected_dates {
            layer.corrected_date(position)
        } else {
            Some(u64::from(layer.commit(position)?.level))
        }
    }

    fn layer(&self, position: u32) -> Option<&Layer> {
        let at = self.layers.partition_point(|layer| layer.end() <= position);
        self.layers.get(at)
    }
}

/// Opens the layers that the file `commit-graph-chain` in `directory` names, base first; none if
/// there is no such file.
fn open_chain(directory: &Path, hash: Kind) -> Result<Vec<Layer>, String> {
    let list = directory.join("commit-graph-chain");
    let list = hedgerow_fs::read_file(&list, LIMIT_BYTES).map_err(|error| error.to_string())?;
    let mut layers: Vec<Layer> = Vec::new();
    let mut names: Vec<ObjectId> = Vec::new();
    for line in list.unwrap_or_default().split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let name = ObjectId::from_hex(line).ok();
        let name = name.filter(|name| name.kind() == hash);
        let name = name.ok_or("a line of the chain is no hash")?;
        let path = directory.join(format!("graph-{name}.graph"));
        let before = layers.last().map_or(0, Layer::end);
        let layer = Layer::open(&path, hash, before, &names)?;
        layers.push(layer.ok_or_else(|| format!("'{}' is missing", path.display()))?);
        names.push(name);
        if names.len() > usize::from(u8::MAX) {
            return Err("the chain is too long".into());
        }
    }
    Ok(layers)
}

impl ObjectStore {
    /// The commit-graph of the first of its object directories that has one. One that cannot be
    /// used is told by [`ObjectStore::warnings`].
    pub fn commit_graph(&self) -> Option<CommitGraph> {
        for directory in &self.directories {
            match CommitGraph::open(directory, self.options.hash) {
                Ok(None) => {}
                Ok(found) => return found,
                Err(reason) => {
                    let path = directory.display();
                    self.warn(format!("ignoring the commit-graph of '{path}': {reason}"));
                }
            }
        }
        None
    }
}
