//! The file `packed-refs`, as it is now.

use crate::refs::store::WriteOptions;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_ref::packed::Buffer;
use hedgerow_fs::{FileKind, LockFile, OutputFile, Stat};
use hedgerow_pack::ObjectId;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A larger file is mapped into memory.
const MAPPED_FROM_BYTES: u64 = 32 << 10;
/// A larger file is not rewritten.
const PACKED_LIMIT_BYTES: u64 = 4 << 30;

/// `packed-refs` of a repository; it is read again when it has changed.
#[derive(Debug)]
pub(super) struct PackedRefs {
    path: PathBuf,
    hash: gix_hash::Kind,
    known: Mutex<Option<(Stat, Arc<Buffer>)>>,
}

impl PackedRefs {
    /// Those of the repository at `common_dir`. Nothing is read yet.
    pub(super) fn new(common_dir: &Path, hash: gix_hash::Kind) -> Self {
        PackedRefs {
            path: common_dir.join("packed-refs"),
            hash,
            known: Mutex::default(),
        }
    }

    /// What it holds now; `None` if there is no such file.
    ///
    /// # Errors
    /// If it is broken, or cannot be read or asked for: that does not mean that there is none.
    pub(super) fn now(&self) -> Result<Option<Arc<Buffer>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stat) = hedgerow_fs::stat(&self.path)? else {
            *known = None;
            return Ok(None);
        };
        if let Some((then, buffer)) = &*known {
            if stat.is_as_before(then) {
                return Ok(Some(Arc::clone(buffer)));
            }
        }
        let buffer = match Buffer::open(self.path.clone(), MAPPED_FROM_BYTES, self.hash) {
            Ok(buffer) => Arc::new(buffer),
            Err(error) if error.is_not_found() => {
                *known = None;
                return Ok(None);
            }
            Err(error) => return Err(broken_packed(&error)),
        };
        *known = Some((stat, Arc::clone(&buffer)));
        Ok(Some(buffer))
    }
}

/// `packed-refs`, locked, with what it becomes if it changes.
#[derive(Debug)]
pub(super) struct PackedLock {
    lock: LockFile,
    next: Option<OutputFile>,
}

impl PackedRefs {
    /// Locks the file and writes one without the references `names`, which is not in its place yet.
    pub(super) fn without(
        &self,
        names: &[&BStr],
        options: &WriteOptions<'_>,
    ) -> Result<PackedLock> {
        let (limit, is_cancelled) = (options.packed_lock_timeout, options.is_cancelled);
        let lock = LockFile::acquire_within(&self.path, limit, is_cancelled)?;
        let stat = hedgerow_fs::lstat(&self.path)?;
        let content = hedgerow_fs::read_file(&self.path, PACKED_LIMIT_BYTES)?.unwrap_or_default();
        let left = without(&content, names);
        let changes = left.len() != content.len();
        if changes && stat.is_some_and(|stat| stat.kind == FileKind::Symlink) {
            return Err(Error::Setup {
                reason: format!(
                    "cannot delete a packed reference: '{}' is a symbolic link",
                    self.path.display()
                ),
            });
        }
        if !changes {
            return Ok(PackedLock { lock, next: None });
        }
        let next = OutputFile::create(&self.path)?;
        next.take_attributes_of_target()?;
        next.write_at(&left, 0)?;
        if options.sync {
            next.sync()?;
        }
        Ok(PackedLock {
            lock,
            next: Some(next),
        })
    }
}

impl PackedLock {
    /// Replaces the file. Returns the lock, which is still held.
    pub(super) fn commit(self) -> Result<LockFile> {
        if let Some(next) = self.next {
            next.commit(true)?;
        }
        Ok(self.lock)
    }
}

/// The lines of `content` without those of the references `names`.
fn without(content: &[u8], names: &[&BStr]) -> Vec<u8> {
    let mut left = Vec::with_capacity(content.len());
    let mut is_dropped = false;
    for line in content.lines_with_terminator() {
        // What a tag leads to follows the line of the tag.
        if !line.starts_with(b"^") {
            let name = line.split_once_str(" ").map(|(_, rest)| rest.trim_end());
            is_dropped = !line.starts_with(b"#")
                && name.is_some_and(|name| names.iter().any(|it| it.as_bytes() == name));
        }
        if !is_dropped {
            left.extend_from_slice(line);
        }
    }
    left
}

/// What `buffer` has below `prefix`, in the order of names, each once: the last one of a name counts.
pub(super) fn records<'b>(buffer: &'b Buffer, prefix: &BStr) -> Result<Vec<(&'b BStr, ObjectId)>> {
    let found = buffer.iter_prefixed(prefix.to_owned());
    let found = found.map_err(|error| broken_packed(&error))?;
    let records = found.map(|record| {
        let record = record.map_err(|error| broken_packed(&error))?;
        Ok((record.name.as_bstr(), record.target()))
    });
    let mut records = records.collect::<Result<Vec<_>>>()?;
    // The head of the file says that it is sorted, and that may be a lie.
    if !records.is_sorted_by(|(a, _), (b, _)| a < b) {
        records.reverse();
        records.sort_by_key(|(name, _)| *name);
        records.dedup_by_key(|(name, _)| *name);
    }
    Ok(records)
}

/// That `packed-refs` cannot be read, and why.
pub(super) fn broken_packed(error: &gix_error::Error) -> Error {
    Error::Setup {
        reason: format!("cannot read packed-refs: {}", error.probable_cause()),
    }
}
