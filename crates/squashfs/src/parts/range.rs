//! The entries of a part: a range of the canonical order.

use hedgerow_numbers::Shard;
use hedgerow_tree::{Node, NodeError, NodeKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which entries belong to a part: those at its share of the sum of all weights: sizes, and something for each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRange {
    /// The share.
    pub shard: Shard,
    /// The sum of the weights of all entries of the tree.
    pub total_bytes: u64,
    /// The digest of the tree's [`Outline`].
    pub outline: [u8; 32],
}

/// What a node counts for when entries are divided into ranges, in bytes: its content, and something
/// for itself.
fn weight(node: &Node) -> u64 {
    const ENTRY_BYTES: u64 = 4096;
    node.size_bytes.saturating_add(ENTRY_BYTES)
}

/// What is known of a tree before anything is read: how much there is to divide, and a digest of each
/// entry's path, kind, permissions, owners, size, device numbers and modification time, so that parts of
/// different states of the tree are not merged.
#[derive(Default)]
pub struct Outline {
    total_bytes: u64,
    hasher: blake3::Hasher,
}

impl Outline {
    /// Adds an entry, in canonical order, as it is to be in the image.
    pub fn add(&mut self, node: &Node) {
        self.total_bytes = self.total_bytes.saturating_add(weight(node));
        let mut record = Vec::with_capacity(64 + node.path.len());
        record.extend((node.path.len() as u64).to_le_bytes());
        record.extend_from_slice(&node.path);
        record.push(node.kind as u8);
        record.extend(node.mode.to_le_bytes());
        record.extend(node.uid.to_le_bytes());
        record.extend(node.gid.to_le_bytes());
        record.extend(node.size_bytes.to_le_bytes());
        record.extend(node.device.0.to_le_bytes());
        record.extend(node.device.1.to_le_bytes());
        record.extend(node.mtime_s.to_le_bytes());
        record.extend(node.mtime_ns.to_le_bytes());
        self.hasher.update(&record);
    }

    /// The range of the share `shard`, when all entries were added.
    pub fn range(self, shard: Shard) -> PartRange {
        PartRange {
            shard,
            total_bytes: self.total_bytes,
            outline: *self.hasher.finalize().as_bytes(),
        }
    }
}

impl PartRange {
    /// The number of the part, from 1, to which an entry belongs that starts there.
    fn part_at(self, position: u64) -> u32 {
        let count = u64::from(self.shard.count());
        let part = u128::from(position) * u128::from(count) / u128::from(self.total_bytes.max(1));
        u32::try_from(part.min(u128::from(count - 1))).unwrap_or(u32::MAX - 1) + 1
    }
}

/// What is known when all entries were taken.
#[derive(Default)]
pub(super) struct Taken(Mutex<Found>);

/// Where the part starts, where the next one does, and the links in it: paths, devices and inodes.
pub(super) type Ends = (Option<Vec<u8>>, Option<Vec<u8>>, Vec<Link>);

/// A file with several names: its path, and what all its names have in common.
pub(super) type Link = (Vec<u8>, (u64, u64));

#[derive(Default)]
struct Found {
    start: Option<Vec<u8>>,
    next: Option<Vec<u8>>,
    links: Vec<Link>,
}

impl Taken {
    fn lock(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self) -> Ends {
        let found = std::mem::take(&mut *self.lock());
        (found.start, found.next, found.links)
    }
}

/// The nodes of a part: the directories above its first entry, then its own.
pub(super) struct Within<'t, I> {
    nodes: I,
    range: PartRange,
    taken: &'t Taken,
    position: u64,
    /// The directories above the next entry.
    above: Vec<Node>,
    /// What comes next, the last one first.
    pending: Vec<Node>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Within,
    After,
}

impl<'t, I> Within<'t, I> {
    pub(super) fn new(nodes: I, range: PartRange, taken: &'t Taken) -> Self {
        Within {
            nodes,
            range,
            taken,
            position: 0,
            above: Vec::new(),
            pending: Vec::new(),
            state: State::Before,
        }
    }

    /// Keeps the directories that are above `path`.
    fn keep_above(&mut self, path: &[u8]) {
        let is_above = |above: &Node| {
            let rest = path.strip_prefix(above.path.as_slice());
            above.path.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        while self.above.last().is_some_and(|above| !is_above(above)) {
            self.above.pop();
        }
    }

    /// Ends the part; one without entries of its own has the root alone, so that it is an image.
    fn end(&mut self, next: Option<&Node>) {
        let mut found = self.taken.lock();
        found.next = next.map(|node| node.path.clone());
        if self.state == State::Before {
            found.start = found.next.clone();
            self.above.truncate(1);
            self.pending.append(&mut self.above);
        }
        self.state = State::After;
    }

    fn take(&mut self, node: Node) {
        let mut found = self.taken.lock();
        if let Some(link) = node.link {
            found.links.push((node.path.clone(), link));
        }
        if self.state == State::Before {
            found.start = Some(node.path.clone());
        }
        drop(found);
        self.pending.push(node);
        if self.state == State::Before {
            self.state = State::Within;
            self.pending.extend(self.above.drain(..).rev());
        }
    }
}

impl<I: Iterator<Item = Result<Node, NodeError>>> Iterator for Within<'_, I> {
    type Item = Result<Node, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(node) = self.pending.pop() {
                return Some(Ok(node));
            }
            if self.state == State::After {
                return None;
            }
            let node = match self.nodes.next() {
                None => {
                    self.end(None);
                    continue;
                }
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(node)) => node,
            };
            let part = self.range.part_at(self.position);
            self.position = self.position.saturating_add(weight(&node));
            if part > self.range.shard.number() {
                self.end(Some(&node));
            } else if part == self.range.shard.number() {
                self.keep_above(&node.path);
                self.take(node);
            } else if node.kind == NodeKind::Directory {
                self.keep_above(&node.path);
                self.above.push(node);
            }
        }
    }
}
