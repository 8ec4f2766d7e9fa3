//! The multi-pack-index of a pack directory: one file, or a chain of them.

use super::read::MultiPackIndex;
use super::refusal::Refusal;
use crate::error::Error;
use gix_hash::ObjectId;
use hedgerow_fs::Result;
use std::path::{Path, PathBuf};

/// Upper size limit of the list of layers, in bytes.
const CHAIN_LIMIT_BYTES: u64 = 1 << 20;
/// Maximum number of layers: a missing object is searched in each of them.
const MAX_LAYERS: usize = 1000;

/// The layers of a multi-pack-index, oldest first. Positions and pack numbers continue from one
/// layer to the next.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    layers: Vec<Layer>,
}

/// One file of a multi-pack-index.
#[derive(Debug)]
pub(crate) struct Layer {
    pub path: PathBuf,
    pub file: MultiPackIndex,
    /// Number of objects in the layers before it.
    pub first_position: u32,
    /// Number of packs in the layers before it.
    pub first_pack: u32,
}

/// The usable layers of a multi-pack-index, and the errors in others.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub layers: Layers,
    /// The files that cannot be used, with the reasons.
    pub refused: Vec<(PathBuf, Refusal)>,
    /// Errors in the chain, with git's messages.
    pub warnings: Vec<String>,
}

/// The file name of a multi-pack-index that is not a chain.
pub(crate) const PLAIN_NAME: &str = "multi-pack-index";

/// The path of the single-file multi-pack-index of the pack directory `packs`.
pub(crate) fn plain_path(packs: &Path) -> PathBuf {
    packs.join(PLAIN_NAME)
}

/// The path of the directory of layers.
pub(crate) fn chain_directory(packs: &Path) -> PathBuf {
    packs.join("multi-pack-index.d")
}

/// The path of the file that lists the layers.
pub(crate) fn chain_path(packs: &Path) -> PathBuf {
    chain_directory(packs).join("multi-pack-index-chain")
}

/// The error of the multi-pack-index of the pack directory `packs`.
pub(crate) fn failed(packs: &Path, reason: String) -> Error {
    let path = plain_path(packs);
    Error::MultiPackIndex { path, reason }
}

impl Loaded {
    /// Maps the multi-pack-index of the pack directory `packs`. As in git, the single file has
    /// precedence over a chain, and if a layer of a chain cannot be used, only the layers before it
    /// are used.
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

    /// Adds the file at `path` as the top layer; returns whether it can be used.
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

    /// All errors, one message each.
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

    /// The newest layer, whose checksum names the bitmap.
    pub fn top(&self) -> Option<&Layer> {
        self.layers.last()
    }

    /// Number of objects in all layers.
    pub fn count(&self) -> u32 {
        self.top().map_or(0, Layer::end)
    }

    /// Number of packs in all layers.
    pub fn pack_count(&self) -> u32 {
        self.top().map_or(0, |layer| {
            layer.first_pack + layer.file.names().len() as u32
        })
    }

    /// The names of the packs' indexes, in order of pack numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> + '_ {
        let names = self.layers.iter().flat_map(|layer| layer.file.names());
        names.map(String::as_str)
    }

    /// The layer of the object at `position`, and its position within the layer.
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

    /// The pack number of the object at `position`, and the offset of its entry. `None` if the file
    /// is damaged; the number may be out of range.
    pub fn row(&self, position: u32) -> Option<(u32, u64)> {
        let (layer, position) = self.layer_of(position)?;
        let (pack, offset) = layer.file.row(position)?;
        Some((layer.first_pack.checked_add(pack)?, offset))
    }
}

impl Layer {
    /// The position after its last object.
    pub fn end(&self) -> u32 {
        self.first_position + self.file.count()
    }
}
