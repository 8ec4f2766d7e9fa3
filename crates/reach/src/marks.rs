use crate::finder::{Finder, RecentPositions};
use crate::ids::{IdHashBuilder, IdMap};
use gix_hash::{oid, ObjectId};
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
    /// It counts as a commit, and is none: [`Source::false_commits`](crate::Source::false_commits).
    pub const COMMIT: u8 = 32;

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

/// What is known of an object that is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// It is finished: seen or excluded.
    Done,
    /// It is not. Its position in the main pack.
    New(Option<u32>),
    /// It was met as another kind before.
    OtherKind,
}

/// The marks of all objects except commits.
#[derive(Debug)]
pub(crate) struct Marks<'s> {
    finder: Finder<'s>,
    positions: RecentPositions,
    /// The marks of the objects of the main pack, by position; empty before the first.
    main: Vec<u8>,
    /// Those of others.
    others: IdMap<u8>,
    hash: IdHashBuilder,
    /// Finished objects outside the main pack, each in a slot given by its hash and kind. It makes
    /// lookups fast because most entries of a tree are the same as in the tree examined before.
    recent: Vec<ObjectId>,
    missing: IdMap<MissingObject>,
}

impl<'s> Marks<'s> {
    pub fn new(finder: Finder<'s>) -> Self {
        Marks {
            finder,
            positions: RecentPositions::default(),
            main: Vec::new(),
            others: IdMap::default(),
            hash: IdHashBuilder::default(),
            recent: Vec::new(),
            missing: IdMap::default(),
        }
    }

    pub fn add(&mut self, id: &ObjectId, marks: u8) {
        self.replace(id, marks);
    }

    /// Adds `marks`; returns the previous ones.
    pub fn replace(&mut self, id: &ObjectId, marks: u8) -> u8 {
        let position = self.finder.position(id.as_slice());
        let slot = match position {
            Some(position) => self.in_main(position),
            None => Some(self.others.entry(*id).or_default()),
        };
        match slot {
            Some(slot) => std::mem::replace(slot, *slot | marks),
            None => 0,
        }
    }

    pub fn has(&self, id: &ObjectId, marks: u8) -> bool {
        if self.main.is_empty() && self.others.is_empty() {
            return false;
        }
        self.has_at(id, self.finder.position(id.as_slice()), marks)
    }

    /// As [`Marks::has`], for the object whose position in the main pack is `position`.
    pub fn has_at(&self, id: &ObjectId, position: Option<u32>, marks: u8) -> bool {
        let found = match position {
            Some(position) => self.main.get(position as usize),
            None if self.others.is_empty() => None,
            None => self.others.get(id),
        };
        found.is_some_and(|found| found & marks != 0)
    }

    /// What is known of the object, met as `kind`.
    pub fn look_up(&mut self, id: &oid, kind: ObjectKind) -> Meeting {
        self.met(id, kind, 0)
    }

    /// As [`Marks::look_up`], for those who are done with an object when they have met it: it is seen
    /// from now on.
    pub fn meet(&mut self, id: &oid, kind: ObjectKind) -> Meeting {
        self.met(id, kind, mark::SEEN | mark::of(kind))
    }

    /// What is known of the object, met as `kind`, before `marks` are added.
    fn met(&mut self, id: &oid, kind: ObjectKind, marks: u8) -> Meeting {
        let Some(position) = self.positions.position(&self.finder, id) else {
            return self.met_elsewhere(id, kind, marks);
        };
        let Some(slot) = self.in_main(position) else {
            return Meeting::Done;
        };
        let before = std::mem::replace(slot, *slot | marks);
        told(before, kind, Some(position))
    }

    /// The same for an object that is not in the main pack.
    fn met_elsewhere(&mut self, id: &oid, kind: ObjectKind, marks: u8) -> Meeting {
        let is_tree = usize::from(kind == ObjectKind::Tree);
        let slot = (self.hash.of(id.as_bytes()) as usize) % (RECENT / 2) * 2 + is_tree;
        // A slot that was never filled has the null id, which a damaged tree may have, too.
        let is_recent = |recent: &ObjectId| **recent == *id && !id.is_null();
        if self.recent.get(slot).is_some_and(is_recent) {
            return Meeting::Done;
        }
        let id = id.to_owned();
        let before = if marks != 0 {
            let slot = self.others.entry(id).or_default();
            std::mem::replace(slot, *slot | marks)
        } else if self.others.is_empty() {
            0
        } else {
            self.others.get(&id).copied().unwrap_or_default()
        };
        let told = told(before, kind, None);
        if told == Meeting::Done {
            if self.recent.is_empty() {
                self.recent = vec![ObjectId::null(id.kind()); RECENT];
            }
            if let Some(recent) = self.recent.get_mut(slot) {
                *recent = id;
            }
        }
        told
    }

    fn in_main(&mut self, position: u32) -> Option<&mut u8> {
        if self.main.is_empty() {
            self.main = vec![0; self.finder.count()];
        }
        self.main.get_mut(position as usize)
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

/// What `marks` tell of an object that is met as `kind`.
fn told(marks: u8, kind: ObjectKind, position: Option<u32>) -> Meeting {
    if marks & (mark::TREE | mark::BLOB | mark::COMMIT) & !mark::of(kind) != 0 {
        Meeting::OtherKind
    } else if marks & (mark::SEEN | mark::UNINTERESTING) != 0 {
        Meeting::Done
    } else {
        Meeting::New(position)
    }
}
