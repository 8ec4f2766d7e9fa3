//! How objects are stored: bytes taken, and delta bases.

use super::store::ObjectStore;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::object::Location;
use crate::pack_file::entry::EntryForm;
use gix_hash::{oid, ObjectId};

impl ObjectStore {
    /// Whether the object `id` is in a pack that can be used.
    pub fn is_packed(&self, id: &oid) -> bool {
        let mut hint = None;
        let found = self.locate_packed(id, &mut hint);
        // What a multi-pack-index does not know may be in a pack all the same.
        matches!(found, Ok(Some(_)))
            || self
                .packs()
                .any(|(_, pack)| pack.usable_offset(id).is_some())
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
                found.map(Some).ok_or_else(|| corrupt(Fault::BaseOffset))
            }
        }
    }
}
