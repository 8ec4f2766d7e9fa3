//! The objects of a pack that is kept: everything that some objects reach, in the order for the
//! pack.

use crate::{Error, Result, Wanted};
use hedgerow_pack::{Location, ObjectId, ObjectKind, ObjectStore};
use hedgerow_reach::{
    walk_set, Met, NameHash, Objects, Request, Seen, SeenIds, Source, Tip, Visitor, Walk,
    WalkedCommit,
};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// The objects reachable from `tips`, found by `threads` threads and without bitmaps: with a wrong
/// bitmap, objects would be lost. Commits come newest first, then loose objects by name, then those
/// of packs, the newest pack first, in pack order.
///
/// # Errors
/// [`Error::Reach`] if a reachable object is missing or damaged.
pub fn reached(source: Source<'_>, tips: &[Tip], threads: usize) -> Result<Vec<Wanted>> {
    let request = Request {
        tips: tips.to_vec(),
        objects: Objects::All,
        ..Request::default()
    };
    let gathered = Gathered::new(source.store);
    walk_set(source, request, threads, &gathered)?;
    let met = gathered.into_met();
    let locations = locations(source.store, &met)?;
    let mut wanted = Vec::with_capacity(met.len());
    for (object, location) in met.into_iter().zip(locations) {
        let (id, kind, name_hash) = (object.id, object.kind, object.name_hash);
        match location {
            Some(location) => wanted.push(Wanted {
                id,
                location,
                kind,
                name_hash,
            }),
            // Git always knows the empty tree.
            None if id.is_empty_tree() => {}
            None => return Err(Error::Object(hedgerow_pack::Error::Missing { id })),
        }
    }
    name_tips(tips, &mut wanted);
    sort_by_place(&mut wanted);
    Ok(wanted)
}

/// Where each object of `met` is: in the main pack, if it is there.
fn locations(store: &ObjectStore, met: &[Found]) -> Result<Vec<Option<Location>>> {
    let main = store.main_pack();
    let in_main = |object: &Found| main?.location(object.position?);
    let mut locations: Vec<Option<Location>> = met.iter().map(in_main).collect();
    let open = || {
        locations
            .iter()
            .zip(met)
            .filter(|(found, _)| found.is_none())
    };
    let ids: Vec<ObjectId> = open().map(|(_, object)| object.id).collect();
    let mut others = store.locate_all(&ids).map_err(Error::Object)?.into_iter();
    for location in locations.iter_mut().filter(|found| found.is_none()) {
        *location = others.next().flatten();
    }
    Ok(locations)
}

/// Number of shards of the set, each with a lock of its own.
const SHARDS: usize = 64;

/// An object with its path hash when it was first met.
#[derive(Clone, Copy)]
struct Found {
    id: ObjectId,
    /// Its position in the main pack.
    position: Option<u32>,
    kind: ObjectKind,
    name_hash: u32,
}

/// The set into which threads insert the objects they meet.
struct Gathered {
    seen: SeenIds,
    /// A single thread meets the commits, newest first.
    commits: Mutex<Vec<Found>>,
    others: Vec<Mutex<Vec<Found>>>,
}

