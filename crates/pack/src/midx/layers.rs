//! The multi-pack-index of a pack directory: one file, or a chain of them.

use super::read::MultiPackIndex;
use super::refusal::Refusal;
use crate::error::Error;
use gix_hash::ObjectId;
use hedgerow_fs::Result;
use std::path::{Path, PathBuf};

/// More than any sane list of layers takes.
const CHAIN_LIMIT_BYTES: u64 = 1 << 20;
/// Each layer is searched for an object that is in none.
const MAX_LAYERS: usize = 1000;

/// The layers of a multi-pack-index, the oldest first. Positions and numbers of packs go on from
/// one layer to the next.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    layers: Vec<Layer>,
}

/// One file of a multi-pack-index.
#[derive(Debug)]
pub(crate) struct Layer {
    pub path: PathBuf,
    pub file: MultiPackIndex,
    /// How many objects the layers before it have.
    pub first_position: u32,
    /// How many packs the layers before it have.
    pub first_pack: u32,
}

/// What there is of a multi-pack-index, and what there is not.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub layers: Layers,
    /// The files that cannot be used.
    pub refused: Vec<(PathBuf, Refusal)>,
    /// What is wrong with the chain, in git's words.
    pub warnings: Vec<String>,
}

/// The name of the file that is a whole multi-pack-index.
pub(crate) const PLAIN_NAME: &str = "multi-pack-index";

/// The file that is the whole multi-pack-index of the pack directory `packs`.
pub(crate) fn plain_path(packs: &Path) -> PathBuf {
    packs.join(PLAIN_NAME)
}

/// The directory of the layers.
pub(crate) fn chain_directory(packs: &Path) -> PathBuf {
    packs.join("multi-pack-index.d")
}

/// The file that lists the layers.
pub(crate) fn chain_path(packs: &Path) -> PathBuf {
    chain_directory(packs).join("multi-pack-index-chain")
}

/// The error of the multi-pack-index of the pack directory `packs`.
pub(crate) fn failed(packs: &Path, reason: String) -> Error {
    let path = plain_path(packs);
    Error::MultiPackIndex { path, reason }
}

impl Loaded {
    /// Maps the multi-pack-index of the pack directory `packs`. As for git, the single file comes
    /// before the chain, and of a chain that breaks off its beginning is used.
    pub fn open(packs: &Path, hash: gix_hash::Kind) -> Result<Self> {
        let mut loaded = Loaded::default();
        let path = plain_path(packs);
        if hedgerow_fs::exists(&path) && loaded.add(path, hash) {
            return Ok(loaded);
        }
        let dies = |refused: &(PathBuf, Refusal)| refused.1.fatal.is_some();
        if !loaded.refused.iter().any(dies) {
            loaded.open_chain(packs, hash)?;
        }
        Ok(loaded)
    }

    fn open_chain(&mut self, packs: &Path, hash: gix_hash::Kind) -> Result<()> {
        let Some(list) = hedgerow_fs::read_file(&chain_path(packs), CHAIN_LIMIT_BYTES)? else {
            return Ok(());
        };
        if list.is_empty() {
            return Ok(());
        }
        if list.len() < hash.len_in_hex() {
            self.warn("multi-pack-index chain file too small");
            return Ok(());
        }
        let count = list.len() / (hash.len_in_hex() + 1);
        for line in list.split(|byte| *byte == b'\n').take(count) {
            let id = ObjectId::from_hex(line).ok().filter(|id| id.kind() == hash);
            let Some(id) = id else {
                let line = String::from_utf8_lossy(line);
                let line = line.escape_debug();
                self.warn(&format!(
                    "invalid multi-pack-index chain: line '{line}' not a hash"
                ));
                break;
            };
            let path = chain_directory(packs).join(format!("multi-pack-index-{id}.midx"));
            if self.layers.layers.len() == MAX_LAYERS || !self.add(path, hash) {
                self.warn("unable to find all multi-pack index files");
                break;
            }
        }
        Ok(())
    }

    /// Adds the file at `path` on top; returns whether it can be used.
    fn add(&mut self, path: PathBuf, hash: gix_hash::Kind) -> bool {
        let file = match MultiPackIndex::open(&path, hash) {
            Ok(file) => file,
            Err(refusal) => {
                self.refused.push((path, refusal));
                return false;
            }
        };
        let (first_position, first_pack) = (self.layers.count(), self.layers.pack_count());
        let packs = file.names().len() as u64 + u64::from(first_pack);
        if first_position.checked_add(file.count()).is_none() || packs > u64::from(u32::MAX) {
            self.warn("object or pack count in base MIDX too high");
            return false;
        }
        self.layers.layers.push(Layer {
            path,
            file,
            first_position,
            first_pack,
        });
        true
    }

    fn warn(&mut self, warning: &str) {
        self.warnings.push(warning.to_owned());
    }

    /// What is wrong, in a sentence each.
    pub fn complaints(&self) -> impl Iterator<Item = String> + '_ {
        let refused = self
            .refused
            .iter()
            .map(|(path, reason)| format!("ignoring '{}': {reason}", path.display()));
        refused.chain(self.warnings.iter().cloned())
    }
}

impl Layers {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Layer> + '_ {
        self.layers.iter()
    }

    pub fn into_layers(self) -> Vec<Layer> {
        self.layers
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The newest layer, by whose checksum a bitmap is named.
    pub fn top(&self) -> Option<&Layer> {
        self.layers.last()
    }

    /// How many objects all layers have.
    pub fn count(&self) -> u32 {
        self.top().map_or(0, Layer::end)
    }

    /// How many packs all layers have.
    pub fn pack_count(&self) -> u32 {
        self.top().map_or(0, |layer| {
            layer.first_pack + layer.file.names().len() as u32
        })
    }

    /// The names of the packs' indexes, by the numbers of the packs.
    pub fn names(&self) -> impl Iterator<Item = &str> + '_ {
        let names = self.layers.iter().flat_map(|layer| layer.file.names());
        names.map(String::as_str)
    }

    /// The layer of the object at `position`, and the position in it.
    fn layer_of(&self, position: u32) -> Option<(&Layer, u32)> {
        let after = |layer: &Layer| layer.end() <= position;
        let layer = self.layers.get(self.layers.partition_point(after))?;
        Some((layer, position - layer.first_position))
    }

    /// The id at `position`.
    pub fn id(&self, position: u32) -> Option<&[u8]> {
        let (layer, position) = self.layer_of(position)?;
        layer.file.id(position)
    }

    /// The position of `id` in the newest layer that has it.
    pub fn position_of(&self, id: &[u8]) -> Option<u32> {
        self.layers.iter().rev().find_map(|layer| {
            let position = layer.file.position_of(id)?;
            Some(layer.first_position + position)
        })
    }

    /// The number of the pack of the object at `position`, and where its entry starts. `None` if
    /// the file does not say; the number may be out of range.
    pub fn row(&self, position: u32) -> Option<(u32, u64)> {
        let (layer, position) = self.layer_of(position)?;
        let (pack, offset) = layer.file.row(position)?;
        Some((layer.first_pack.checked_add(pack)?, offset))
    }
}

impl Layer {
    /// The position after its last.
    pub fn end(&self) -> u32 {
        self.first_position + self.file.count()
    }
}
