//! What happens when a copy of an object is damaged: another one of the store is used.

use super::failure::Failure;
use super::reader::Reader;
use crate::error::{Error, Result};
use crate::object::Location;
use gix_hash::{oid, ObjectId};

/// How many damaged copies are worked around for one object.
const MAX_REPAIRS: usize = 16;

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
