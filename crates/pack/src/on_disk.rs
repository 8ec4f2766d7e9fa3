//! How objects are stored: bytes taken, delta bases, and what a pack holds in its own order.

use crate::entry::EntryForm;
use crate::locate::usable_offset;
use crate::pack::Pack;
use crate::{loose, Error, Location, ObjectStore, Result};
use gix_hash::{oid, ObjectId};

/// An object as a pack holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedEntry {
    /// Its position among the ids of the pack's index.
    pub position: u32,
    /// Where its entry starts, in bytes from the start of the pack.
    pub offset: u64,
    /// Bytes of the entry.
    pub size_bytes: u64,
}

impl ObjectStore {
    /// How many objects the pack `number` has; 0 if it cannot be used.
    pub fn pack_object_count(&self, number: u32) -> u32 {
        let pack = self.pack(number).filter(|pack| pack.data().is_ok());
        let index = pack.and_then(|pack| pack.index().ok());
        index.map_or(0, |index| index.count())
    }

    /// The id of the object at `position`, in order of ids, of the pack `number`.
    pub fn pack_object_id(&self, number: u32, position: u32) -> Option<&oid> {
        let index = self.pack(number)?.index().ok()?;
        oid::try_from_bytes(index.id(position)?).ok()
    }

    /// Packs that are there and cannot be used, and why, or whose index is damaged: each index is
    /// hashed. What packs list is not all that there is then, or not what there is.
    pub fn damaged_packs(&self) -> Vec<String> {
        let damage = |(_, pack): (u32, &Pack)| {
            let index = pack.path().with_extension("idx");
            let (path, reason) = match pack.whole_index() {
                Err(reason) => (index.as_path(), reason),
                Ok(_) => (pack.path(), pack.data().err()?),
            };
            let is_there = hedgerow_fs::exists(path);
            is_there.then(|| format!("cannot use '{}': {reason}", path.display()))
        };
        self.packs().filter_map(damage).collect()
    }

    /// The entries of the pack `number`, in order of offsets; nothing if it cannot be used. What
    /// its index says twice is there twice.
    pub fn sizes_in_pack(&self, number: u32) -> Vec<PackedEntry> {
        let usable = self.pack(number).filter(|pack| pack.data().is_ok());
        usable.map(Pack::entries).unwrap_or_default()
    }

    /// The numbers of the packs that came from the remote of a partial clone, which has promised
    /// what they refer to: beside them is a `.promisor` file.
    pub fn promisor_packs(&self) -> Vec<u32> {
        let marked = |pack: &Pack| hedgerow_fs::exists(&pack.path().with_extension("promisor"));
        self.packs()
            .filter_map(|(number, pack)| marked(pack).then_some(number))
            .collect()
    }

    /// Whether the object `id` is in a pack that can be used.
    pub fn is_packed(&self, id: &oid) -> bool {
        let mut hint = None;
        let found = self.locate_packed(id, &mut hint);
        // What a multi-pack-index does not know may be in a pack all the same.
        matches!(found, Ok(Some(_)))
            || self
                .packs()
                .any(|(_, pack)| usable_offset(pack, id).is_some())
    }

    /// Where the pack `number` has the object `id`, if it does and can be used.
    pub fn offset_in_pack(&self, number: u32, id: &oid) -> Option<u64> {
        usable_offset(self.pack(number)?, id)
    }

    /// The loose objects of the store's own directory whose ids start with `byte`, in order of
    /// ids.
    pub fn own_loose_objects(&self, byte: u8) -> Result<Vec<ObjectId>> {
        let mut found = loose::list(self.directory(), byte, self.options.hash)?;
        found.sort_unstable();
        Ok(found)
    }

    /// The file that the loose object `id` of the store's own directory has or would have.
    pub fn own_loose_path(&self, id: &oid) -> std::path::PathBuf {
        loose::path(self.directory(), id)
    }

    /// The loose objects of all object directories whose ids start with `byte`, in order of ids,
    /// each once.
    pub fn loose_objects(&self, byte: u8) -> Result<Vec<ObjectId>> {
        let mut found = Vec::new();
        for directory in &self.directories {
            found.extend(loose::list(directory, byte, self.options.hash)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Bytes that the object `id`, which is at `location`, takes: of its entry in a pack, or of
    /// its file.
    pub fn size_on_disk(&self, id: &oid, location: Location) -> Result<u64> {
        let size = match location {
            Location::Packed { pack, offset } => {
                let pack = self.pack(pack).ok_or(Error::ForeignLocation)?;
                pack.entry_size(offset)
            }
            Location::Loose { directory } => self.loose_file_size(directory, id),
        };
        size.ok_or_else(|| Error::Missing { id: id.to_owned() })
    }

    /// The object that the object at `location` is stored as a delta against, if it is.
    ///
    /// # Errors
    /// [`Error::CorruptEntry`] if it cannot be found out.
    pub fn delta_base(&self, id: &oid, location: Location) -> Result<Option<ObjectId>> {
        let Location::Packed { pack, offset } = location else {
            return Ok(None);
        };
        let pack = self.pack(pack).ok_or(Error::ForeignLocation)?;
        let corrupt = |fault| Error::CorruptEntry {
            id: id.to_owned(),
            pack: pack.path().to_owned(),
            offset,
            fault,
        };
        let (entry, _) = pack.entry(offset).map_err(corrupt)?;
        match entry.kind {
            EntryForm::Whole(_) => Ok(None),
            EntryForm::ReferenceDelta(base) => Ok(Some(base)),
            EntryForm::OffsetDelta(base) => {
                let found = pack.id_at(base);
                found
                    .map(Some)
                    .ok_or_else(|| corrupt(crate::Fault::BaseOffset))
            }
        }
    }
}

impl Pack {
    fn entries(&self) -> Vec<PackedEntry> {
        let (Ok(index), Ok(data)) = (self.index(), self.data()) else {
            return Vec::new();
        };
        let entry = |position| {
            let offset = index.offset(position)?;
            Some((offset, position))
        };
        let reversed = self.reverse().and_then(|reverse| {
            let order = 0..index.count();
            let found: Option<Vec<_>> =
                order.map(|order| entry(reverse.position(order)?)).collect();
            found.filter(|found| found.is_sorted_by(|a, b| a.0 < b.0))
        });
        let sorted = reversed.unwrap_or_else(|| {
            let mut found: Vec<_> = (0..index.count()).filter_map(entry).collect();
            found.sort_unstable();
            found
        });
        let ends = sorted.iter().skip(1).map(|(offset, _)| *offset);
        let ends = ends.chain([data.len() as u64]);
        let size = |((offset, position), end): (&(u64, u32), u64)| PackedEntry {
            position: *position,
            offset: *offset,
            size_bytes: end.saturating_sub(*offset),
        };
        sorted.iter().zip(ends).map(size).collect()
    }

    /// Bytes of the entry at `offset`; `None` if there is no such entry.
    fn entry_size(&self, offset: u64) -> Option<u64> {
        let index = self.index().ok()?;
        let end = self.data().ok()?.len() as u64;
        let next = self.next_offset(index, offset)?.unwrap_or(end);
        next.min(end).checked_sub(offset)
    }
}
