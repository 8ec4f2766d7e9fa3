//! The bitmap of a multi-pack-index.

use crate::bitmaps::build_bitmaps;
use crate::error::refused;
use crate::midx_tending::commit_midx;
use crate::Observer;
use crate::{Error, Result};
use hedgerow_git::repository::Repository;
use hedgerow_pack::{Bitmaps, ObjectStore, WrittenMidx};
use hedgerow_reach::BuildOptions;
use std::fmt::Display;
use std::path::PathBuf;

/// Renames `written`, whose packs are in `store`, to its final name, after its bitmap is in place,
/// so that no reader sees one without the other; both are as open as `repository` is. `sync`: wait until the bitmap is on disk. Shows
/// the progress.
pub fn commit_with_bitmap(
    repository: &Repository,
    written: WrittenMidx,
    store: &ObjectStore,
    options: BuildOptions,
    sync: bool,
    observer: &dyn Observer,
) -> Result<()> {
    let bitmap = write(&written, store, options, sync, observer)?;
    store
        .warnings()
        .iter()
        .for_each(|warning| observer.warn(warning));
    let shared = bitmap.as_deref().map(|path| repository.share_file(path));
    shared.transpose()?;
    commit_midx(repository, written).map_err(|error| {
        if let Some(bitmap) = bitmap {
            // The bitmap would belong to nothing.
            let _ = hedgerow_fs::remove_file(&bitmap);
        }
        refused(error)
    })
}

/// Writes the bitmap. Returns its path; `None` if there are no objects.
fn write(
    written: &WrittenMidx,
    store: &ObjectStore,
    options: BuildOptions,
    sync: bool,
    observer: &dyn Observer,
) -> Result<Option<PathBuf>> {
    let Some(order) = written.bit_order(store)? else {
        return Ok(None);
    };
    let options = BuildOptions {
        only_reachable: true,
        ..options
    };
    let previous = Bitmaps::open(store);
    let contents = build_bitmaps(store, &order, previous.as_ref(), &options, observer);
    let contents = contents.map_err(|error| match error {
        hedgerow_reach::Error::Interrupted => Error::Interrupted,
        error => failed(&error),
    })?;
    let path = contents.write(options.execution.threads().get(), sync);
    Ok(Some(path.map_err(|error| failed(&error))?))
}

fn failed(error: &dyn Display) -> Error {
    let reason = error.to_string();
    Error::MidxBitmap { reason }
}
