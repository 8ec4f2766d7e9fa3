//! The objects of packs and loose objects, reachable or not, with the paths of those that are
//! reachable from others in the list.

use crate::{Error, Result, Wanted};
use hedgerow_object::{CommitRef, TreeEntries};
use hedgerow_pack::{oid, Location, ObjectId, ObjectKind, ObjectStore, Reader};
use hedgerow_reach::NameHash;
use std::collections::HashMap;

/// Size of the reader's cache of recently read trees, in bytes.
const RECENT_BYTES: usize = 16 << 20;
/// Objects in trees nested deeper than this get no paths.
const NESTING_LIMIT: usize = 2048;

/// The objects of the pack `number`, in pack order.
///
/// # Errors
/// [`Error::Unusable`] if the pack cannot be used.
pub fn objects_of_pack(store: &ObjectStore, number: u32) -> Result<Vec<Wanted>> {
    let path = store.pack_path(number).unwrap_or("".as_ref());
    let unusable = |reason: String| Error::Unusable {
        pack: path.to_owned(),
        reason,
    };
    let order = store.pack_order(number);
    let order = order.map_err(|reason| unusable(reason.to_owned()))?;
    let kinds = order.kinds();
    let kinds = kinds.map_err(|(offset, fault)| unusable(format!("offset {offset}: {fault}")))?;
    let [commits, trees, blobs, _] = &kinds;
    let object = |bit: u32| {
        let kind = match bit {
            bit if commits.contains(bit) => ObjectKind::Commit,
            bit if trees.contains(bit) => ObjectKind::Tree,
            bit if blobs.contains(bit) => ObjectKind::Blob,
            _ => ObjectKind::Tag,
        };
        Some(Wanted {
            id: order.id(bit)?.to_owned(),
            location: order.location(bit)?,
            kind,
            name_hash: 0,
        })
    };
    let objects: Option<Vec<Wanted>> = (0..order.count()).map(object).collect();
    objects.ok_or_else(|| unusable("its index is damaged".into()))
}

/// The loose objects of the own directory of `store`. Unreadable objects are passed to `warn` and
/// left out.
///
/// # Errors
/// If a directory cannot be listed.
pub fn own_loose_objects(store: &ObjectStore, warn: &mut dyn FnMut(String)) -> Result<Vec<Wanted>> {
    let mut reader = Reader::new(store);
    let mut found = Vec::new();
    for byte in 0..=u8::MAX {
        for id in store.own_loose_objects(byte)? {
            let location = Location::Loose { directory: 0 };
            match reader.header(&id, location) {
                Ok(header) => found.push(Wanted {
                    id,
                    location,
                    kind: header.kind,
                    name_hash: 0,
                }),
                Err(_) => {
                    let path = store.own_loose_path(&id);
                    let path = path.display();
                    warn(format!("loose object at {path} could not be examined"));
                }
            }
        }
    }
    Ok(found)
}

/// Sets the path hashes of `wanted` objects that have none. Each tree in the list is read once,
/// from the trees of its commits down. The paths only help the delta search: unreadable objects get
/// none.
pub fn name_objects(store: &ObjectStore, wanted: &mut [Wanted]) {
    let places: HashMap<ObjectId, usize> = wanted
        .iter()
        .enumerate()
        .map(|(at, object)| (object.id, at))
        .collect();
    let mut naming = Naming {
        reader: Reader::with_recent(store, RECENT_BYTES),
        places,
        is_met: vec![false; wanted.len()],
        pending: Vec::new(),
    };
    for at in 0..wanted.len() {
        let Some(object) = wanted.get(at).copied() else {
            continue;
        };
        if object.kind == ObjectKind::Commit {
            if let Some(tree) = naming.tree_of(&object) {
                naming.pending.push((tree, NameHash::default(), 0));
            }
        }
        while let Some((tree, path, depth)) = naming.pending.pop() {
            naming.enter(&tree, path, depth, wanted);
        }
    }
}

struct Naming<'s> {
    reader: Reader<'s>,
    places: HashMap<ObjectId, usize>,
    is_met: Vec<bool>,
    pending: Vec<(ObjectId, NameHash, usize)>,
}

impl Naming<'_> {
    fn tree_of(&mut self, commit: &Wanted) -> Option<ObjectId> {
        let (kind, content) = self.reader.read(&commit.id, commit.location).ok()?;
        if kind != ObjectKind::Commit {
            return None;
        }
        Some(CommitRef::parse(&commit.id, content).ok()?.tree())
    }

    /// Names the entries of `tree`, if it is in the list and not done yet.
    fn enter(&mut self, tree: &oid, path: NameHash, depth: usize, wanted: &mut [Wanted]) {
        let Some(at) = self.meet(tree) else { return };
        let Some(object) = wanted.get_mut(at) else {
            return;
        };
        object.name_hash = path.value();
        let (id, location) = (object.id, object.location);
        let Ok((ObjectKind::Tree, content)) = self.reader.read(&id, location) else {
            return;
        };
        let mut directory = path;
        if depth > 0 {
            directory.add(b"/");
        }
        let mut entries = TreeEntries::new(content, id.kind());
        while let Ok(Some(entry)) = entries.next_entry() {
            let mut path = directory;
            path.add(entry.name);
            let Some(at) = self.places.get(entry.id).copied() else {
                continue;
            };
            match entry.object_kind() {
                Some(ObjectKind::Tree) if depth < NESTING_LIMIT => {
                    self.pending.push((entry.id.to_owned(), path, depth + 1));
                }
                Some(ObjectKind::Blob) if self.is_met.get(at) == Some(&false) => {
                    self.is_met[at] = true;
                    if let Some(object) = wanted.get_mut(at) {
                        object.name_hash = path.value();
                    }
                }
                _ => {}
            }
        }
    }

    /// The index of an object in the list, if it is met for the first time.
    fn meet(&mut self, id: &oid) -> Option<usize> {
        let at = *self.places.get(id)?;
        let met = self.is_met.get_mut(at)?;
        if std::mem::replace(met, true) {
            None
        } else {
            Some(at)
        }
    }
}
