//! The inodes that the kernel knows, with the kernel's number of references to each.
//!
//! Descriptors are limited: nodes hold one while the budget lasts; further nodes are remembered by
//! name.

use crate::lock;
use crate::node::{Node, Place};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Stat};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const SHARDS: usize = 64;

struct Known {
    node: Arc<Node>,
    references: u64,
}

/// The inodes that the kernel knows.
pub(crate) struct Nodes {
    shards: [Mutex<HashMap<u64, Known>>; SHARDS],
    held: AtomicUsize,
    budget: usize,
}

impl Nodes {
    /// Holds about `budget` descriptors.
    pub(crate) fn new(budget: usize) -> Self {
        Nodes {
            shards: std::array::from_fn(|_| Mutex::default()),
            held: AtomicUsize::new(0),
            budget,
        }
    }

    /// Inode numbers are often consecutive; a multiplicative hash spreads them.
    fn shard(&self, id: u64) -> &Mutex<HashMap<u64, Known>> {
        &self.shards[(id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % SHARDS]
    }

    pub(crate) fn get(&self, id: u64) -> Option<Arc<Node>> {
        lock(self.shard(id))
            .get(&id)
            .map(|known| known.node.clone())
    }

    /// Adds a reference to a known node that was just seen as `name` in `directory`; false if it is
    /// not known.
    pub(crate) fn acquire(&self, id: u64, directory: &Arc<Node>, name: &OsStr) -> bool {
        match lock(self.shard(id)).get_mut(&id) {
            Some(known) => {
                known.references += 1;
                known.node.seen_at(directory, name);
                true
            }
            None => false,
        }
    }

    /// Adds the root, which is never forgotten.
    pub(crate) fn insert_root(&self, id: u64, fd: OwnedFd) {
        self.insert_place(id, Place::Held(fd));
    }

    /// Adds the inode of `fd`, seen as `name` in `directory`, with one reference.
    pub(crate) fn insert(
        &self,
        id: u64,
        fd: OwnedFd,
        stat: &Stat,
        directory: &Arc<Node>,
        name: &OsStr,
    ) {
        // Directories are used far more often, so they may exceed the budget by half.
        let budget = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.budget / 2 * 3,
            _ => self.budget,
        };
        let place = if self.held.load(Relaxed) < budget {
            Place::Held(fd)
        } else {
            Place::Named {
                at: Mutex::new((directory.clone(), name.to_owned())),
                ino: stat.st_ino,
            }
        };
        self.insert_place(id, place);
    }

    fn insert_place(&self, id: u64, place: Place) {
        let mut shard = lock(self.shard(id));
        match shard.get_mut(&id) {
            Some(known) => known.references += 1, // another request was faster
            None => {
                let node = Arc::new(Node::new(place));
                self.held.fetch_add(usize::from(node.is_held()), Relaxed);
                let references = 1;
                shard.insert(id, Known { node, references });
            }
        }
    }

    /// Updates a node's position after a rename.
    pub(crate) fn moved(&self, id: u64, directory: &Arc<Node>, name: &OsStr) {
        if let Some(node) = self.get(id) {
            node.seen_at(directory, name);
        }
    }

    /// The kernel drops `count` of its references.
    pub(crate) fn forget(&self, id: u64, count: u64) {
        let mut shard = lock(self.shard(id));
        let Some(known) = shard.get_mut(&id) else {
            return;
        };
        known.references = known.references.saturating_sub(count);
        if known.references > 0 {
            return;
        }
        let gone = shard.remove(&id);
        drop(shard); // what follows may end in a directory of the same shard
        if gone.is_some_and(|known| known.node.is_held()) {
            self.held.fetch_sub(1, Relaxed);
        }
    }
}
