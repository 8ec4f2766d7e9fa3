use super::entry::{Entry, Flags, Mode, PathRange, Stage};
use super::extensions::untracked::UntrackedCache;
use super::prefix::common_len;
use super::stat::EntryStat;
use super::{Index, Version};
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::{Kind, ObjectId};
use std::cmp::Ordering;
use std::ops::Range;

/// Up to this many entries are appended one by one: copying more at once takes a few searches besides.
const FEW_ROWS: usize = if cfg!(test) { 2 } else { 256 };

/// Builds an index from entries in ascending order of path bytes, then stage.
#[derive(Debug)]
pub struct Builder {
    index: Index,
    /// The entries whose paths are what the last path begins with, the shortest first: by the lengths of
    /// their paths, and their stages.
    beginnings: Vec<(usize, Stage)>,
}

impl Builder {
    /// Creates a builder for an index that [`Index::write`] writes as `version`.
    pub fn new(hash: Kind, version: Version) -> Self {
        let mut index = Index::empty(hash);
        index.version = version;
        Builder {
            index,
            beginnings: Vec::new(),
        }
    }

    /// Creates a builder for an index like `old`, with the same capacity.
    pub fn replacing(old: &Index) -> Self {
        let mut builder = Builder::new(old.hash, old.version);
        builder.reserve(old.entries.len(), old.paths.len());
        builder
    }

    /// Reserves space for `entries` more entries whose paths have `path_bytes` bytes in total.
    pub fn reserve(&mut self, entries: usize, path_bytes: usize) {
        self.index.entries.reserve(entries);
        self.index.paths.reserve(path_bytes);
    }

    /// Appends an entry. A sparse directory's path ends in a slash.
    ///
    /// # Errors
    /// [`Error::IndexEntry`] if the entry does not follow the last one in order, if the path is
    /// merged and in conflict at once, a file and a directory at once, empty or contains a NUL, if
    /// the id is null or of another hash, or if the index has 4 GiB of paths. Whether the path is
    /// safe to check out is not checked.
    pub fn push(
        &mut self,
        path: &BStr,
        id: ObjectId,
        mode: Mode,
        stat: EntryStat,
        flags: Flags,
    ) -> Result<()> {
        let refused = |reason| Error::IndexEntry {
            path: path.to_owned(),
            reason,
        };
        let common = self.check(path, &id, mode, flags.stage).map_err(refused)?;
        let range = PathRange::new(self.index.paths.len(), path.len());
        let range = range.ok_or_else(|| refused("the paths exceed 4 GiB"))?;
        self.index.paths.extend_from_slice(path);
        self.index.extensions.sparse |= mode == Mode::SparseDirectory;
        let are_common = self.beginnings.partition_point(|&(len, _)| len <= common);
        self.beginnings.truncate(are_common);
        self.beginnings.push((path.len(), flags.stage));
        self.index.entries.push(Entry {
            id,
            mode,
            stat,
            flags,
            path: range,
        });
        Ok(())
    }

    /// Appends entries of another index as they are, which must be of its kind: what [`Builder::push`]
    /// does, one by one, and in a time that is short beside that.
    ///
    /// # Errors
    /// As of [`Builder::push`]; those of `old` that follow each other there are taken for right.
    pub fn extend_from(&mut self, old: &Index, rows: Range<usize>) -> Result<()> {
        let mut rows = rows;
        let mut tries_all = rows.len() > FEW_ROWS;
        while let Some(row) = rows.next() {
            let entry = &old.entries[row];
            let path = old.path(entry);
            self.push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
            // Behind the first one: what may follow it is known of the others.
            if std::mem::take(&mut tries_all)
                && self.is_free_of(old, &rows)
                && self.copy(old, &rows)
            {
                break;
            }
        }
        Ok(())
    }

    /// Whether none of `rows`, which follow the last entry, can be below a file that is here already.
    fn is_free_of(&self, old: &Index, rows: &Range<usize>) -> bool {
        let Some(last) = self.index.entries.last() else {
            return true;
        };
        let path = self.index.path(last);
        let is_free = |(len, _): &(usize, Stage)| {
            let below = old.range_under(&path[..*len]);
            below.end <= rows.start || below.start >= rows.end
        };
        self.beginnings.iter().all(is_free)
    }

