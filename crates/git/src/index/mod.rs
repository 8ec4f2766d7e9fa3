//! The index: what Git expects in the working tree, path by path, and what lstat said of each
//! file when that was last true.
//!
//! [`Index::read`] reads versions 2, 3 and 4 for SHA-1 and SHA-256, from bytes that may be
//! hostile. [`Builder`] makes a new index from entries in order, and [`Index::write`] turns it
//! into bytes that Git reads. Locking and replacing the file is
//! [`hedgerow_fs::LockFile`]'s.
//!
//! Extensions: `TREE` is read and written ([`CacheTree`]); `REUC`, `UNTR` and `FSMN` are kept
//! as long as they are true; a split index (`link`) is read and written whole; `sdir` follows
//! from the entries; `EOIE` and `IEOT` only speed up other readers and are not written. Other
//! optional extensions are dropped, other required ones an error. An optional extension that
//! is broken counts as absent: that costs time, never correctness.
//!
//! Format: `gitformat-index(5)`.

mod builder;
mod cache_tree;
mod checksum;
mod cursor;
mod decode;
mod entry;
mod extensions;
mod prefix;
mod read;
mod referenced;
mod stat;
mod write;

pub use builder::Builder;
pub use cache_tree::{CacheTree, Directory};
pub use entry::{Entry, Flags, Mode, Stage};
pub use referenced::Referenced;
pub use stat::{CheckStat, EntryStat, StatRules};
pub use write::WriteOptions;

use bstr::{BStr, ByteSlice};
use extensions::resolve_undo::ResolveUndo;
use extensions::Extensions;
use gix_hash::{Kind, ObjectId};
use hedgerow_fs::Timestamp;
use std::cmp::Ordering;
use std::ops::Range;

/// The version of an index file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Git's default.
    #[default]
    V2,
    /// Version 2 with a second word of flags; chosen where the flags need it.
    V3,
    /// Paths without their common prefix, and no padding: about half the size.
    V4,
}

/// An index in memory: its entries in ascending order of path bytes, then stage.
#[derive(Clone, Debug)]
pub struct Index {
    hash: Kind,
    version: Version,
    entries: Vec<Entry>,
    /// The paths of all entries, one after the other without separators.
    paths: Vec<u8>,
    checksum: Option<ObjectId>,
    extensions: Extensions,
}

impl Index {
    /// An index of no entries for a repository of the kind `hash`.
    pub fn empty(hash: Kind) -> Self {
        Index {
            hash,
            version: Version::default(),
            entries: Vec::new(),
            paths: Vec::new(),
            checksum: None,
            extensions: Extensions::default(),
        }
    }

    /// The same index once more, to be written in its place: without the sides of resolved
    /// conflicts, which Git drops when it switches branches. All else is still true as long as
    /// paths neither come nor go.
    pub fn successor(&self) -> Self {
        let mut index = self.clone();
        index.extensions.resolve_undo = None;
        index
    }

    /// Keeps the sides of resolved conflicts that `old` has, the index it replaces, and adds those
    /// of the conflicts that it ends: what Git does when it checks out paths.
    pub fn keep_resolve_undo(&mut self, old: &Index) {
        let known = &old.extensions.resolve_undo;
        self.extensions.resolve_undo.clone_from(known);
        let ended = |(path, entry): &(&BStr, &Entry)| {
            entry.flags.stage != Stage::Merged && self.find(path, entry.flags.stage).is_err()
        };
        let ended: Vec<_> = old.iter().filter(ended).collect();
        if ended.is_empty() {
            return;
        }
        let known = known.as_deref().unwrap_or_default();
        let mut records = ResolveUndo::parse(known, old.hash);
        for (path, entry) in ended {
            records.add(path.to_owned(), entry);
        }
        self.extensions.resolve_undo = records.serialize();
    }

    /// The hash of its object ids.
    pub fn hash(&self) -> Kind {
        self.hash
    }

    /// The version it was read as or is to be written as.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The checksum at the end of the file it was read from; `None` if it was made in memory or
    /// the file had none (`index.skipHash`).
    pub fn checksum(&self) -> Option<&ObjectId> {
        self.checksum.as_ref()
    }

