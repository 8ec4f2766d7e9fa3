use super::bases::base_of;
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
/// So many deltas are followed to find out how large their root is, for each object: Git makes chains
/// of 50, and of 250 where it takes its time.
const CHAIN_LIMIT: u32 = 256;

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

    /// The end of the chain of deltas of an object in a pack, which may be itself, if more than `limit`
    /// bytes are held to read it: it, what its delta applies to, or that end. Headers of entries are
    /// read, a few hundred at most; of its delta, the start is inflated. `None` otherwise.
    pub fn large_root(&mut self, location: Location, limit: u64) -> Option<Location> {
        let mut largest = match self.packed_extent(location).ok()? {
            Extent::Whole(size) => size,
            Extent::Delta(header) => header.source.max(header.result),
        };
        let mut root = location.place()?;
        for _ in 0..CHAIN_LIMIT {
            let Some(base) = base_of(self.store, root) else {
                let (entry, _) = self.store.pack(root.pack)?.entry(root.offset).ok()?;
                largest = largest.max(entry.size);
                break;
            };
            root = base;
        }
        (largest > limit).then_some(root.into())
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
