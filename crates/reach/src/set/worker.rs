use super::seen::WORD_BITS;
use super::{Met, Seen, Shared};
use crate::finder::RecentPositions;
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
    positions: RecentPositions,
    /// The objects that this thread has met, by position in the main pack; empty before the first.
    met_before: Vec<u64>,
    /// Others in the set, each in a slot given by its hash; empty before the first. It makes lookups
    /// fast because most entries of a tree are the same as in the tree examined before.
    recent: Vec<ObjectId>,
    hash: IdHashBuilder,
    met: MetTrees,
    /// Trees still to be read.
    pending: Vec<Subtree>,
}

struct Subtree {
    id: ObjectId,
    position: Option<u32>,
    /// The hash of its path, including a slash at the end.
    path: NameHash,
    key: PathKey,
    depth: usize,
}

impl<'w, S: Seen> Worker<'w, S> {
    pub fn new(shared: &'w Shared<'w, S>) -> Self {
        Worker {
            reader: Some(Reader::with_recent(shared.source.store, RECENT_BYTES)),
            positions: RecentPositions::default(),
            met_before: Vec::new(),
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
        let met = Met {
            id,
            position: self.shared.finder.position(id.as_slice()),
            kind,
            name_hash: NameHash::of(name),
        };
        if self.shared.seen.insert(met) {
            self.tell(met)?;
        }
        Ok(())
    }

    /// Inserts a tree and everything in it into the set.
    pub fn add_root(&mut self, tree: &ObjectId) -> Result<()> {
        let position = self.shared.finder.position(tree.as_slice());
        if self.has_met(tree, position) {
            return Ok(());
        }
        if self
            .shared
            .marks
            .has_at(tree, position, mark::UNINTERESTING)
        {
            return Ok(());
        }
        let met = Met {
            id: tree,
            position,
            kind: ObjectKind::Tree,
            name_hash: 0,
        };
        if self.shared.seen.insert(met) {
            self.pending.push(Subtree {
                id: *tree,
                position,
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
        let (source, finder) = (self.shared.source, &self.shared.finder);
        let found = source.replacement(&tree.id);
        let location = finder.location_of(&found, &tree.id, tree.position)?;
        if found.is_empty_tree() {
            self.shared.seen.found(&tree.id, ObjectKind::Tree, location);
            return Ok(());
        }
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
        let kind = match entry.object_kind() {
            Some(ObjectKind::Blob) if self.shared.passes_blobs => return Ok(()),
            None => return Ok(()),
            Some(kind) => kind,
        };
        let position = self.positions.position(&self.shared.finder, entry.id);
        if self.has_met(entry.id, position) {
            return Ok(());
        }
        let id = entry.id.to_owned();
        let unwanted = mark::UNINTERESTING | mark::COMMIT;
        if self.shared.marks.has_at(&id, position, unwanted) {
            return if self.shared.marks.has_at(&id, position, mark::COMMIT) {
                Err(Error::wrong_entry(&tree.id, entry.name, kind))
            } else {
                Ok(())
            };
        }
        if kind == ObjectKind::Blob && !self.shared.has_blobs {
            return Ok(());
        }
        let mut path = tree.path;
        path.add(entry.name);
        let met = Met {
            id: &id,
            position,
            kind,
            name_hash: path.value(),
        };
        if !self.shared.seen.insert(met) {
            return Ok(());
        }
        match kind {
            ObjectKind::Tree => {
                path.add(b"/");
                self.pending.push(Subtree {
                    id,
                    position,
                    path,
                    key: tree.key.join(entry.name, &self.hash),
                    depth: tree.depth + 1,
                });
            }
            _ => self.tell(met)?,
        }
        Ok(())
    }

    fn tell(&self, met: Met<'_>) -> Result<()> {
        let location = self.shared.finder.location(met.id, met.position)?;
        if location.is_none() {
            let (kind, id) = (met.kind.name(), met.id.to_owned());
            return Err(Error::Missing { kind, id });
        }
        self.shared.seen.found(met.id, met.kind, location);
        Ok(())
    }

    /// Whether this thread has met the object before, as far as it remembers; it does from now on.
    fn has_met(&mut self, id: &oid, position: Option<u32>) -> bool {
        match position {
            Some(position) => self.has_met_at(position),
            None => self.has_met_elsewhere(id),
        }
    }

    fn has_met_at(&mut self, position: u32) -> bool {
        if self.met_before.is_empty() {
            let words = self.shared.finder.count().div_ceil(WORD_BITS as usize);
            self.met_before = vec![0; words];
        }
        let word = self.met_before.get_mut((position / WORD_BITS) as usize);
        let Some(word) = word else {
            return false;
        };
        let bit = 1 << (position % WORD_BITS);
        let before = std::mem::replace(word, *word | bit);
        before & bit != 0
    }

    fn has_met_elsewhere(&mut self, id: &oid) -> bool {
        if self.recent.is_empty() {
            self.recent = vec![ObjectId::null(id.kind()); RECENT];
        }
        let slot = self.hash.of(id.as_bytes()) as usize % RECENT;
        let recent = self.recent.get_mut(slot);
        // A slot that was never filled has the null id, which a damaged tree may have, too.
        recent.is_some_and(|recent| *std::mem::replace(recent, id.to_owned()) == *id)
            && !id.is_null()
    }
}
