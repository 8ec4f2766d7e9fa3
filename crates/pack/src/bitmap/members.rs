use crate::database::store::ObjectStore;
use crate::midx::{MultiPackIndex, Row};
use crate::object::Location;
use crate::pack_file::index::PackIndex;
use crate::pack_file::pack::Pack;
use gix_hash::{Kind, ObjectId};
use std::path::{Path, PathBuf};

/// The objects covered by bitmaps, in rows, which are in order of ids.
#[derive(Debug)]
pub(super) enum Members<'s> {
    Pack {
        pack: &'s Pack,
        /// The number of the pack in the store.
        number: u32,
        index: &'s PackIndex,
    },
    Midx(MidxMembers<'s>),
}

/// The objects of a multi-pack-index.
#[derive(Debug)]
pub(super) struct MidxMembers<'s> {
    pub store: &'s ObjectStore,
    pub file: &'s MultiPackIndex,
    pub path: &'s Path,
    /// The numbers of its packs in the store.
    pub packs: Vec<u32>,
    /// The number, in the file, of the preferred pack, whose objects come first.
    pub preferred: u32,
}

/// The sort key of an object: the rank of its pack in the order, and its offset in the pack.
pub(super) type Key = (u64, u64);

impl<'s> Members<'s> {
    pub fn count(&self) -> u32 {
        match self {
            Members::Pack { index, .. } => index.count(),
            Members::Midx(midx) => midx.file.count(),
        }
    }

    pub fn id(&self, row: u32) -> Option<&'s [u8]> {
        match self {
            Members::Pack { index, .. } => index.id(row),
            Members::Midx(midx) => midx.file.id(row),
        }
    }

    /// The row of `id`.
    pub fn row(&self, id: &[u8]) -> Option<u32> {
        match self {
            Members::Pack { index, .. } => {
                let (ids, data) = index.ids();
                ids.lookup(data, id)
            }
            Members::Midx(midx) => midx.file.position_of(id),
        }
    }

    pub fn location(&self, row: u32) -> Option<Location> {
        match self {
            Members::Pack { number, index, .. } => Some(Location::Packed {
                pack: *number,
                offset: index.offset(row)?,
            }),
            Members::Midx(midx) => {
                let (pack, offset) = midx.file.row(row)?;
                let pack = *midx.packs.get(pack as usize)?;
                Some(Location::Packed { pack, offset })
            }
        }
    }

    /// The sort key of the object in a row.
    pub fn key(&self, row: u32) -> Option<Key> {
        match self {
            Members::Pack { index, .. } => Some((0, index.offset(row)?)),
            Members::Midx(midx) => {
                let (pack, offset) = midx.file.row(row)?;
                let rank = if pack == midx.preferred {
                    0
                } else {
                    u64::from(pack) + 1
                };
                Some((rank, offset))
            }
        }
    }

    /// The pack with that number in the store.
    pub fn pack(&self, number: u32) -> Option<&'s Pack> {
        match self {
            Members::Pack { pack, .. } => Some(pack),
            Members::Midx(midx) => midx.store.pack(number),
        }
    }

    /// The object at `offset` of the pack with that number. The order may contain another copy of
    /// it.
    pub fn id_at(&self, number: u32, offset: u64) -> Option<ObjectId> {
        match self {
            Members::Pack { .. } => None,
            Members::Midx(midx) => {
                let entries = midx.store.pack_entries(number).ok()?;
                entries.id(entries.order_of(offset)?)
            }
        }
    }

    pub fn hash_kind(&self) -> Kind {
        match self {
            Members::Pack { pack, .. } => pack.hash_kind(),
            Members::Midx(midx) => midx.store.hash_kind(),
        }
    }

    /// The checksum of the pack or multi-pack-index.
    pub fn checksum(&self) -> &'s [u8] {
        match self {
            Members::Pack { index, .. } => index.pack_checksum(),
            Members::Midx(midx) => midx.file.checksum(),
        }
    }

    /// The pack or multi-pack-index.
    pub fn path(&self) -> &'s Path {
        match self {
            Members::Pack { pack, .. } => pack.path(),
            Members::Midx(midx) => midx.path,
        }
    }

    /// The path of the bitmaps of these objects.
    pub fn bitmap_path(&self) -> PathBuf {
        match self {
            Members::Pack { pack, .. } => pack.path().with_extension("bitmap"),
            Members::Midx(midx) => beside_midx(midx.path, midx.file, "bitmap"),
        }
    }
}

impl MidxMembers<'_> {
    /// The locations of the objects, in order of their ids. A location missing in the file is
    /// invalid.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        (0..self.file.count()).map(|row| {
            let (pack, offset) = self.file.row(row).unwrap_or((u32::MAX, 0));
            Row { pack, offset }
        })
    }
}

/// The path of an auxiliary file of the multi-pack-index `file` at `path`.
pub(super) fn beside_midx(path: &Path, file: &MultiPackIndex, extension: &str) -> PathBuf {
    let checksum = ObjectId::from_bytes_or_panic(file.checksum());
    path.with_file_name(format!("multi-pack-index-{checksum}.{extension}"))
}
