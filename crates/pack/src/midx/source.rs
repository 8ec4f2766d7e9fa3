//! The sources of a multi-pack-index: indexes of packs, and the former multi-pack-index.

use super::layers::Layer;
use crate::pack_file::index::PackIndex;
use hedgerow_fs::FileKind;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A pack to be listed.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The file name of its index.
    pub name: String,
    /// The path of its index.
    pub path: PathBuf,
    /// Modification time, in seconds since the epoch.
    pub modified: i64,
    hash_len: usize,
    index: OnceCell<Result<PackIndex, String>>,
}

impl Candidate {
    /// The pack of the index `name` in `packs`; `None` if it does not exist.
    pub fn find(packs: &Path, name: &str, hash: gix_hash::Kind) -> Option<Self> {
        let path = packs.join(name);
        let stat = hedgerow_fs::stat(&path.with_extension("pack")).ok()??;
        (stat.kind == FileKind::File).then(|| Candidate {
            name: name.to_owned(),
            path,
            modified: stat.mtime.seconds,
            hash_len: hash.len_in_bytes(),
            index: OnceCell::new(),
        })
    }

    /// Its index, or the reason why it cannot be used.
    pub fn index(&self) -> Result<&PackIndex, &str> {
        let open = || PackIndex::open(&self.path, self.hash_len);
        let index = self.index.get_or_init(open);
        index.as_ref().map_err(String::as_str)
    }

    /// Number of objects; 0 if its index cannot be used.
    pub fn count(&self) -> u32 {
        self.index().map_or(0, PackIndex::count)
    }

    /// Whether `name` is the name of its index or of its pack.
    pub fn is_called(&self, name: &str) -> bool {
        let stem = |name: &'_ str| name.strip_suffix(".pack").map(str::to_owned);
        name == self.name || stem(name).as_deref() == self.name.strip_suffix(".idx")
    }
}

/// A sorted table of ids with the locations of their objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    table: Table<'s>,
    rank: (bool, Reverse<i64>, u32),
}

#[derive(Clone, Copy, Debug)]
enum Table<'s> {
    /// The index of the pack with that number.
    Pack(&'s PackIndex, u32),
    /// A former multi-pack-index, without the objects of the pack with that number.
    Former(&'s Layer, Option<u32>),
}

impl<'s> Source<'s> {
    /// All objects of the pack `number`, whose modification time is `modified`.
    pub fn pack(index: &'s PackIndex, number: u32, modified: i64, is_preferred: bool) -> Self {
        Source {
            table: Table::Pack(index, number),
            rank: (!is_preferred, Reverse(modified), number),
        }
    }

    /// The objects of `layer` except those of the pack `without`. As in git, they count as old.
    pub fn former(layer: &'s Layer, without: Option<u32>) -> Self {
        Source {
            table: Table::Former(layer, without),
            rank: (true, Reverse(0), layer.first_pack),
        }
    }

    /// The source with the lowest rank wins if an object is in several: the preferred pack, then
    /// the newest, then the first.
    pub fn rank(&self) -> impl Ord {
        self.rank
    }

    pub fn of_first_byte(&self, byte: u8) -> Range<u32> {
        match self.table {
            Table::Pack(index, _) => index.ids().0.of_first_byte(byte),
            Table::Former(layer, _) => layer.file.of_first_byte(byte),
        }
    }

    pub fn id(&self, position: u32) -> Option<&'s [u8]> {
        match self.table {
            Table::Pack(index, _) => index.id(position),
            Table::Former(layer, _) => layer.file.id(position),
        }
    }

    /// The pack number of the object at `position`, and the offset of its entry.
    pub fn row(&self, position: u32) -> Option<(u32, u64)> {
        match self.table {
            Table::Pack(index, number) => Some((number, index.offset(position)?)),
            Table::Former(layer, _) => {
                let (pack, offset) = layer.file.row(position)?;
                Some((layer.first_pack.checked_add(pack)?, offset))
            }
        }
    }

    /// Whether this source must not provide the object at `position`.
    pub fn skips(&self, position: u32) -> bool {
        match self.table {
            Table::Former(_, Some(without)) => {
                self.row(position).is_some_and(|(pack, _)| pack == without)
            }
            _ => false,
        }
    }
}
