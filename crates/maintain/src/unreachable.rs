//! Unreachable objects.

use crate::Observer;
use crate::Result;
use hedgerow_codec::Deflater;
use hedgerow_fs::Timestamp;
use hedgerow_git::repository::Repository;
use hedgerow_object::{CommitRef, TagRef, TreeEntries};
use hedgerow_pack::{is_kept, write_loose, ObjectId, ObjectKind, ObjectStore, Reader};
use hedgerow_serve::{objects_of_pack, own_loose_objects, Selector, Wanted};
use std::collections::HashSet;

/// Adds the objects of the packs of the own directory without a `.keep` file, except those that are
/// left out.
pub fn add_packed(
    repository: &Repository,
    selector: &Selector<'_>,
    wanted: &mut Vec<Wanted>,
) -> Result<()> {
    let mut known = ids(wanted);
    let store = repository.objects();
    for (number, path, _) in store.pack_files() {
        if store.is_local_pack(number) && !is_kept(path)? {
            for object in objects_of_pack(store, number)? {
                if known.insert(object.id) && !selector.leaves_out(&object.id) {
                    wanted.push(object);
                }
            }
        }
    }
    Ok(())
}

/// Adds the loose objects of the own directory.
pub fn add_loose(
    repository: &Repository,
    wanted: &mut Vec<Wanted>,
    observer: &dyn Observer,
) -> Result<()> {
    let mut known = ids(wanted);
    let mut warn = |warning: String| observer.warn(&warning);
    for object in own_loose_objects(repository.objects(), &mut warn)? {
        if known.insert(object.id) {
            wanted.push(object);
        }
    }
    Ok(())
}

/// The limits of a walk.
#[derive(Default)]
pub struct Limits {
    /// Objects of these packs are not entered.
    pub ends: Vec<u32>,
    /// Of the commits in these packs only the parents are followed.
    pub passed: Vec<u32>,
}

/// Adds the existing objects that `starts` reach, within `limits`. Missing and broken objects are
/// not followed.
pub fn follow(
    store: &ObjectStore,
    starts: Vec<Wanted>,
    limits: &Limits,
    wanted: &mut Vec<Wanted>,
) -> Result<()> {
    let mut known = ids(wanted);
    let mut met = ids(&starts);
    let mut reader = Reader::with_recent(store, 16 << 20);
    let mut pending = starts;
    while let Some(object) = pending.pop() {
        let is_in = |number: &u32| store.offset_in_pack(*number, &object.id).is_some();
        if limits.ends.iter().any(is_in) {
            continue;
        }
        let is_passed = object.kind == ObjectKind::Commit && limits.passed.iter().any(is_in);
        if !is_passed && known.insert(object.id) {
            wanted.push(object);
        }
        for (id, kind) in links(&mut reader, &object) {
            let is_parent = kind == Some(ObjectKind::Commit);
            if (is_parent || !is_passed) && met.insert(id) {
                pending.extend(placed(store, &mut reader, id, kind));
            }
        }
    }
    Ok(())
}

/// The existing objects that `starts` reach, without entering those in `known`.
pub fn follow_besides(
    store: &ObjectStore,
    starts: Vec<Wanted>,
    known: &HashSet<ObjectId>,
) -> Vec<ObjectId> {
    let mut met = ids(&starts);
    let mut reader = Reader::new(store);
    let mut pending = starts;
    let mut found = Vec::new();
    while let Some(object) = pending.pop() {
        found.push(object.id);
        for (id, kind) in links(&mut reader, &object) {
            if !known.contains(&id) && met.insert(id) {
                pending.extend(placed(store, &mut reader, id, kind));
            }
        }
    }
    found
}

/// The object with its location, kind and path hash, if it exists.
fn placed(
    store: &ObjectStore,
    reader: &mut Reader<'_>,
    id: ObjectId,
    kind: Option<ObjectKind>,
) -> Option<Wanted> {
    let location = store.locate(&id).ok()??;
    let kind = match kind {
        Some(kind) => kind,
        None => reader.header(&id, location).ok()?.kind,
    };
    Some(Wanted {
        id,
        location,
        kind,
        name_hash: 0,
    })
}

/// The objects that `object` refers to, with their kinds if they are given.
fn links(reader: &mut Reader<'_>, object: &Wanted) -> Vec<(ObjectId, Option<ObjectKind>)> {
    let mut found = Vec::new();
    if object.kind == ObjectKind::Blob {
        return found;
    }
    let Ok((kind, content)) = reader.read(&object.id, object.location) else {
        return found;
    };
    match kind {
        ObjectKind::Commit => {
            if let Ok(commit) = CommitRef::parse(&object.id, content) {
                found.push((commit.tree(), Some(ObjectKind::Tree)));
                let parents = commit.parents();
                found.extend(parents.map(|parent| (parent, Some(ObjectKind::Commit))));
            }
        }
        ObjectKind::Tag => {
            if let Ok(tag) = TagRef::parse(&object.id, content) {
                found.push((tag.target, None));
            }
        }
        ObjectKind::Tree => {
            let mut entries = TreeEntries::new(content, object.id.kind());
            while let Ok(Some(entry)) = entries.next_entry() {
                let kind = entry.object_kind();
                found.extend(kind.map(|kind| (entry.id.to_owned(), Some(kind))));
            }
        }
        ObjectKind::Blob => {}
    }
    found
}

/// Selects the objects to make loose.
pub struct Loosening<'l> {
    /// The packs that will be deleted.
    pub packs: &'l [u32],
    /// The objects in the new packs.
    pub packed: &'l HashSet<ObjectId>,
    /// Objects that remain elsewhere are left out.
    pub staying: Selector<'l>,
    /// Objects of packs last changed before this time, in seconds since 1970, are not made loose,
    pub expiry: Option<i64>,
    /// except for those that a younger object reaches.
    pub recent: HashSet<ObjectId>,
}

impl Loosening<'_> {
    /// The objects to make loose, and the modification times of their packs.
    pub fn objects(&self, store: &ObjectStore) -> Result<Vec<(Wanted, Timestamp)>> {
        let mut met = HashSet::new();
        let mut found = Vec::new();
        for number in self.packs {
            let path = store.pack_path(*number).unwrap_or("".as_ref());
            let stat = hedgerow_fs::stat(path)?;
            let mtime = stat.map_or_else(hedgerow_fs::file_time, |stat| stat.mtime);
            let has_expired = self.expiry.is_some_and(|expiry| mtime.seconds <= expiry);
            for object in objects_of_pack(store, *number)? {
                let stays = self.packed.contains(&object.id)
                    || has_expired && !self.recent.contains(&object.id)
                    || self.staying.leaves_out(&object.id);
                if !stays && met.insert(object.id) {
                    found.push((object, mtime));
                }
            }
        }
        Ok(found)
    }
}

/// Makes `objects` loose, with their ages.
pub fn loosen(store: &ObjectStore, objects: &[(Wanted, Timestamp)], level: i32) -> Result<()> {
    let mut reader = Reader::new(store);
    let mut deflater = Deflater::new(level);
    for (object, mtime) in objects {
        let (kind, content) = reader.read(&object.id, object.location)?;
        let directory = store.directory();
        write_loose(directory, &object.id, kind, content, &mut deflater, *mtime)?;
    }
    Ok(())
}

fn ids(wanted: &[Wanted]) -> HashSet<ObjectId> {
    wanted.iter().map(|object| object.id).collect()
}