    /// All entries, ascending by path bytes, then stage.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All entries, for a change of their `stat` and `flags`; neither the stage nor the id or
    /// mode may change, since order and cache tree follow from them: that takes a [`Builder`].
    pub fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// The path of `entry`.
    ///
    /// # Panics
    /// May panic, or answer nonsense, if the entry is one of another index.
    pub fn path(&self, entry: &Entry) -> &BStr {
        self.paths[entry.path.as_range()].as_bstr()
    }

    /// All entries with their paths, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&BStr, &Entry)> {
        self.entries.iter().map(|entry| (self.path(entry), entry))
    }

    /// The position of the entry for `path` at `stage`, or where it would have to be put.
    pub fn find(&self, path: &BStr, stage: Stage) -> std::result::Result<usize, usize> {
        self.entries.binary_search_by(|entry| {
            let by_path = self.path(entry).cmp(path);
            by_path.then(entry.flags.stage.cmp(&stage))
        })
    }

    /// The positions of all entries below the directory `dir` (without a slash at its end; empty
    /// for the root), and of the sparse directory that stands for it.
    pub fn range_under(&self, dir: &BStr) -> Range<usize> {
        if dir.is_empty() {
            return 0..self.entries.len();
        }
        let before = |entry: &Entry| order_to_children(self.path(entry), dir) == Ordering::Less;
        let within = |entry: &Entry| order_to_children(self.path(entry), dir) != Ordering::Greater;
        let start = self.entries.partition_point(before);
        let count = self
            .entries
            .get(start..)
            .map_or(0, |rest| rest.partition_point(within));
        start..start + count
    }

    /// Whether any path is in conflict, that is, present at a stage other than 0.
    pub fn is_unmerged(&self) -> bool {
        let conflicts = |entry: &Entry| entry.flags.stage != Stage::Merged;
        self.entries.iter().any(conflicts)
    }

    /// Whether it is a sparse index: one that may hold whole directories as one entry.
    pub fn has_sparse_directories(&self) -> bool {
        self.extensions.sparse
    }

    /// Marks the entries whose files changed without lstat being able to show it, so that
    /// everybody who looks at them later reads them: their size becomes 0.
    ///
    /// To be called before an index that was read from a file of the time `old_index_mtime` is
    /// written again, because the new file's time makes its racy entries look old. `is_modified`
    /// is asked for each racy entry whether the file's *content* differs from the entry's
    /// object, whatever lstat says; this is Git's rule for "racily clean" entries. Racy is by
    /// whole seconds here even if the reader compares nanoseconds: Git, reading the index next,
    /// does not. Returns how many entries were marked.
    pub fn smudge_racily_clean(
        &mut self,
        old_index_mtime: Timestamp,
        mut is_modified: impl FnMut(&Entry, &BStr) -> bool,
    ) -> usize {
        let mut smudged = 0;
        for entry in &mut self.entries {
            if !is_racy_by_seconds(entry, old_index_mtime) || entry.stat.size == 0 {
                continue;
            }
            let path = self.paths[entry.path.as_range()].as_bstr();
            if is_modified(entry, path) {
                entry.stat.size = 0;
                smudged += 1;
            }
        }
        smudged
    }
}

/// Whether `entry` has a file whose last change lies in the second of the index or after it.
fn is_racy_by_seconds(entry: &Entry, index_mtime: Timestamp) -> bool {
    let has_file = entry.mode.is_file() && entry.flags.stage == Stage::Merged;
    has_file && entry.stat.is_racy(index_mtime, &StatRules::default())
}

/// How `path` sorts against the paths that begin with `dir` and a slash: before, among, after.
fn order_to_children(path: &BStr, dir: &BStr) -> Ordering {
    let head = path.get(..dir.len()).unwrap_or(path);
    head.cmp(dir.as_bytes())
        .then_with(|| path.get(dir.len()).cmp(&Some(&b'/')))
}

#[cfg(test)]
mod tests;
