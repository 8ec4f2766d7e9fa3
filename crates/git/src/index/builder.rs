use super::entry::{Entry, Flags, Mode, PathRange, Stage};
use super::extensions::untracked;
use super::stat::EntryStat;
use super::{Index, Version};
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::{Kind, ObjectId};

/// Makes an index from entries in ascending order of path bytes, then stage.
#[derive(Debug)]
pub struct Builder {
    index: Index,
}

impl Builder {
    /// A builder of an index that [`Index::write`] writes as `version`.
    pub fn new(hash: Kind, version: Version) -> Self {
        let mut index = Index::empty(hash);
        index.version = version;
        Builder { index }
    }

    /// Makes room for `entries` more entries whose paths sum to `path_bytes`.
    pub fn reserve(&mut self, entries: usize, path_bytes: usize) {
        self.index.entries.reserve(entries);
        self.index.paths.reserve(path_bytes);
    }

    /// Adds an entry behind all others. A sparse directory's path ends in a slash.
    ///
    /// # Errors
    /// [`Error::IndexEntry`] if the entry does not follow the last one in order, if the path is
    /// merged and in conflict at once, a file and a directory at once, empty or holds a NUL, if
    /// the id is null or of another hash, or if the index has 4 GiB of paths. Whether the path
    /// is safe to check out is not looked at.
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
        self.check(path, &id, mode, flags.stage).map_err(refused)?;
        let range = PathRange::new(self.index.paths.len(), path.len());
        let range = range.ok_or_else(|| refused("the paths exceed 4 GiB"))?;
        self.index.paths.extend_from_slice(path);
        self.index.extensions.sparse |= mode == Mode::SparseDirectory;
        self.index.entries.push(Entry {
            id,
            mode,
            stat,
            flags,
            path: range,
        });
        Ok(())
    }

    /// The index, without any extension but what follows from its entries.
    pub fn finish(self) -> Index {
        self.index
    }

    /// The index, with those extensions of `old`, the index it replaces, that are still true:
    /// the file system monitor's token (its flags came with the entries), the cache of untracked
    /// files (emptied if the set of paths changed), and being sparse. The sides of resolved
    /// conflicts are dropped, as Git does when it switches branches; the cache tree is the
    /// caller's to set.
    pub fn finish_replacing(mut self, old: &Index) -> Index {
        let same_paths = self.has_paths_of(old);
        let kept = &mut self.index.extensions;
        kept.fsmonitor_token
            .clone_from(&old.extensions.fsmonitor_token);
        kept.sparse |= old.extensions.sparse;
        kept.untracked = match &old.extensions.untracked {
            Some(data) if same_paths => Some(data.clone()),
            Some(data) => untracked::emptied(data, old.hash),
            None => None,
        };
        self.index
    }

    fn has_paths_of(&self, old: &Index) -> bool {
        let paths = |index: &Index| index.entries.len();
        paths(&self.index) == paths(old)
            && self.index.iter().map(|e| e.0).eq(old.iter().map(|e| e.0))
    }

    fn check(
        &self,
        path: &BStr,
        id: &ObjectId,
        mode: Mode,
        stage: Stage,
    ) -> std::result::Result<(), &'static str> {
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
            return Ok(());
        };
        let before = self.index.path(last);
        if (before, last.flags.stage) >= (path, stage) {
            return Err("it is not behind the last entry in order");
        }
        if before == path && last.flags.stage == Stage::Merged {
            return Err("it is both merged and in conflict");
        }
        if last.mode == Mode::SparseDirectory && path.starts_with(before) {
            return Err("it lies in a sparse directory");
        }
        match self.is_below_a_file(path, before, stage) {
            true => Err("a directory that leads to it is a file"),
            false => Ok(()),
        }
    }

    /// Whether a directory of `path` is also an entry of the same stage. Only directories that
    /// `before`, the path of the last entry, is not in need a look: a file that bears the name of
    /// such a directory sorts before it.
    fn is_below_a_file(&self, path: &BStr, before: &BStr, stage: Stage) -> bool {
        let common = before
            .iter()
            .zip(path.iter())
            .take_while(|(a, b)| a == b)
            .count();
        let slashes = path.find_iter("/").skip_while(|&slash| slash < common);
        let mut directories = slashes.filter_map(|slash| path.get(..slash));
        directories.any(|directory| self.index.find(directory.as_bstr(), stage).is_ok())
    }
}
