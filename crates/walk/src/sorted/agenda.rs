//! What waits to be done, least first, and how much may be done ahead.

use super::node::Node;
use crate::handles::Handle;
use crate::selection::Level;
use hedgerow_tree::canonical_order;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Work ahead of what can be told is held back while more bytes than this wait to be told.
pub(super) const BUDGET_BYTES: usize = 64 << 20;
/// The most workers that are called back at a time.
const CALLED_AT_ONCE: usize = 64;

/// A directory in which something is still to be done.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) node: Arc<Node>,
    /// Its path below the root.
    pub(super) path: Box<[u8]>,
    pub(super) level: Level,
    /// The directory itself, if it could be kept open.
    pub(super) handle: Option<Arc<Handle>>,
}

/// Something to do: the smallest piece that a worker takes.
#[derive(Clone, Debug)]
pub(super) enum Unit {
    /// List the root.
    Root,
    /// List the directory that is at this place in another.
    List { site: Arc<Site>, place: usize },
    /// Ask for the states of a chunk of a directory's entries.
    Stat { site: Arc<Site>, chunk: usize },
}

/// What the next thing to tell needs and does not have yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    Root,
    /// The directory at a place in the directory of that number.
    Directory(u64, usize),
    /// A chunk of the directory of that number.
    Chunk(u64, usize),
    /// Nothing: all is told.
    Nothing,
}

/// The path that is told first of all that a unit is needed for; for one path, its state before
/// its contents.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    path: Vec<u8>,
    lists: bool,
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        canonical_order(&self.path, &other.path).then(self.lists.cmp(&other.lists))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What waits to be done.
///
/// Workers come with *tokens*, tasks of the engine that say nothing but "take the least unit". There
/// is a token for every unit: it waits in the queue, or is with a worker, or is *parked*, because
/// its worker found that too much is held already. Then only the unit is given out that the next
/// thing to tell needs, the front. It is the least of all, so that whoever comes takes it; and
/// whenever the front changes or bytes become free, [`Agenda::call`] says how many parked tokens
/// to put back. So there is always either a worker at the front or a token that will take it.
#[derive(Debug)]
pub(super) struct Agenda {
    /// Of each directory, the next unit of a kind only: the others follow from it.
    waiting: BTreeMap<Key, Unit>,
    budget: usize,
    held: usize,
    parked: usize,
}

impl Agenda {
    /// With nothing but the root to do.
    pub(super) fn new(budget: usize) -> Self {
        let root = Key {
            path: Vec::new(),
            lists: true,
        };
        Agenda {
            waiting: BTreeMap::from([(root, Unit::Root)]),
            budget,
            held: 0,
            parked: 0,
        }
    }

    /// Takes the least unit for a token. Without one, the token is parked.
    pub(super) fn take(&mut self, front: Front) -> Option<Unit> {
        let first = self.waiting.first_entry()?;
        if self.held >= self.budget && first.get().front() != front {
            self.parked += 1;
            return None;
        }
        let unit = first.remove();
        if let Some(next) = unit.next() {
            self.put(next);
        }
        Some(unit)
    }

    /// Adds what is to be done in a directory; returns for how many tokens.
    pub(super) fn add(&mut self, site: &Arc<Site>) -> usize {
        let node = &site.node;
        if node.chunks() > 0 {
            let site = site.clone();
            self.put(Unit::Stat { site, chunk: 0 });
        }
        if let Some(place) = node.next_entered(0) {
            let site = site.clone();
            self.put(Unit::List { site, place });
        }
        let entered = node.items().iter().filter(|item| item.is_entered());
        node.chunks() + entered.count()
    }

    /// Counts bytes that wait to be told.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// Bytes no longer wait.
    pub(super) fn release(&mut self, bytes: usize) {
        debug_assert!(self.held >= bytes, "more is released than was held");
        self.held = self.held.saturating_sub(bytes);
    }

    /// How many parked tokens to put back.
    pub(super) fn call(&mut self, front: Front) -> usize {
        let called = match self.waiting.first_key_value() {
            Some(_) if self.held < self.budget => self.parked.min(CALLED_AT_ONCE),
            Some((_, unit)) if unit.front() == front => self.parked.min(1),
            _ => 0,
        };
        self.parked -= called;
        called
    }

    fn put(&mut self, unit: Unit) {
        self.waiting.insert(unit.key(), unit);
    }
}

impl Unit {
    fn key(&self) -> Key {
        let (site, place, lists) = match self {
            Unit::Root => {
                return Key {
                    path: Vec::new(),
                    lists: true,
                }
            }
            Unit::List { site, place } => (site, *place, true),
            Unit::Stat { site, chunk } => (site, site.node.chunk(*chunk).start, false),
        };
        let path = site.path_of(place);
        Key { path, lists }
    }

    /// What needs this unit.
    fn front(&self) -> Front {
        match self {
            Unit::Root => Front::Root,
            Unit::List { site, place } => Front::Directory(site.node.id, *place),
            Unit::Stat { site, chunk } => Front::Chunk(site.node.id, *chunk),
        }
    }

    /// The unit of the same kind and directory behind this one.
    fn next(&self) -> Option<Unit> {
        match self {
            Unit::Root => None,
            Unit::List { site, place } => {
                let place = site.node.next_entered(place + 1)?;
                let site = site.clone();
                Some(Unit::List { site, place })
            }
            Unit::Stat { site, chunk } => {
                let (site, chunk) = (site.clone(), chunk + 1);
                (chunk < site.node.chunks()).then_some(Unit::Stat { site, chunk })
            }
        }
    }
}

impl Site {
    /// The path of the entry at a place.
    pub(super) fn path_of(&self, place: usize) -> Vec<u8> {
        let item = self.node.items().get(place);
        let name = item.map_or(&b""[..], |item| self.node.name(*item));
        if self.path.is_empty() {
            name.to_vec()
        } else {
            [&self.path, &b"/"[..], name].concat()
        }
    }
}
