//! Objects that nothing needs to reach: those of the own directory, and what some objects reach one by
//! one, as far as it is there.

use crate::{objects_of_pack, own_loose_objects, Result, Selector, Wanted};
use hedgerow_git::repository::Repository;
use hedgerow_object::{CommitRef, TagRef, TreeEntries};
use hedgerow_pack::{is_kept, ObjectId, ObjectKind, ObjectStore, Reader};
use std::collections::HashSet;

/// Adds the objects of the packs of the own directory that have no `.keep` file, except what
/// `selector` leaves out.
///
/// # Errors
/// If a pack cannot be used.
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

/// Adds the loose objects of the own directory. `warn` is told of those that cannot be read.
///
/// # Errors
/// If a directory cannot be listed.
pub fn add_loose(
    repository: &Repository,
    wanted: &mut Vec<Wanted>,
    warn: &dyn Fn(String),
) -> Result<()> {
    let mut known = ids(wanted);
    for object in own_loose_objects(repository.objects(), &mut |warning| warn(warning))? {
        if known.insert(object.id) {
            wanted.push(object);
        }
    }
    Ok(())
}

/// Where [`follow`] does not go.
#[derive(Default)]
pub struct FollowLimits {
    /// What these packs have is not entered.
    pub ends: Vec<u32>,
    /// Of the commits in these packs only the parents are followed.
    pub passed: Vec<u32>,
}

/// Adds the existing objects that `starts` reach, within `limits`. Missing and broken objects are
/// not followed.
pub fn follow(
    store: &ObjectStore,
    starts: Vec<Wanted>,
    limits: &FollowLimits,
    wanted: &mut Vec<Wanted>,
) {
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

fn ids(wanted: &[Wanted]) -> HashSet<ObjectId> {
    wanted.iter().map(|object| object.id).collect()
}
