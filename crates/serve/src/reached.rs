//! The objects of a pack that is kept: everything that some objects reach, in the order for the
//! pack.

use crate::{Error, Result, Wanted};
use hedgerow_pack::{oid, Location, ObjectId, ObjectKind};
use hedgerow_reach::{
    walk_set, NameHash, Objects, Request, Seen, SeenIds, Source, Tip, Visitor, Walk, WalkedCommit,
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
    let gathered = Gathered::default();
    walk_set(source, request, threads, &gathered)?;
    let met = gathered.into_met();
    let ids: Vec<ObjectId> = met.iter().map(|object| object.id).collect();
    let locations = source.store.locate_all(&ids).map_err(Error::Object)?;
    let mut wanted = Vec::with_capacity(ids.len());
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

/// Number of shards of the set, each with a lock of its own.
const SHARDS: usize = 64;

/// An object with its path hash when it was first met.
#[derive(Clone, Copy)]
struct Met {
    id: ObjectId,
    kind: ObjectKind,
    name_hash: u32,
}

/// The set into which threads insert the objects they meet.
struct Gathered {
    seen: SeenIds,
    /// A single thread meets the commits, newest first.
    commits: Mutex<Vec<Met>>,
    others: Vec<Mutex<Vec<Met>>>,
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered {
            seen: SeenIds::default(),
            commits: Mutex::default(),
            others: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }
}

impl Gathered {
    fn into_met(self) -> Vec<Met> {
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
    fn insert(&self, id: &oid, kind: ObjectKind, name_hash: u32) -> bool {
        if !self.seen.insert(id, kind, name_hash) {
            return false;
        }
        let last = id.as_bytes().last().expect("an id has bytes");
        let list = match kind {
            ObjectKind::Commit => &self.commits,
            _ => &self.others[usize::from(*last) % SHARDS],
        };
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Met {
            id: id.to_owned(),
            kind,
            name_hash,
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
fn sort_by_place(wanted: &mut [Wanted]) {
    wanted.sort_by_key(|object| match (object.kind, object.location) {
        (ObjectKind::Commit, _) => (0, 0, 0, None),
        (_, Location::Loose { .. }) => (1, u64::from(object.name_hash), 0, Some(object.id)),
        (_, Location::Packed { pack, offset }) => (2, u64::from(pack), offset, None),
    });
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
