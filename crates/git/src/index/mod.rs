//! The index: the files that Git expects in the working tree, path by path, with the lstat data of
//! each from when it last matched.
//!
//! [`Index::read`] reads versions 2, 3 and 4 for SHA-1 and SHA-256, from bytes that may be
//! hostile. [`Builder`] makes a new index from entries in order, and [`Index::write`] turns it
//! into bytes that Git reads. Locking and replacing the file is done with
//! [`hedgerow_fs::LockFile`].
//!
//! Extensions: `TREE` is read and written ([`CacheTree`]); `REUC`, `UNTR` and `FSMN` are kept as
//! long as they are valid; a split index (`link`) is merged when it is read, and may be written as
//! one or as a whole; `sdir` follows from the entries; `EOIE` and `IEOT` only speed up other readers
//! and are written on request.
//! Other optional extensions are dropped, other required ones are an error. A broken optional
//! extension counts as absent: that costs time, never correctness.
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
mod vouchers;
mod write;

pub use builder::Builder;
pub use cache_tree::{CacheTree, Directory};
pub use entry::{Entry, Flags, Mode, Stage};
pub(crate) use extensions::split::SharedIndex;
pub(crate) use extensions::untracked::{
    joined, OuterFile, UntrackedCache, UntrackedRecord, ALL_FILES, FOLDED,
};
pub(crate) use prefix::common_len;
pub(crate) use read::{shared_name, SHARED_PREFIX};
pub use referenced::Referenced;
pub use stat::{CheckStat, EntryStat, StatRules};
pub(crate) use vouchers::{IndexBytes, Vouchers};
pub use write::{OffsetTable, WriteOptions};

