//! Why an object could not be read from one place, and where else it is.

use crate::database::store::ObjectStore;
use crate::error::Error;
use crate::fault::Fault;
use crate::loose;
use crate::object::Location;
use crate::object::Place;
use gix_hash::{oid, ObjectId};

/// Why, and at which copy of which object, building failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub at: Location,
    /// Known for loose objects, which are found by their id.
    pub id: Option<ObjectId>,
    pub fault: Fault,
}

impl Failure {
    pub fn new(place: Place, fault: Fault) -> Self {
        Failure {
            at: place.into(),
            id: None,
            fault,
        }
    }

    pub fn loose(directory: u32, id: ObjectId, fault: Fault) -> Self {
        Failure {
            at: Location::Loose { directory },
            id: Some(id),
            fault,
        }
    }

    /// The error for someone who asked for the object `id`.
    pub fn into_error(self, store: &ObjectStore, id: &oid) -> Error {
        let (id, base) = (id.to_owned(), self.id);
        let fault = self.fault;
        match self.at {
            Location::Packed { pack, offset } => Error::CorruptEntry {
                id,
                pack: store
                    .pack(pack)
                    .map(|pack| pack.path().to_owned())
                    .unwrap_or_default(),
                offset,
                fault,
            },
            Location::Loose { directory } => {
                let objects = store.directories.get(directory as usize);
                let objects = objects.map(std::path::PathBuf::as_path);
                let path = loose::path(objects.unwrap_or("".as_ref()), &base.unwrap_or(id));
                Error::CorruptLoose { id, path, fault }
            }
        }
    }
}

/// `location`, or if the copy there is among the `damaged`, that of another copy, with the object's
/// id. `id` is that, where it is known.
pub(crate) fn detour(
    store: &ObjectStore,
    location: Location,
    id: Option<ObjectId>,
    damaged: &[(Location, ObjectId)],
) -> Result<(Location, Option<ObjectId>), Failure> {
    // All loose objects of a directory share a location.
    let is_loose = location.place().is_none();
    let this =
        |known: &&(Location, ObjectId)| known.0 == location && (!is_loose || Some(known.1) == id);
    let Some((_, id)) = damaged.iter().find(this) else {
        return Ok((location, id));
    };
    loop {
        let seen = store.generations().count();
        let whole = |copy: &Location| !damaged.contains(&(*copy, *id));
        if let Some(other) = store.all_copies(id).find(whole) {
            return Ok((other, Some(*id)));
        }
        // A loose object is gone, not damaged, once somebody has packed it.
        if !store.relist(seen).unwrap_or(false) {
            return Err(Failure {
                at: location,
                id: Some(*id),
                fault: Fault::BaseMissing(*id),
            });
        }
    }
}
