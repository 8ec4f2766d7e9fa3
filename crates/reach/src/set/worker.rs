use super::{Seen, Shared};
use crate::ids::IdHashBuilder;
use crate::marks::mark;
use crate::met_trees::{MetTrees, NewTree, PathKey, SMALL_BYTES};
use crate::name_hash::NameHash;
use crate::trees::RECENT_BYTES;
use crate::{Error, Result};
use gix_hash::{oid, ObjectId};
use hedgerow_object::{TreeEntries, TreeEntry};
use hedgerow_pack::{ObjectKind, Reader};
use std::sync::Arc;

/// Number of slots of the cache of recent lookups.
const RECENT: usize = 1 << 15;

/// One thread of a walk.
pub(super) struct Worker<'w, S> {
    shared: &'w Shared<'w, S>,
    /// `None` while the content it returned is in use.
    reader: Option<Reader<'w>>,
    /// Objects in the set, each in a slot given by its hash; empty before the first. It makes lookups
    /// fast because most entries of a tree are the same as in the tree examined before.
    recent: Vec<ObjectId>,
    hash: IdHashBuilder,
    met: MetTrees,
    /// Trees still to be read.
    pending: Vec<Subtree>,
}

struct Subtree {
    id: ObjectId,
    /// The hash of its path, including a slash at the end.
    path: NameHash,
    key: PathKey,
    depth: usize,
}

impl<'w, S: Seen> Worker<'w, S> {
    pub fn new(shared: &'w Shared<'w, S>) -> Self {
        Worker {
            reader: Some(Reader::with_recent(shared.source.store, RECENT_BYTES)),
            recent: Vec::new(),
            hash: IdHashBuilder::default(),
            met: MetTrees::last_only(),
            pending: Vec::new(),
            shared,
        }
    }

    /// Inserts a named tag or blob into the set.
    pub fn add_tip(&mut self, id: &ObjectId, kind: ObjectKind, name: &[u8]) -> Result<()> {
        if self.shared.marks.has(id, mark::UNINTERESTING) {
            return Ok(());
        }
        if self.shared.seen.insert(id, kind, NameHash::of(name)) {
            self.tell(id, kind)?;
        }
        Ok(())
    }

    /// Inserts a tree and everything in it into the set.
    pub fn add_root(&mut self, tree: &ObjectId) -> Result<()> {
        if self.is_known(tree) || self.shared.marks.has(tree, mark::UNINTERESTING) {
            return Ok(());
        }
        self.remember(tree);
        if self.shared.seen.insert(tree, ObjectKind::Tree, 0) {
            self.pending.push(Subtree {
                id: *tree,
                path: NameHash::default(),
                key: PathKey::default(),
                depth: 0,
            });
        }
        while let Some(tree) = self.pending.pop() {
            self.enter(&tree)?;
        }
        Ok(())
    }

    fn enter(&mut self, tree: &Subtree) -> Result<()> {
        if tree.depth > self.shared.tree_depth {
            return Err(Error::TooDeep);
        }
        let source = self.shared.source;
        let found = source.replacement(&tree.id);
        if found.is_empty_tree() {
            self.shared
                .seen
                .found(&tree.id, ObjectKind::Tree, source.store.locate(&found)?);
            return Ok(());
        }
        let location = source.store.locate(&found)?;
        let location = location.ok_or(Error::BadTree { id: tree.id })?;
        self.shared
            .seen
            .found(&tree.id, ObjectKind::Tree, Some(location));
        let reader = self.reader.take();
        let mut reader = reader.unwrap_or_else(|| Reader::with_recent(source.store, RECENT_BYTES));
        let done = match reader.read_shared(&found, location) {
            Ok((ObjectKind::Tree, content)) => self.entries(tree, &content),
            Ok((kind, _)) => Err(Error::WrongKind {
                id: tree.id,
                found: kind.name(),
                expected: "tree",
            }),
            Err(error) => Err(error.into()),
        };
        self.reader = Some(reader);
        done
    }

    fn entries(&mut self, tree: &Subtree, content: &Arc<[u8]>) -> Result<()> {
        if content.len() <= SMALL_BYTES {
            return self.all_entries(tree, content);
        }
        let mut trees = std::mem::take(&mut self.met);
        let new = NewTree {
            id: &tree.id,
            key: tree.key,
            content,
            like: None,
        };
        let met = trees.meet_new(new, |entry, _| self.entry(tree, entry));
        self.met = trees;
        met
    }

    /// Visits the entries one by one.
    fn all_entries(&mut self, tree: &Subtree, content: &[u8]) -> Result<()> {
        let mut entries = TreeEntries::new(content, tree.id.kind());
        while let Some(entry) = entries.next_of(&tree.id)? {
            self.entry(tree, entry)?;
        }
        Ok(())
    }

    /// Inserts an entry of `tree` into the set, and queues it if it is a new tree.
    fn entry(&mut self, tree: &Subtree, entry: TreeEntry<'_>) -> Result<()> {
        let slot = self.slot(entry.id);
        if self
            .recent
            .get(slot)
            .is_some_and(|recent| **recent == *entry.id)
        {
            return Ok(());
        }
        let kind = match entry.object_kind() {
            Some(ObjectKind::Blob) if !self.shared.has_blobs => return Ok(()),
            None => return Ok(()),
            Some(kind) => kind,
        };
        let id = entry.id.to_owned();
        self.remember_in(slot, &id);
        if self.shared.marks.has(&id, mark::UNINTERESTING) {
            return Ok(());
        }
        let mut path = tree.path;
        path.add(entry.name);
        if !self.shared.seen.insert(&id, kind, path.value()) {
            return Ok(());
        }
        match kind {
            ObjectKind::Tree => {
                path.add(b"/");
                self.pending.push(Subtree {
                    id,
                    path,
                    key: tree.key.join(entry.name, &self.hash),
                    depth: tree.depth + 1,
                });
            }
            _ => self.tell(&id, kind)?,
        }
        Ok(())
    }

    fn tell(&self, id: &ObjectId, kind: ObjectKind) -> Result<()> {
        let location = self.shared.source.store.locate(id)?;
        if location.is_none() {
            let kind = kind.name();
            return Err(Error::Missing { kind, id: *id });
        }
        self.shared.seen.found(id, kind, location);
        Ok(())
    }

    fn slot(&self, id: &oid) -> usize {
        self.hash.of(id.as_bytes()) as usize % RECENT
    }

    fn is_known(&self, id: &ObjectId) -> bool {
        self.recent.get(self.slot(id)) == Some(id)
    }

    fn remember(&mut self, id: &ObjectId) {
        self.remember_in(self.slot(id), id);
    }

    fn remember_in(&mut self, slot: usize, id: &ObjectId) {
        if self.recent.is_empty() {
            self.recent = vec![ObjectId::null(id.kind()); RECENT];
        }
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = *id;
        }
    }
}
