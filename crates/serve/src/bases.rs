//! Delta bases for thin packs: objects that the receiver has at the same paths, in commits adjacent
//! to those it gets.

use crate::{name_hash, Selected, Wanted};
use hedgerow_object::{CommitRef, TagRef, TreeEntries, TreeEntry};
use hedgerow_pack::{ObjectId, ObjectKind, ObjectStore, Reader};
use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Number of commits examined for those adjacent to what the receiver has.
const COMMITS: usize = 1 << 12;
/// Maximum bytes of cached trees.
const RECENT_BYTES: usize = 16 << 20;
/// Maximum number of compared pairs of trees: there may be as many as the product of their numbers.
const COMPARED: usize = 1 << 16;
/// Maximum length of a chain of annotated tags.
const TAG_DEPTH: usize = 16;

impl Selected<'_, '_> {
    /// Objects that the receiver has, for [`crate::Contents::had`]. They are from at most `window`
    /// commits that are parents of commits reachable from `wants`. The result is empty unless a
    /// loose object is sent: packed objects were compared with similar ones when they were packed.
    /// Unreadable objects are just not used as bases.
    pub fn bases(&self, store: &ObjectStore, wants: &[ObjectId], window: usize) -> Vec<Wanted> {
        if !self.sends_loose() {
            return Vec::new();
        }
        let mut search = Search {
            selected: self,
            store,
            reader: Reader::with_recent(store, RECENT_BYTES),
            compared: HashSet::new(),
            known: HashSet::new(),
            found: Vec::new(),
        };
        let tips = search.tips(wants);
        let edges = search.edges(&tips, window);
        for (edge, next) in edges {
            search.compare(edge, next);
            for tip in tips.iter().take(window) {
                search.compare(edge, tip.tree);
            }
        }
        search.found
    }
}

struct Commit {
    tree: ObjectId,
    parents: Vec<ObjectId>,
}

struct Search<'a, 'b, 's> {
    selected: &'a Selected<'b, 's>,
    store: &'a ObjectStore,
    reader: Reader<'a>,
    /// Pairs of trees that were compared already.
    compared: HashSet<(ObjectId, ObjectId)>,
    known: HashSet<ObjectId>,
    found: Vec<Wanted>,
}