impl Gathered {
    fn new(store: &ObjectStore) -> Self {
        Gathered {
            seen: SeenIds::of(store),
            commits: Mutex::default(),
            others: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    fn into_met(self) -> Vec<Found> {
        let mut met = self
            .commits
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        for others in self.others {
            met.extend(others.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        met
    }
}

impl Seen for Gathered {
    fn insert(&self, object: Met<'_>) -> bool {
        if !self.seen.insert(object) {
            return false;
        }
        let last = object.id.as_bytes().last().expect("an id has bytes");
        let list = match object.kind {
            ObjectKind::Commit => &self.commits,
            _ => &self.others[usize::from(*last) % SHARDS],
        };
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Found {
            id: object.id.to_owned(),
            position: object.position,
            kind: object.kind,
            name_hash: object.name_hash,
        });
        true
    }
}

/// The objects that the walk described by `request` returns, in its order: for requests whose
/// answer depends on how objects are met.
///
/// # Errors
/// As [`reached`].
pub fn walked(source: Source<'_>, request: Request) -> Result<Vec<Wanted>> {
    let request = Request {
        objects: Objects::All,
        ..request
    };
    let mut collector = Collector {
        source,
        wanted: Vec::new(),
        error: None,
    };
    Walk::new(source, request)?.list(&mut collector)?;
    match collector.error {
        Some(error) => Err(error),
        None => Ok(collector.wanted),
    }
}

/// Sorts all objects but commits by their location; commits stay in their order and come first.
/// Loose objects, by name, count as the newest; then come packs, the newest first, in pack order.
/// So the order does not depend on which thread found an object.
fn sort_by_place(wanted: &mut Vec<Wanted>) {
    // Keys are moved faster than objects.
    let keys = wanted.iter().zip(0..);
    let mut keys: Vec<_> = keys
        .map(|(object, number)| match (object.kind, object.location) {
            (ObjectKind::Commit, _) => (0, 0, number),
            (_, Location::Loose { .. }) => (1, u64::from(object.name_hash), number),
            (_, Location::Packed { pack, offset }) => (2 + u64::from(pack), offset, number),
        })
        .collect();
    keys.sort_unstable();
    let object = |number: &usize| wanted.get(*number).copied();
    let loose = keys.partition_point(|(rank, ..)| *rank == 0);
    let end = keys.partition_point(|(rank, ..)| *rank <= 1);
    if let Some(loose) = keys.get_mut(loose..end) {
        let id = |number: &usize| object(number).map(|object| object.id);
        loose.sort_by_key(|(_, hash, number)| (*hash, id(number)));
    }
    *wanted = keys
        .iter()
        .filter_map(|(.., number)| object(number))
        .collect();
}

/// Sets the paths of the `tips` that have one.
fn name_tips(tips: &[Tip], wanted: &mut [Wanted]) {
    let named = tips.iter().filter(|tip| !tip.path.is_empty());
    let mut named: Vec<(ObjectId, u32)> =
        named.map(|tip| (tip.id, NameHash::of(&tip.path))).collect();
    if named.is_empty() {
        return;
    }
    named.sort_unstable();
    for object in wanted.iter_mut().filter(|object| object.name_hash == 0) {
        let at = named.partition_point(|(id, _)| *id < object.id);
        if let Some((id, hash)) = named.get(at) {
            if *id == object.id {
                object.name_hash = *hash;
            }
        }
    }
}

struct Collector<'s> {
    source: Source<'s>,
    wanted: Vec<Wanted>,
    error: Option<Error>,
}

impl Collector<'_> {
    fn add(&mut self, id: &ObjectId, kind: ObjectKind, name_hash: u32) -> ControlFlow<()> {
        match self.source.store.locate(id) {
            Ok(Some(location)) => self.wanted.push(Wanted {
                id: *id,
                location,
                kind,
                name_hash,
            }),
            Ok(None) if id.is_empty_tree() => {}
            Ok(None) => {
                let missing = hedgerow_pack::Error::Missing { id: *id };
                self.error = Some(missing.into());
                return ControlFlow::Break(());
            }
            Err(error) => {
                self.error = Some(error.into());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

impl Visitor for Collector<'_> {
    fn edge(&mut self, _: &ObjectId) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn commit(&mut self, walk: &Walk<'_>, found: WalkedCommit) -> ControlFlow<()> {
        let id = walk.commits().id(found.commit);
        self.add(&id, ObjectKind::Commit, 0)
    }

    fn object(&mut self, id: &ObjectId, kind: ObjectKind, name: &[u8]) -> ControlFlow<()> {
        self.add(id, kind, NameHash::of(name))
    }
}
