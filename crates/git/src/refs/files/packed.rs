//! The file `packed-refs`, as it is now.

use crate::{Error, Result};
use bstr::BStr;
use gix_ref::packed::Buffer;
use hedgerow_fs::Stat;
use hedgerow_pack::ObjectId;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A larger file is mapped into memory.
const MAPPED_FROM_BYTES: u64 = 32 << 10;

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
            if *then == stat {
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