impl Search<'_, '_, '_> {
    /// The commits among `wants` that are sent.
    fn tips(&mut self, wants: &[ObjectId]) -> Vec<Commit> {
        let sent = wants.iter().filter_map(|want| self.peeled(want));
        sent.collect()
    }

    fn peeled(&mut self, want: &ObjectId) -> Option<Commit> {
        let mut id = *want;
        for _ in 0..TAG_DEPTH {
            match self.read(&id)? {
                (ObjectKind::Tag, content) => id = TagRef::parse(&id, &content).ok()?.target,
                (ObjectKind::Commit, content) if self.selected.sends(&id) => {
                    return commit(&id, &content);
                }
                _ => return None,
            }
        }
        None
    }

    /// The trees of commits that the receiver has, at most `window`, each with the tree of a child
    /// that it gets.
    fn edges(&mut self, tips: &[Commit], window: usize) -> Vec<(ObjectId, ObjectId)> {
        let mut edges = Vec::new();
        let mut queue: VecDeque<(ObjectId, ObjectId)> = VecDeque::new();
        let mut seen = HashSet::new();
        let parents = |commit: &Commit| {
            let tree = commit.tree;
            let parents = commit.parents.clone().into_iter();
            parents.map(move |parent| (parent, tree))
        };
        queue.extend(tips.iter().flat_map(parents));
        while let Some((id, child)) = queue.pop_front() {
            if edges.len() >= window || seen.len() >= COMMITS {
                break;
            }
            if !seen.insert(id) {
                continue;
            }
            let content = match self.read(&id) {
                Some((ObjectKind::Commit, content)) => content,
                _ => continue,
            };
            let Some(commit) = commit(&id, &content) else {
                continue;
            };
            if self.selected.receiver_has(&id) {
                edges.push((commit.tree, child));
            } else {
                queue.extend(parents(&commit));
            }
        }
        edges
    }

    /// Adds the objects of the tree `old` at the paths where objects of the tree `new` are sent.
    fn compare(&mut self, old: ObjectId, new: ObjectId) {
        let mut pending = vec![(old, new, Vec::new())];
        while let Some((old, new, path)) = pending.pop() {
            let is_new = old != new && self.selected.sends(&new);
            if !is_new || self.compared.len() >= COMPARED || !self.compared.insert((old, new)) {
                continue;
            }
            self.add(&old, ObjectKind::Tree, &path);
            let trees = (self.read(&old), self.read(&new));
            let (Some((ObjectKind::Tree, a)), Some((ObjectKind::Tree, b))) = trees else {
                continue;
            };
            let entries = |content| TreeEntries::new(content, old.kind());
            changed(entries(&a), entries(&b), |old, new| {
                let mut below = path.clone();
                if !below.is_empty() {
                    below.push(b'/');
                }
                below.extend_from_slice(new.name);
                match (old.object_kind(), new.object_kind()) {
                    (Some(ObjectKind::Tree), Some(ObjectKind::Tree)) => {
                        pending.push((old.id.to_owned(), new.id.to_owned(), below));
                    }
                    (Some(ObjectKind::Blob), Some(ObjectKind::Blob))
                        if self.selected.sends(new.id) =>
                    {
                        self.add(&old.id.to_owned(), ObjectKind::Blob, &below);
                    }
                    _ => {}
                }
            });
        }
    }

    fn add(&mut self, id: &ObjectId, kind: ObjectKind, path: &[u8]) {
        if self.selected.sends(id) || !self.known.insert(*id) {
            return;
        }
        if let Ok(Some(location)) = self.store.locate(id) {
            self.found.push(Wanted {
                id: *id,
                location,
                kind,
                name_hash: name_hash(path),
            });
        }
    }

    fn read(&mut self, id: &ObjectId) -> Option<(ObjectKind, Arc<[u8]>)> {
        let location = self.store.locate(id).ok()??;
        self.reader.read_shared(id, location).ok()
    }
}

fn commit(id: &ObjectId, content: &[u8]) -> Option<Commit> {
    let commit = CommitRef::parse(id, content).ok()?;
    Some(Commit {
        tree: commit.tree(),
        parents: commit.parents().collect(),
    })
}

/// Passes to `meet` the entries of two trees that have the same name and differ.
fn changed(
    mut old: TreeEntries<'_>,
    mut new: TreeEntries<'_>,
    mut meet: impl FnMut(&TreeEntry<'_>, &TreeEntry<'_>),
) {
    loop {
        old.skip_common(&mut new);
        let Ok(Some(entry)) = new.next_entry() else {
            return;
        };
        loop {
            let mut ahead = old.clone();
            let Ok(Some(before)) = ahead.next_entry() else {
                break;
            };
            match before.cmp_place(&entry) {
                Ordering::Less => old = ahead,
                Ordering::Equal => {
                    old = ahead;
                    if before.id != entry.id {
                        meet(&before, &entry);
                    }
                    break;
                }
                Ordering::Greater => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_pack::HashKind;

    fn tree(entries: &[(&str, &str, u8)]) -> Vec<u8> {
        let mut content = Vec::new();
        for (mode, name, id) in entries {
            content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            content.extend_from_slice(&[*id; 20]);
        }
        content
    }

    #[test]
    fn entries_that_have_changed_are_met() {
        let old = tree(&[
            ("100644", "a", 1),
            ("100644", "b", 2),
            ("40000", "c", 3),
            ("100644", "e", 5),
        ]);
        let new = tree(&[
            ("100644", "a", 1),
            ("100755", "b", 2),
            ("40000", "c", 4),
            ("100644", "d", 5),
            ("100644", "e", 6),
        ]);
        let mut met = Vec::new();
        let entries = |content| TreeEntries::new(content, HashKind::Sha1);
        changed(entries(&old), entries(&new), |old, new| {
            met.push((old.id.as_bytes()[0], new.id.as_bytes()[0]));
        });
        assert_eq!(met, [(3, 4), (5, 6)]);
    }
}
