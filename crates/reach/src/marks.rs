use crate::ids::{IdHashBuilder, IdMap, IdSet};
use gix_hash::ObjectId;

/// What has become of a tree, a blob or a tag.
pub(crate) mod mark {
    /// It is not wanted.
    pub const UNINTERESTING: u8 = 1;
    /// It need not be looked at again.
    pub const SEEN: u8 = 2;
    /// It was reached by the walk, not named by the user: filters apply.
    pub const REACHED: u8 = 4;
}

/// Slots of the memory for what was asked last.
const RECENT: usize = 1 << 14;

/// The marks of all objects that are no commits.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: IdMap<u8>,
    hash: IdHashBuilder,
    /// Objects that are done with, each at a place that its hash says: most entries of a tree are
    /// those of the tree that was looked at before.
    recent: Vec<ObjectId>,
    missing: IdSet,
}

impl Marks {
    pub fn add(&mut self, id: &ObjectId, marks: u8) {
        *self.marks.entry(*id).or_default() |= marks;
    }

    /// Adds `marks`; returns those it had before.
    pub fn replace(&mut self, id: &ObjectId, marks: u8) -> u8 {
        let slot = self.marks.entry(*id).or_default();
        let before = *slot;
        *slot |= marks;
        before
    }

    pub fn has(&self, id: &ObjectId, marks: u8) -> bool {
        if self.marks.is_empty() {
            return false;
        }
        self.marks.get(id).is_some_and(|found| found & marks != 0)
    }

    /// Whether the object is done with: seen, or not wanted.
    pub fn is_done(&mut self, id: &[u8]) -> bool {
        let slot = (self.hash.of(id) as usize) % RECENT;
        if self
            .recent
            .get(slot)
            .is_some_and(|recent| recent.as_slice() == id)
        {
            return true;
        }
        let Ok(id) = gix_hash::oid::try_from_bytes(id) else {
            return false;
        };
        let id = id.to_owned();
        let is_done = self.has(&id, mark::SEEN | mark::UNINTERESTING);
        if is_done {
            if self.recent.is_empty() {
                self.recent = vec![ObjectId::null(id.kind()); RECENT];
            }
            if let Some(recent) = self.recent.get_mut(slot) {
                *recent = id;
            }
        }
        is_done
    }

    pub fn add_missing(&mut self, id: ObjectId) {
        self.missing.insert(id);
    }

    /// All that was missing, in order of ids.
    pub fn take_missing(&mut self) -> Vec<ObjectId> {
        let mut missing: Vec<ObjectId> = self.missing.drain().collect();
        missing.sort_unstable();
        missing
    }
}
