use crate::ids::{IdHashBuilder, IdMap};
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;

/// A missing object, and what the referring objects say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingObject {
    /// The object.
    pub id: ObjectId,
    /// Its kind; `None` for a tip.
    pub kind: Option<ObjectKind>,
    /// Its path; empty for a commit or a commit's tree.
    pub path: Vec<u8>,
}

/// Flags of a tree, a blob or a tag.
pub(crate) mod mark {
    use hedgerow_pack::ObjectKind;

    /// Excluded.
    pub const UNINTERESTING: u8 = 1;
    /// It need not be examined again.
    pub const SEEN: u8 = 2;
    /// It was reached by the walk, not named by the user: filters apply.
    pub const REACHED: u8 = 4;
    /// It was met as a tree.
    pub const TREE: u8 = 8;
    /// It was met as a blob.
    pub const BLOB: u8 = 16;

    /// The mark for an object met as `kind`.
    pub fn of(kind: ObjectKind) -> u8 {
        match kind {
            ObjectKind::Tree => TREE,
            ObjectKind::Blob => BLOB,
            ObjectKind::Commit | ObjectKind::Tag => 0,
        }
    }
}

/// Number of slots of the cache of recent lookups.
const RECENT: usize = 1 << 14;

/// The marks of all objects except commits.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: IdMap<u8>,
    hash: IdHashBuilder,
    /// Finished objects, each in a slot given by its hash and kind. It makes lookups fast because
    /// most entries of a tree are the same as in the tree examined before.
    recent: Vec<ObjectId>,
    missing: IdMap<MissingObject>,
}

impl Marks {
    pub fn add(&mut self, id: &ObjectId, marks: u8) {
        *self.marks.entry(*id).or_default() |= marks;
    }

    /// Adds `marks`; returns the previous ones.
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

    /// Whether the object, met as `kind`, is finished: seen or excluded. `None` if it was met as
    /// another kind before.
    pub fn is_done(&mut self, id: &[u8], kind: ObjectKind) -> Option<bool> {
        self.look_up(id, kind, |marks, id| {
            let none = marks.is_empty();
            let marks = if none { None } else { marks.get(id) };
            marks.copied().unwrap_or_default()
        })
    }

    /// As [`Marks::is_done`], for those who are done with an object when they have met it: it is seen
    /// from now on.
    pub fn meet(&mut self, id: &[u8], kind: ObjectKind) -> Option<bool> {
        self.look_up(id, kind, |marks, id| {
            let slot = marks.entry(*id).or_default();
            std::mem::replace(slot, *slot | mark::SEEN | mark::of(kind))
        })
    }

    /// What is told of the object by the marks that `look` finds, if it is not among the recent ones.
    fn look_up(
        &mut self,
        id: &[u8],
        kind: ObjectKind,
        look: impl FnOnce(&mut IdMap<u8>, &ObjectId) -> u8,
    ) -> Option<bool> {
        let is_tree = usize::from(kind == ObjectKind::Tree);
        let slot = (self.hash.of(id) as usize) % (RECENT / 2) * 2 + is_tree;
        if self
            .recent
            .get(slot)
            .is_some_and(|recent| recent.as_slice() == id)
        {
            return Some(true);
        }
        let Ok(id) = gix_hash::oid::try_from_bytes(id) else {
            return Some(false);
        };
        let id = id.to_owned();
        let marks = look(&mut self.marks, &id);
        if marks & (mark::TREE | mark::BLOB) & !mark::of(kind) != 0 {
            return None;
        }
        let is_done = marks & (mark::SEEN | mark::UNINTERESTING) != 0;
        if is_done {
            if self.recent.is_empty() {
                self.recent = vec![ObjectId::null(id.kind()); RECENT];
            }
            if let Some(recent) = self.recent.get_mut(slot) {
                *recent = id;
            }
        }
        Some(is_done)
    }

    /// Records a missing object; the first record for an id is kept.
    pub fn add_missing(&mut self, object: MissingObject) {
        self.missing.entry(object.id).or_insert(object);
    }

    /// Takes all missing objects, in order of ids.
    pub fn take_missing(&mut self) -> Vec<MissingObject> {
        let found = std::mem::take(&mut self.missing);
        let mut missing: Vec<MissingObject> = found.into_values().collect();
        missing.sort_unstable_by_key(|object| object.id);
        missing
    }
}
