//! The pending work, least path first, and the limit for working ahead.

use super::node::Node;
use crate::handles::Handle;
use crate::selection::Level;
use hedgerow_tree::canonical_order;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Memory limit for results that wait to be reported, in bytes; above it, work ahead is held back.
pub(super) const BUDGET_BYTES: usize = 64 << 20;
/// Maximum number of workers called back at a time.
const CALLED_AT_ONCE: usize = 64;

/// A directory with pending work.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) node: Arc<Node>,
    /// Its path relative to the root.
    pub(super) path: Box<[u8]>,
    pub(super) level: Level,
    /// The open directory, if it could be kept open.
    pub(super) handle: Option<Arc<Handle>>,
}

/// The smallest piece of work that a worker takes.
#[derive(Clone, Debug)]
pub(super) enum Unit {
    /// List the root.
    Root,
    /// List the directory at this position in another one.
    List { site: Arc<Site>, place: usize },
    /// Stat a chunk of a directory's entries.
    Stat { site: Arc<Site>, chunk: usize },
}

/// What must be available before the next entry can be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    Root,
    /// The directory at a position in the directory with that number.
    Directory(u64, usize),
    /// A chunk of the directory with that number.
    Chunk(u64, usize),
    /// Nothing: everything was reported.
    Nothing,
}

/// The first path to be reported that a unit is needed for; for equal paths, its stat comes before
/// its content.
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

/// The pending work.
///
/// Workers come with *tokens*: engine tasks that only mean "take the least unit". There is one
/// token for every unit: it waits in the queue, or is with a worker, or is *parked* because its
/// worker found that too many bytes are held. In that case only the unit that the next report
/// needs, the front, is given out. The front is the least of all units, so any worker that comes
/// takes it; and whenever the front changes or bytes are released, [`Agenda::call`] returns how
/// many parked tokens to put back. So there is always a worker at the front or a token that will
/// take it.
#[derive(Debug)]
pub(super) struct Agenda {
    /// For each directory, only the next unit of each kind: the others follow from it.
    waiting: BTreeMap<Key, Unit>,
    budget: usize,
    held: usize,
    parked: usize,
}

impl Agenda {
    /// An agenda with only the root.
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

    /// Takes the least unit for a token. If there is none to give out, the token is parked.
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

    /// Adds the pending work of a directory; returns the number of tokens needed.
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

    /// Adds bytes that wait to be reported.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// Releases bytes that no longer wait.
    pub(super) fn release(&mut self, bytes: usize) {
        debug_assert!(self.held >= bytes, "more is released than was held");
        self.held = self.held.saturating_sub(bytes);
    }

    /// The number of parked tokens to put back.
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

    /// The front that this unit provides.
    fn front(&self) -> Front {
        match self {
            Unit::Root => Front::Root,
            Unit::List { site, place } => Front::Directory(site.node.id, *place),
            Unit::Stat { site, chunk } => Front::Chunk(site.node.id, *chunk),
        }
    }

    /// The next unit of the same kind and directory.
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
    /// The path of the entry at a position.
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
