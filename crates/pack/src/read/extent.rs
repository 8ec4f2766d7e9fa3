use super::chain::Root;
use super::failure::Failure;
use super::reader::Reader;
use crate::delta::DeltaHeader;
use crate::error::Result;
use crate::fault::Fault;
use crate::object::Location;
use crate::pack_file::entry::EntryForm;
use gix_hash::oid;
use hedgerow_object::ObjectKind;

/// A loose object whose file is smaller than this is taken for small: what it inflates to is not
/// known without reading it, but bounded by deflate's own limit of about a thousandfold.
const LOOSE_FILE_BYTES: u64 = 64 << 10;

/// How large objects are, found out with as little reading as can be. What cannot be told, since
/// it is damaged, is told by reading it.
impl Reader<'_> {
    /// Whether the object is larger than `limit` bytes and can be streamed in constant memory: all
    /// objects but deltas can. The header of an entry is read, or the length of a file asked for.
    pub fn is_streamable(&mut self, id: &oid, location: Location, limit: u64) -> bool {
        match location {
            Location::Packed { pack, offset } => {
                let pack = self.store.pack(pack);
                let entry = pack.and_then(|pack| pack.entry(offset).ok());
                entry.is_some_and(|(entry, _)| {
                    matches!(entry.kind, EntryForm::Whole(_)) && entry.size > limit
                })
            }
            Location::Loose { directory } => {
                let size = self.store.loose_file_size(directory, id).unwrap_or(0);
                size >= LOOSE_FILE_BYTES.min(limit)
                    && matches!(self.header(id, location), Ok(header) if header.size > limit)
            }
        }
    }

    /// Whether the object is in a pack and takes more than `limit` bytes to read: it, or what its delta
    /// applies to. The header of its entry is read; of a delta, its start is inflated.
    pub fn is_large(&mut self, location: Location, limit: u64) -> bool {
        matches!(self.packed_extent(location), Ok(extent) if extent.largest() > limit)
    }

    /// Bytes of the content of the object `id`, which is at `location`: what its own header says,
    /// or the start of its delta. Neither its kind nor its delta bases are looked at.
    pub fn size_bytes(&mut self, id: &oid, location: Location) -> Result<u64> {
        match self.packed_size(location) {
            Ok(size) => Ok(size),
            // A loose object; or a damaged one, of which there may be another copy.
            Err(_) => Ok(self.header(id, location)?.size),
        }
    }

    /// The kind of the object `id`, which is at `location`: that of the end of its chain of deltas.
    /// Only headers are read.
    pub fn kind(&mut self, id: &oid, location: Location) -> Result<ObjectKind> {
        self.repairing(id, location, |reader, location| {
            match reader.walk_down(id, location)? {
                Root::Entry { kind, .. } => Ok(kind),
                Root::Shared(base) => Ok(base.kind),
                Root::Loose { directory, id } => {
                    let header = reader.loose_header(directory, &id);
                    let header = header.map_err(|fault| Failure::loose(directory, id, fault))?;
                    Ok(header.kind)
                }
            }
        })
    }

    fn packed_size(&mut self, location: Location) -> Result<u64, Fault> {
        Ok(match self.packed_extent(location)? {
            Extent::Whole(size) => size,
            Extent::Delta(header) => header.result,
        })
    }

    fn packed_extent(&mut self, location: Location) -> Result<Extent, Fault> {
        let place = location.place().ok_or(Fault::Outside)?;
        let pack = self.store.pack(place.pack).ok_or(Fault::Outside)?;
        let (entry, _) = pack.entry(place.offset)?;
        match entry.kind {
            EntryForm::Whole(_) => Ok(Extent::Whole(entry.size)),
            _ => self.delta_header(place).map(Extent::Delta),
        }
    }
}

/// What an entry says of lengths, in bytes.
enum Extent {
    Whole(u64),
    Delta(DeltaHeader),
}

impl Extent {
    fn largest(&self) -> u64 {
        match self {
            Extent::Whole(size) => *size,
            Extent::Delta(header) => header.source.max(header.result),
        }
    }
}