use bstr::{BStr, BString, ByteSlice};
use extensions::resolve_undo::{ResolveUndo, Sides};
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
    /// Version 2 with a second flag word; used only if flags need it.
    V3,
    /// Paths are prefix-compressed and not padded: about half the size.
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
    /// An empty index for a repository with the hash `hash`.
    pub fn empty(hash: Kind) -> Self {
        Index::empty_of(hash, Version::default())
    }

    /// The same, to be written as `version`.
    pub(crate) fn empty_of(hash: Kind, version: Version) -> Self {
        Index {
            hash,
            version,
            entries: Vec::new(),
            paths: Vec::new(),
            checksum: None,
            extensions: Extensions::default(),
        }
    }

    /// A copy of the index to be written in its place: without the sides of resolved conflicts,
    /// which Git drops when it switches branches. Everything else stays valid as long as no path is
    /// added or removed.
    pub fn successor(&self) -> Self {
        let mut index = self.clone();
        index.extensions.resolve_undo = None;
        index
    }

    /// Keeps the sides of resolved conflicts from `old`, the index it replaces, and adds those of
    /// the conflicts that this index resolves, as Git does when it checks out paths.
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

    /// The index with the sides of resolved conflicts in place of what they were resolved to, at the
    /// paths that `is_meant`; `None` if it remembers none of those.
    ///
    /// # Errors
    /// If what it remembers is no side.
    pub(crate) fn unresolved(
        &self,
        is_meant: impl Fn(&BStr, Mode) -> bool,
    ) -> crate::Result<Option<Index>> {
        let data = self.extensions.resolve_undo.as_deref().unwrap_or_default();
        let mut records = ResolveUndo::parse(data, self.hash);
        let conflicts = records.take(|path| is_meant(path, Mode::File));
        if conflicts.is_empty() {
            return Ok(None);
        }
        let mut builder = Builder::replacing(self);
        let mut entries = self.iter().peekable();
        let mut tree = self.cache_tree().cloned();
        for (path, sides) in &conflicts {
            let path = path.as_bstr();
            while let Some((path, entry)) = entries.next_if(|(it, _)| *it < path) {
                builder.push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
            }
            let is_unmerged =
                |(it, entry): &(&BStr, &Entry)| *it == path && entry.flags.stage != Stage::Merged;
            // It is in conflict again already.
            if entries.peek().is_some_and(is_unmerged) {
                continue;
            }
            entries.next_if(|(it, _)| *it == path);
            if let Some(tree) = &mut tree {
                tree.invalidate_path(path);
            }
            for (side, stage) in sides.iter().zip([Stage::Base, Stage::Ours, Stage::Theirs]) {
                let Some((mode, id)) = side else { continue };
                let mode = Mode::from_u32(*mode).ok_or_else(|| crate::Error::IndexEntry {
                    path: path.to_owned(),
                    reason: "its mode is unknown",
                })?;
                let flags = Flags {
                    stage,
                    ..Flags::default()
                };
                builder.push(path, *id, mode, EntryStat::default(), flags)?;
            }
        }
        for (path, entry) in entries {
            builder.push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
        }
        let mut index = builder.finish_replacing(self);
        index.extensions.resolve_undo = records.serialize();
        index.set_cache_tree(tree);
        Ok(Some(index))
    }

    /// Keeps the sides of resolved conflicts from `old`, which has the same paths.
    pub(crate) fn keep_all_resolve_undo(&mut self, old: &Index) {
        let known = &old.extensions.resolve_undo;
        self.extensions.resolve_undo.clone_from(known);
    }

    /// The moment up to which a file system monitor vouches for entries.
    pub(crate) fn fsmonitor_token(&self) -> Option<&[u8]> {
        self.extensions.fsmonitor_token.as_deref()
    }

    /// Sets or, with `None`, drops what a file system monitor said: up to which moment the flags of
    /// the entries count.
    pub(crate) fn set_fsmonitor_token(&mut self, token: Option<Vec<u8>>) {
        self.extensions.fsmonitor_token = token;
    }

    /// The shared index that this one is to be split by, if it is to be split.
    pub(crate) fn split(&self) -> Option<&SharedIndex> {
        self.extensions.split.as_ref()
    }

    /// Sets by which shared index it is split; with `None`, it is not.
    pub(crate) fn set_split(&mut self, shared: Option<SharedIndex>) {
        self.extensions.split = shared;
    }

    /// This index as a shared one, which has the checksum `id`.
    pub(crate) fn as_shared(&self, id: ObjectId) -> SharedIndex {
        SharedIndex::new(id, &self.entries, &self.paths)
    }

    /// The untracked files that were found, by directory.
    pub(crate) fn untracked_cache(&self) -> Option<&UntrackedCache> {
        self.extensions.untracked.as_ref()
    }

    /// The same, to be changed, added or removed.
    pub(crate) fn untracked_cache_mut(&mut self) -> &mut Option<UntrackedCache> {
        &mut self.extensions.untracked
    }

    /// The sides of resolved conflicts by path: mode and object of the stages 1 to 3.
    pub(crate) fn resolve_undo(&self) -> Vec<(BString, Sides)> {
        let data = self.extensions.resolve_undo.as_deref().unwrap_or_default();
        let records = ResolveUndo::parse(data, self.hash);
        let records = records.iter().map(|(path, sides)| (path.to_owned(), sides));
        records.collect()
    }

    /// The hash of its object ids.
    pub fn hash(&self) -> Kind {
        self.hash
    }

    /// The version that it was read as, or is to be written as.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The checksum at the end of the file that it was read from; `None` if it was built in memory
    /// or the file had none (`index.skipHash`).
    pub fn checksum(&self) -> Option<&ObjectId> {
        self.checksum.as_ref()
    }

    /// All entries, ascending by path bytes, then stage.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All entries, to change their `stat` and `flags`. Stage, id and mode must not change, since
    /// order and cache tree depend on them; use a [`Builder`] for that.
    pub fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// The path of `entry`.
    ///
    /// # Panics
    /// May panic, or return a wrong path, if the entry belongs to another index.
    pub fn path(&self, entry: &Entry) -> &BStr {
        self.paths[entry.path.as_range()].as_bstr()
    }

    /// All entries with their paths, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&BStr, &Entry)> + Clone {
        self.entries.iter().map(|entry| (self.path(entry), entry))
    }

    /// The position of the entry for `path` at `stage`, or the position to insert it at.
    pub fn find(&self, path: &BStr, stage: Stage) -> std::result::Result<usize, usize> {
        self.entries.binary_search_by(|entry| {
            let by_path = self.path(entry).cmp(path);
            by_path.then(entry.flags.stage.cmp(&stage))
        })
    }

    /// The positions of the entries for `path`, which are several if it is in conflict.
    pub(crate) fn rows_at(&self, path: &BStr) -> Range<usize> {
        let start = self
            .entries
            .partition_point(|entry| self.path(entry) < path);
        let same = self.entries[start..]
            .iter()
            .take_while(|entry| self.path(entry) == path);
        start..start + same.count()
    }

    /// The positions of all entries below the directory `dir` (without a trailing slash; empty for
    /// the root), and of the sparse directory that stands for it.
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

    /// Those of `rows` whose paths are before `path`; all, if there is none.
    pub(crate) fn rows_before(&self, rows: Range<usize>, path: Option<&BStr>) -> Range<usize> {
        let Some(path) = path else {
            return rows;
        };
        let is_before = |entry: &Entry| self.path(entry) < path;
        let entries = self.entries.get(rows.clone()).unwrap_or_default();
        // Those who visit one path after another mostly ask where there is none.
        let count = match entries.first() {
            Some(entry) if is_before(entry) => entries.partition_point(is_before),
            _ => 0,
        };
        rows.start..rows.start + count
    }

    /// Whether both have the same paths, with the same modes, contents and stages.
    pub(crate) fn has_content_of(&self, other: &Index) -> bool {
        let mut pairs = self.entries.iter().zip(&other.entries);
        // Mostly one was made from the other: then all paths are compared at once.
        let share_paths = self.paths == other.paths;
        self.entries.len() == other.entries.len()
            && pairs.all(|(a, b)| {
                (a.id, a.mode, a.flags.stage) == (b.id, b.mode, b.flags.stage)
                    && (share_paths && a.path == b.path || self.path(a) == other.path(b))
            })
    }

    /// Whether any path is in conflict, that is, has a stage other than 0.
    pub fn is_unmerged(&self) -> bool {
        let conflicts = |entry: &Entry| entry.flags.stage != Stage::Merged;
        self.entries.iter().any(conflicts)
    }

    /// Whether it is a sparse index: one that may have entries for whole directories.
    pub fn has_sparse_directories(&self) -> bool {
        self.extensions.sparse
    }

    /// Marks the entries whose files changed in a way that lstat cannot show, by setting their size
    /// to 0, so that every later reader reads those files.
    ///
    /// Must be called before an index that was read from a file with the time `old_index_mtime` is
    /// written again, because the new file's time makes its racy entries look old. `is_modified` is
    /// called with the row of each racy entry and tells whether the file's *content* differs from the
    /// entry's object, whatever lstat says; this is Git's rule for "racily clean" entries.
    pub fn smudge_racily_clean(
        &mut self,
        old_index_mtime: Timestamp,
        is_modified: impl Fn(usize) -> bool,
    ) {
        for row in 0..self.entries.len() {
            if self.is_racy(row, old_index_mtime) && is_modified(row) {
                self.entries[row].stat.size = 0;
            }
        }
    }

    /// Whether the entry of this row has a file that last changed in the second of the index or later. It
    /// is by whole seconds, even if the reader compares nanoseconds, because Git does not compare them
    /// when it reads the index next.
    pub(crate) fn is_racy(&self, row: usize, index_mtime: Timestamp) -> bool {
        let entry = &self.entries[row];
        let has_file = entry.mode.is_file() && entry.flags.stage == Stage::Merged;
        has_file && entry.stat.is_racy(index_mtime, &StatRules::default())
    }
}

/// How `path` sorts relative to the paths that start with `dir` and a slash: before, among, after.
fn order_to_children(path: &BStr, dir: &BStr) -> Ordering {
    let head = path.get(..dir.len()).unwrap_or(path);
    head.cmp(dir.as_bytes())
        .then_with(|| path.get(dir.len()).cmp(&Some(&b'/')))
}

#[cfg(test)]
mod tests;
