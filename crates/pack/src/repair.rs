//! What happens when a copy of an object is damaged: another one of the store is used.

use crate::object::Place;
use crate::{loose, Error, Fault, Location, ObjectStore, Reader, Result};
use gix_hash::{oid, ObjectId};

/// How many damaged copies are worked around for one object.
const MAX_REPAIRS: usize = 16;

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

impl Reader<'_> {
    /// Runs `attempt` on `location`, and again around each copy that proves damaged, as long as
    /// the store has others. The first failure is the one that is told.
    pub(crate) fn repairing<T>(
        &mut self,
        id: &oid,
        location: Location,
        mut attempt: impl FnMut(&mut Self, Location) -> Result<T, Failure>,
    ) -> Result<T> {
        self.damaged.clear();
        let mut first: Option<Error> = None;
        loop {
            let failure = match attempt(self, location) {
                Ok(outcome) => return Ok(outcome),
                Err(failure) => failure,
            };
            let repairable = self.damaged.len() < MAX_REPAIRS;
            let damaged = self.blame(&failure, id, location);
            let error = failure.into_error(self.store, id);
            let error = first.take().unwrap_or(error);
            match damaged {
                Some(damaged) if repairable => {
                    self.damaged.push(damaged);
                    first = Some(error);
                }
                _ => return Err(error),
            }
        }
    }

    /// The copy to work around after `failure` to read `id` at `location`, and its object's id:
    /// the damaged one, or if there is no other copy of that, the nearest delta above it that has
    /// one.
    fn blame(
        &self,
        failure: &Failure,
        id: &oid,
        location: Location,
    ) -> Option<(Location, ObjectId)> {
        // A place that no index lists was never an entry: the delta that led there is damaged.
        let known = |at: Location| {
            if at == location {
                return Some((at, id.to_owned()));
            }
            let place = at.place()?;
            Some((at, self.store.pack(place.pack)?.id_at(place.offset)?))
        };
        let failed = match failure.id {
            Some(id) => Some((failure.at, id)),
            None => known(failure.at),
        };
        let above = self.chain.remaining().filter_map(|at| known(at.into()));
        let suspects: Vec<_> = failed.into_iter().chain(above).collect();
        let is_new = |suspect: &&(Location, ObjectId)| !self.damaged.contains(suspect);
        let has_other = |(at, id): &&(Location, ObjectId)| {
            let is_other = |copy: &Location| *copy != *at && !self.damaged.contains(&(*copy, *id));
            self.store.all_copies(id).any(|copy| is_other(&copy))
        };
        let mut untried = suspects.iter().filter(is_new);
        // What is nowhere else as far as is known may have been packed meanwhile.
        let found = untried.clone().find(has_other);
        found.or_else(|| untried.next()).copied()
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
