//! What a tree adds up to.

use hedgerow_tree::{Entry, NodeKind};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Numbers of entries and what they take. Each worker has its own, and they are added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Regular files, by their names.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Everything else: devices, FIFOs, sockets.
    pub others: u64,
    /// Bytes of files and of the targets of symbolic links, each file once.
    pub bytes: u64,
    /// Bytes that the file system has allocated.
    pub allocated_bytes: u64,
    /// Further names of files that were counted under another one.
    pub repeated_links: u64,
}

/// Files with several names that were counted. Only they take memory.
#[derive(Debug, Default)]
pub struct CountedLinks {
    /// By device and inode, spread over several sets so that workers seldom meet.
    sets: [Mutex<HashSet<(u64, u64)>>; 16],
}

impl CountedLinks {
    /// Whether this name is the first of its file.
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

    /// Adds what another worker has counted.
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
