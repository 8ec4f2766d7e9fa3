//! The index of a working tree that nobody has looked at: made of what its image holds.

use crate::index::{Builder, CacheTree, EntryStat, Flags, Mode, WriteOptions};
use crate::repository::Repository;
use crate::tree::Difference;
use crate::worktree::sparse::SparsePatterns;
use crate::worktree::{name_rules, version, write_options};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{OutputFile, Stat};
use hedgerow_tree::Metadata;
use std::path::Path;

/// What is in an image.
pub(crate) struct ImageContents<'a> {
    pub repository: &'a Repository,
    pub tree: ObjectId,
    /// The stat data of everything in it, in the order of paths.
    pub stats: Vec<(BString, EntryStat)>,
    /// What was left out of it.
    pub sparse: Option<&'a SparsePatterns>,
}

impl ImageContents<'_> {
    /// Writes the index to `target`. Numbers of inodes, times, sizes and owners are those in the image,
    /// which the kernel shows when it is mounted, also below an overlay; so no file needs to be
    /// looked at.
    pub(crate) fn write_index(&self, target: &Path, execution: &Execution) -> Result<()> {
        let repository = self.repository;
        let stats = &self.stats;
        let names = name_rules(repository);
        let options = execution.options("index");
        let tree = Difference::between(repository, None, Some(self.tree), names, &options)?;
        let asked = repository.settings().index_version.and_then(version);
        let mut builder = Builder::new(repository.hash_kind(), asked.unwrap_or_default());
        for change in tree.changes() {
            let Some(side) = change.new else { continue };
            let path = tree.path(change);
            let is_excluded = self.sparse.is_some_and(|sparse| sparse.excludes(path));
            let stat = match stats.binary_search_by(|(other, _)| other.as_bstr().cmp(path)) {
                Ok(at) => stats[at].1,
                Err(_) if is_excluded => EntryStat::default(),
                Err(_) => return Err(missing(path)),
            };
            let flags = Flags {
                skip_worktree: is_excluded,
                ..Flags::default()
            };
            builder.push(path, side.id, Mode::from(side.kind), stat, flags)?;
        }
        let mut index = builder.finish();
        let cache_tree = CacheTree::build(&index, |id| repository.has_tree(id));
        index.set_cache_tree(cache_tree);
        let mut content = Vec::new();
        // It is for all who use the image, and what is kept is checked.
        let options = WriteOptions {
            skip_hash: false,
            ..write_options(repository)?
        };
        index.write(&mut content, &options);
        let file = OutputFile::create(target)?;
        file.write_at(&content, 0)?;
        repository.settings().sharing.open_output(&file)?;
        // With it, the image is there, also after a power failure.
        file.sync()?;
        Ok(file.commit(true)?)
    }
}

fn missing(path: &BStr) -> Error {
    Error::Internal {
        reason: format!("'{path}' is not in the image of its tree"),
    }
}

/// The stat data of an entry when its image is mounted. The times of an image are one time.
pub(crate) fn entry_stat(metadata: &Metadata) -> EntryStat {
    let time = hedgerow_fs::Timestamp {
        seconds: metadata.mtime_s,
        nanoseconds: metadata.mtime_ns,
    };
    EntryStat::from(&Stat {
        kind: hedgerow_fs::FileKind::File,
        mode: metadata.mode,
        size: metadata.size_bytes,
        atime: time,
        mtime: time,
        ctime: time,
        dev: 0,
        ino: metadata.ino,
        uid: metadata.uid,
        gid: metadata.gid,
        nlink: metadata.nlink,
        rdev: 0,
        blocks: metadata.blocks,
        io_bytes: 0,
    })
}
