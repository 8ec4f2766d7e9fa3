//! Totals over a tree.

use hedgerow_tree::{Entry, NodeKind};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Numbers of entries and their sizes. Each worker has its own totals, which are summed at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Regular files; a file with several names counts once for each.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Everything else: devices, FIFOs, sockets.
    pub others: u64,
    /// Size of files and of the targets of symbolic links, in bytes; each file counts once.
    pub bytes: u64,
    /// Allocated space, in bytes.
    pub allocated_bytes: u64,
    /// Further names of files that were already counted under another name.
    pub repeated_links: u64,
}

/// Files with several names that were already counted. Only such files take memory.
#[derive(Debug, Default)]
pub struct CountedLinks {
    /// Keys are device and inode, spread over several sets to reduce lock contention.
    sets: [Mutex<HashSet<(u64, u64)>>; 16],
}

impl CountedLinks {
    /// Whether this is the first name seen of its file.
    fn is_first(&self, dev: u64, ino: u64) -> bool {
        let set = &self.sets[(ino % self.sets.len() as u64) as usize];
        let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
        set.insert((dev, ino))
    }
}

impl Totals {
    /// Counts an entry.
    pub fn add(&mut self, entry: &Entry<'_>, links: &CountedLinks) {
        match entry.kind {
            NodeKind::File => self.files += 1,
            NodeKind::Directory => self.directories += 1,
            NodeKind::Symlink => self.symlinks += 1,
            _ => self.others += 1,
        }
        let Some(metadata) = entry.metadata else {
            return;
        };
        let may_repeat = metadata.nlink > 1 && entry.kind != NodeKind::Directory;
        if may_repeat && !links.is_first(metadata.dev, metadata.ino) {
            self.repeated_links += 1;
            return;
        }
        self.allocated_bytes += metadata.blocks.saturating_mul(512);
        if matches!(entry.kind, NodeKind::File | NodeKind::Symlink) {
            self.bytes = self.bytes.saturating_add(metadata.size_bytes);
        }
    }

    /// Adds another worker's totals.
    pub fn merge(&mut self, other: &Totals) {
        self.files += other.files;
        self.directories += other.directories;
        self.symlinks += other.symlinks;
        self.others += other.others;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.allocated_bytes = self.allocated_bytes.saturating_add(other.allocated_bytes);
        self.repeated_links += other.repeated_links;
    }
}
