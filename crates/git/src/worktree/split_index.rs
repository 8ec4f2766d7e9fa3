//! Split indexes: when an index is written split, when its shared index is renewed, and when shared
//! indexes that are not used any more are removed. git-update-index(1), "Split index".
//!
//! The shared index gets its name before the index that refers to it, and others are removed after
//! that, so that the index can be read whenever the process ends.

use crate::dates::Expiry;
use crate::index::{shared_name, Index, SharedIndex, WriteOptions, SHARED_PREFIX};
use crate::repository::Repository;
use crate::Result;
use bstr::ByteSlice;
use gix_hash::ObjectId;
use hedgerow_fs::OutputFile;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// How much of the entries may be outside the shared index where nothing is set, in percent.
const MAX_PERCENT: i64 = 20;
/// `splitIndex.sharedIndexExpire` where it is not set.
const EXPIRY: &str = "2.weeks.ago";

/// Whether the settings ask for an index that is split otherwise than `index` was read. If so, it is
/// changed accordingly.
pub(super) fn adjust(repository: &Repository, index: &mut Index) -> bool {
    match (repository.wants_split_index(), index.split().is_some()) {
        (Some(true), false) => index.set_split(Some(SharedIndex::none(index.hash()))),
        (Some(false), true) => index.set_split(None),
        _ => return false,
    }
    true
}

/// What remains to be done when the index is in place.
pub(super) enum Afterwards {
    Nothing,
    /// The shared index was used again.
    Freshen(ObjectId),
    /// There is a new shared index.
    Expire(ObjectId),
}

/// The content of the file of `index`. If it is split and needs a new shared index, that is written.
pub(super) fn written(
    repository: &Repository,
    index: &Index,
    options: &WriteOptions,
) -> Result<(Vec<u8>, Afterwards)> {
    let mut content = Vec::new();
    // Git has no index that is both split and sparse.
    let Some(shared) = index.split().filter(|_| !index.has_sparse_directories()) else {
        index.write(&mut content, options);
        return Ok((content, Afterwards::Nothing));
    };
    if !is_renewed(repository, index, shared) {
        index.write_split(&mut content, options);
        return Ok((content, Afterwards::Freshen(shared.id)));
    }
    let mut whole = Vec::new();
    let id = index.write_shared(&mut whole, options);
    let path = repository.git_dir().join(shared_name(&id));
    let Ok(file) = OutputFile::create(&path) else {
        // As with git, the index is whole where nothing can be written beside it.
        index.write(&mut content, options);
        return Ok((content, Afterwards::Nothing));
    };
    file.write_at(&whole, 0)?;
    let settings = repository.settings();
    settings.sharing.open_output(&file)?;
    if settings.fsync.index {
        file.sync()?;
    }
    file.commit(true)?;
    if settings.fsync.index {
        hedgerow_fs::sync_directory(repository.git_dir())?;
    }
    let mut split = Cow::Borrowed(index);
    split.to_mut().set_split(Some(index.as_shared(id)));
    split.write_split(&mut content, options);
    Ok((content, Afterwards::Expire(id)))
}

/// Whether so little of `index` is in its shared index that it gets a new one.
fn is_renewed(repository: &Repository, index: &Index, shared: &SharedIndex) -> bool {
    let limit = repository.config().integer("splitIndex.maxPercentChange");
    let limit = limit
        .ok()
        .flatten()
        .filter(|limit| (0..=100).contains(limit));
    match limit.unwrap_or(MAX_PERCENT) {
        _ if shared.id.is_null() => true,
        0 => true,
        100 => false,
        limit => (index.entries().len() as i64) * limit < (index.count_unshared() as i64) * 100,
    }
}

impl Afterwards {
    /// Marks the shared index as used, or removes others that were not for long. Nothing depends on
    /// whether that succeeds.
    pub(super) fn finish(self, repository: &Repository) {
        match self {
            Afterwards::Nothing => {}
            Afterwards::Freshen(id) => {
                let _ = hedgerow_fs::touch(&repository.git_dir().join(shared_name(&id)));
            }
            Afterwards::Expire(id) => {
                let _ = remove_expired(repository, &id);
            }
        }
    }
}

fn remove_expired(repository: &Repository, current: &ObjectId) -> Result<()> {
    let text = repository.config().string("splitIndex.sharedIndexExpire");
    let text = text.unwrap_or_else(|| EXPIRY.into());
    // With a setting that cannot be understood, nothing is removed.
    let limit_s = match Expiry::parse(text.as_bstr()) {
        Some(Expiry::Before(limit_s)) => limit_s,
        Some(Expiry::Now) => i64::MAX,
        Some(Expiry::Never) | None => return Ok(()),
    };
    let current = shared_name(current);
    let directory = repository.git_dir();
    for entry in hedgerow_fs::list_directory(directory)?.unwrap_or_default() {
        let is_shared = entry.name.starts_with(SHARED_PREFIX.as_bytes());
        if !is_shared || entry.name == current.as_bytes() {
            continue;
        }
        let path = directory.join(OsStr::from_bytes(&entry.name));
        let stat = hedgerow_fs::lstat(&path)?;
        if stat.is_some_and(|stat| stat.mtime.seconds <= limit_s) {
            hedgerow_fs::remove_file(&path)?;
        }
    }
    Ok(())
}
