//! The file `packed-refs`, as it is now.

use crate::{Error, Result};
use gix_ref::packed::Buffer;
use hedgerow_fs::Stat;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// `packed-refs` of a repository; it is read again when it has changed.
#[derive(Debug)]
pub(crate) struct PackedRefs {
    files: gix_ref::file::Store,
    known: Mutex<Option<(Stat, Arc<Buffer>)>>,
}

impl PackedRefs {
    /// Those of the repository at `common_dir`. Nothing is read yet.
    pub(crate) fn new(common_dir: &Path, hash: gix_hash::Kind) -> Self {
        PackedRefs {
            files: gix_ref::file::Store::at(common_dir.to_owned(), hash),
            known: Mutex::default(),
        }
    }

    /// What it holds now; `None` if there is no such file.
    ///
    /// # Errors
    /// If it is broken, or cannot be read or asked for: that does not mean that there is none.
    pub(crate) fn now(&self) -> Result<Option<Arc<Buffer>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stat) = hedgerow_fs::stat(&self.files.packed_refs_path())? else {
            *known = None;
            return Ok(None);
        };
        if let Some((then, buffer)) = &*known {
            if *then == stat {
                return Ok(Some(Arc::clone(buffer)));
            }
        }
        let opened = self.files.open_packed_buffer();
        let buffer = opened.map_err(|error| broken_packed(&error))?.map(Arc::new);
        *known = buffer.clone().map(|buffer| (stat, buffer));
        Ok(buffer)
    }
}

/// That `packed-refs` cannot be read, and why.
pub(crate) fn broken_packed(error: &gix_error::Error) -> Error {
    Error::Setup {
        reason: format!("cannot read packed-refs: {}", error.probable_cause()),
    }
}
