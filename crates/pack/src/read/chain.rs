use super::bases::Base;
use super::failure::{detour, Failure};
use crate::database::store::ObjectStore;
use crate::fault::Fault;
use crate::object::Location;
use crate::object::Place;
use crate::pack_file::entry::EntryForm;
use gix_hash::{oid, ObjectId};
use hedgerow_object::ObjectKind;

/// The deltas between an object and the first thing below it that can be had whole.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The object's own delta first.
    deltas: Vec<Place>,
}

/// What a chain of deltas stands on.
#[derive(Debug)]
pub(crate) enum Root {
    /// A whole entry of a pack.
    Entry { place: Place, kind: ObjectKind },
    /// A loose object.
    Loose { directory: u32, id: ObjectId },
    /// A base that another reader has built.
    Shared(Base),
}

impl Chain {
    /// Walks from the object `id` at `location` down to its root, around `damaged` copies. `take`
    /// may have bases that are built already.
    pub fn walk(
        &mut self,
        store: &ObjectStore,
        id: &oid,
        location: Location,
        mut take: impl FnMut(Place) -> Option<Base>,
        damaged: &[(Location, ObjectId)],
    ) -> Result<Root, Failure> {
        self.deltas.clear();
        let mut id = Some(id.to_owned());
        let mut location = location;
        // Brent's way to see a loop without remembering it: compare with a place further up,
        // which moves down whenever the distance has doubled.
        let (mut mark, mut distance, mut limit) = (location, 0_u64, 1_u64);
        loop {
            if !damaged.is_empty() {
                (location, id) = detour(store, location, id, damaged)?;
            }
            let place = match location {
                Location::Packed { pack, offset } => Place { pack, offset },
                Location::Loose { directory } => {
                    // Only an object that was asked for by its id is found loose.
                    let id = id.unwrap_or(ObjectId::null(store.options.hash));
                    return Ok(Root::Loose { directory, id });
                }
            };
            if let Some(base) = take(place) {
                return Ok(Root::Shared(base));
            }
            let pack = store
                .pack(place.pack)
                .ok_or(Failure::new(place, Fault::Outside))?;
            let (entry, _) = pack
                .entry(place.offset)
                .map_err(|e| Failure::new(place, e))?;
            match entry.kind {
                EntryForm::Whole(kind) => return Ok(Root::Entry { place, kind }),
                EntryForm::OffsetDelta(offset) => {
                    let pack = place.pack;
                    (location, id) = (Location::Packed { pack, offset }, None);
                }
                EntryForm::ReferenceDelta(base) => {
                    let found = store.locate_base(place.pack, &base).ok().flatten();
                    let missing = || Failure::new(place, Fault::BaseMissing(base));
                    (location, id) = (found.ok_or_else(missing)?, Some(base));
                }
            }
            self.deltas.push(place);
            if location == mark {
                return Err(Failure::new(place, Fault::Loop));
            }
            distance += 1;
            if distance == limit {
                (mark, distance, limit) = (location, 0, limit * 2);
            }
        }
    }

    /// Takes the delta that is to be applied next, nearest to the root first.
    pub fn pop(&mut self) -> Option<Place> {
        self.deltas.pop()
    }

    /// The deltas that are still to be applied, nearest to the root first.
    pub fn remaining(&self) -> impl Iterator<Item = Place> + '_ {
        self.deltas.iter().rev().copied()
    }

    /// The object's own delta, if it is one.
    pub fn first(&self) -> Option<Place> {
        self.deltas.first().copied()
    }
}
