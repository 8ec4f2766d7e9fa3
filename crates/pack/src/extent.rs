use crate::entry::EntryKind;
use crate::object::Place;
use crate::{Location, Reader};
use gix_hash::oid;

/// How large an object is, as far as it matters to how it is best read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// No larger than the limit, or there is no telling: read it.
    Small,
    /// Larger, and can be streamed in constant memory.
    Streamable,
    /// Larger, and a delta: reading it takes as much memory as the object and its base.
    Delta,
}

/// A loose object whose file is smaller than this is taken for small: what it inflates to is not
/// known without reading it, but bounded by deflate's own limit of about a thousandfold.
const LOOSE_FILE_BYTES: u64 = 64 << 10;

impl Reader<'_> {
    /// Whether the object is larger than `limit` bytes, found out with as little reading as can
    /// be: nothing but the header of an entry, the start of a delta, or the length of a file.
    pub fn extent(&mut self, id: &oid, location: Location, limit: u64) -> Extent {
        match location {
            Location::Packed { pack, offset } => self.packed_extent(Place { pack, offset }, limit),
            Location::Loose { directory } => {
                let size = self.store.loose_file_size(directory, id).unwrap_or(0);
                if size < LOOSE_FILE_BYTES.min(limit) {
                    return Extent::Small;
                }
                match self.header(id, location) {
                    Ok(header) if header.size > limit => Extent::Streamable,
                    _ => Extent::Small,
                }
            }
        }
    }

    fn packed_extent(&mut self, place: Place, limit: u64) -> Extent {
        let pack = self.store.pack(place.pack);
        let Some(Ok((entry, _))) = pack.map(|pack| pack.entry(place.offset)) else {
            return Extent::Small;
        };
        match entry.kind {
            EntryKind::Whole(_) if entry.size > limit => Extent::Streamable,
            EntryKind::Whole(_) => Extent::Small,
            _ => match self.delta_result(place) {
                Ok(size) if size > limit => Extent::Delta,
                _ => Extent::Small,
            },
        }
    }
}
