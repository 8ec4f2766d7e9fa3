//! Objects that the receiver of a thin pack has at the paths of those it gets.

use crate::{name_hash, Wanted};
use hedgerow_object::{CommitRef, TagRef, TreeEntries};
use hedgerow_pack::{oid, HashKind, ObjectId, ObjectKind, ObjectStore, Reader};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Number of cached trees.
const KEPT_TREES: usize = 256;

/// The trees of commits that the receiver has, in which delta bases are looked up by path.
pub struct Edges<'s> {
    store: &'s ObjectStore,
    reader: Reader<'s>,
    /// Maximum number of edges: an object is tried against no more bases than this.
    limit: usize,
    roots: Vec<ObjectId>,
    /// The hashes of the paths that were looked up.
    seen: HashSet<u32>,
    trees: HashMap<ObjectId, Rc<[u8]>>,
    found: Vec<Wanted>,
}

impl<'s> Edges<'s> {
    /// No edges yet. `window` is that of the delta search: no more edges than that are used.
    pub fn new(store: &'s ObjectStore, window: usize) -> Self {
        Edges {
            store,
            reader: Reader::new(store),
            limit: window,
            roots: Vec::new(),
            seen: HashSet::new(),
            trees: HashMap::new(),
            found: Vec::new(),
        }
    }

    /// Adds the commit, tag or tree `id`, which the receiver has along with everything reachable
    /// from it. What is not here, or leads to no tree, has no bases, as for git.
    pub fn add(&mut self, id: &oid) {
        if self.roots.len() >= self.limit {
            return;
        }
        let tree = self.tree_of(id);
        self.roots
            .extend(tree.filter(|tree| !self.roots.contains(tree)));
    }

    /// Looks `path` up in all edges, unless it or a path with the same [`name_hash`] was looked up
    /// before.
    pub fn look_up(&mut self, path: &[u8]) {
        let hash = name_hash(path);
        if self.roots.is_empty() || !self.seen.insert(hash) {
            return;
        }
        for root in self.roots.clone() {
            // Unreadable objects are just not used as bases.
            if let Some((id, kind)) = self.descend(root, path) {
                self.push(id, kind, if path.is_empty() { 0 } else { hash });
            }
        }
    }

    /// The objects found, for [`crate::Contents::had`].
    pub fn into_found(self) -> Vec<Wanted> {
        self.found
    }

    fn push(&mut self, id: ObjectId, kind: ObjectKind, name_hash: u32) {
        if let Ok(Some(location)) = self.store.locate(&id) {
            self.found.push(Wanted {
                id,
                location,
                kind,
                name_hash,
            });
        }
    }

    /// The tree of `id`, through tags and a commit.
    fn tree_of(&mut self, id: &oid) -> Option<ObjectId> {
        let mut id = id.to_owned();
        loop {
            let location = self.store.locate(&id).ok()??;
            let (kind, content) = self.reader.read(&id, location).ok()?;
            id = match kind {
                ObjectKind::Tree => return Some(id),
                ObjectKind::Commit => CommitRef::parse(&id, content).ok()?.tree(),
                ObjectKind::Tag => TagRef::parse(&id, content).ok()?.target,
                ObjectKind::Blob => return None,
            };
        }
    }

    /// The object at `path` below the tree `root`.
    fn descend(&mut self, root: ObjectId, path: &[u8]) -> Option<(ObjectId, ObjectKind)> {
        let mut found = (root, ObjectKind::Tree);
        if path.is_empty() {
            return Some(found);
        }
        for name in path.split(|byte| *byte == b'/') {
            if found.1 != ObjectKind::Tree {
                return None;
            }
            let tree = self.tree(found.0)?;
            found = entry(&tree, name, found.0.kind())?;
        }
        Some(found)
    }

    fn tree(&mut self, id: ObjectId) -> Option<Rc<[u8]>> {
        if let Some(tree) = self.trees.get(&id) {
            return Some(tree.clone());
        }
        let location = self.store.locate(&id).ok()??;
        let (kind, content) = self.reader.read(&id, location).ok()?;
        if kind != ObjectKind::Tree {
            return None;
        }
        let tree: Rc<[u8]> = content.into();
        if self.trees.len() >= KEPT_TREES {
            self.trees.clear();
        }
        self.trees.insert(id, tree.clone());
        Some(tree)
    }
}

/// The entry `name` of a tree with ids of the kind `hash`, unless it is a submodule.
fn entry(tree: &[u8], name: &[u8], hash: HashKind) -> Option<(ObjectId, ObjectKind)> {
    let mut entries = TreeEntries::new(tree, hash);
    while let Some(entry) = entries.next_entry().ok()? {
        if entry.name == name {
            return Some((entry.id.to_owned(), entry.object_kind()?));
        }
    }
    None
}