    /// Appends `rows` of `old`, which may follow the last entry. Returns whether it did: their paths must
    /// be one piece, and fit.
    fn copy(&mut self, old: &Index, rows: &Range<usize>) -> bool {
        let entries = &old.entries[rows.clone()];
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return true;
        };
        let piece = first.path.as_range().start..last.path.as_range().end;
        let is_in_it = |entry: &Entry| {
            let path = entry.path.as_range();
            piece.start <= path.start && path.end <= piece.end
        };
        let to = self.index.paths.len();
        let does_fit = PathRange::new(to, piece.len()).is_some()
            && self.index.entries.len() + entries.len() < u32::MAX as usize;
        if !does_fit || !entries.iter().all(is_in_it) {
            return false;
        }
        let moved = entries.iter().map(|entry| Entry {
            path: PathRange {
                start: (entry.path.as_range().start - piece.start + to) as u32,
                len: entry.path.len,
            },
            ..*entry
        });
        self.index.entries.extend(moved);
        let is_sparse = |entry: &Entry| entry.mode == Mode::SparseDirectory;
        self.index.extensions.sparse |= entries.iter().any(is_sparse);
        self.index.paths.extend_from_slice(&old.paths[piece]);
        self.beginnings = self.beginnings_of_last();
        true
    }

    /// The entries that the path of the last one begins with, itself among them. What lies between such
    /// an entry and the last one begins with its path, too.
    fn beginnings_of_last(&self) -> Vec<(usize, Stage)> {
        let entries = &self.index.entries;
        let path = entries.last().map(|last| self.index.path(last));
        let mut start = path.unwrap_or_default();
        let mut end = entries.len();
        let mut beginnings = Vec::new();
        while let Some(entry) = entries[..end].last() {
            let before = self.index.path(entry);
            start = start[..common_len(start, before)].as_bstr();
            if start.is_empty() {
                break;
            } else if start.len() == before.len() {
                beginnings.push((start.len(), entry.flags.stage));
                end -= 1;
            } else {
                end = entries[..end].partition_point(|entry| self.index.path(entry) <= start);
            }
        }
        beginnings.reverse();
        beginnings
    }

    /// The index, with only the extensions that follow from its entries.
    pub fn finish(self) -> Index {
        self.index
    }

    /// The index, with the extensions of `old`, the index it replaces, that are still valid: the
    /// file system monitor's token (its flags came with the entries), the cache of untracked files
    /// (except for directories in which paths were added or removed), the shared index, and the
    /// sparse mark. The
    /// sides of resolved conflicts are dropped, as Git does when it switches branches; the cache
    /// tree must be set by the caller.
    pub fn finish_replacing(mut self, old: &Index) -> Index {
        let untracked = self.untracked_cache_after(old);
        let kept = &mut self.index.extensions;
        kept.fsmonitor_token
            .clone_from(&old.extensions.fsmonitor_token);
        kept.sparse |= old.extensions.sparse;
        kept.split.clone_from(&old.extensions.split);
        kept.untracked = untracked;
        self.index
    }

    /// The untracked cache of `old`, without the records of directories in which paths were added
    /// or removed.
    fn untracked_cache_after(&self, old: &Index) -> Option<UntrackedCache> {
        let mut cache = old.extensions.untracked.clone()?;
        let ends = cache.ends();
        let mut before = old.iter().map(|(path, _)| path).peekable();
        let mut after = self.index.iter().map(|(path, _)| path).peekable();
        loop {
            let path = match (before.peek(), after.peek()) {
                (None, None) => return Some(cache),
                (Some(gone), Some(new)) => match gone.cmp(new) {
                    Ordering::Equal => {
                        before.next();
                        after.next();
                        continue;
                    }
                    Ordering::Less => before.next(),
                    Ordering::Greater => after.next(),
                },
                (Some(_), None) => before.next(),
                (None, Some(_)) => after.next(),
            };
            path.into_iter()
                .for_each(|path| cache.invalidate(path, &ends));
        }
    }

    /// Checks whether the entry may follow the last one; the error is the reason. Returns how many bytes
    /// of its path are those of the last one.
    fn check(
        &self,
        path: &BStr,
        id: &ObjectId,
        mode: Mode,
        stage: Stage,
    ) -> std::result::Result<usize, &'static str> {
        if path.is_empty() || path.find_byte(0).is_some() {
            return Err("a path must not be empty nor hold a NUL");
        }
        if id.is_null() || id.kind() != self.index.hash {
            return Err("its object id is null or of another hash");
        }
        if self.index.entries.len() >= u32::MAX as usize {
            return Err("there are 2^32 entries already");
        }
        let is_directory = mode == Mode::SparseDirectory;
        if is_directory != path.ends_with(b"/") || (is_directory && stage != Stage::Merged) {
            return Err("sparse directories, and only they, are merged and end in a slash");
        }
        let Some(last) = self.index.entries.last() else {
            return Ok(0);
        };
        let before = self.index.path(last);
        let common = common_len(before, path);
        match before.get(common).cmp(&path.get(common)) {
            Ordering::Less => {}
            Ordering::Equal if last.flags.stage < stage => {
                return match last.flags.stage {
                    Stage::Merged => Err("it is both merged and in conflict"),
                    _ => Ok(common),
                };
            }
            _ => return Err("it is not behind the last entry in order"),
        }
        if last.mode == Mode::SparseDirectory && path.starts_with(before) {
            return Err("it lies in a sparse directory");
        }
        if self.is_below_a_file(path, common, stage) {
            Err("a directory that leads to it is a file")
        } else {
            Ok(common)
        }
    }

    /// Whether a directory of `path`, which has `common` bytes in common with the last path, is also an
    /// entry of the same stage. Such a file sorts before the content of the directory, and what lies
    /// between them begins with its path, too.
    fn is_below_a_file(&self, path: &BStr, common: usize, stage: Stage) -> bool {
        let common = self.beginnings.iter().take_while(|(len, _)| *len <= common);
        let mut of_stage = common.filter(|(_, of)| *of == stage);
        of_stage.any(|(len, _)| path.get(*len) == Some(&b'/'))
    }
}
