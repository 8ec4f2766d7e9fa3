//! The bitmap of a multi-pack-index.

use super::bitmap::options::build;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::Output;
use hedgerow_pack::{Bitmaps, ObjectStore, WrittenMidx};
use hedgerow_reach::BuildOptions;
use std::path::PathBuf;

/// Gives `written`, whose packs are in `store`, its name, and its bitmap before that: nobody sees
/// one without the other. `sync`: waits until the bitmap is on the disk. Shows how far it
/// is.
pub fn commit_with_bitmap(
    written: WrittenMidx,
    store: &ObjectStore,
    options: BuildOptions,
    sync: bool,
    global: &Global,
    output: &Output,
) -> Result<(), Failure> {
    let bitmap = write(&written, store, options, sync, global)?;
    store
        .warnings()
        .iter()
        .for_each(|warning| output.warn(warning));
    written.commit().map_err(|error| {
        if let Some(bitmap) = bitmap {
            // There is nothing it could belong to.
            let _ = hedgerow_fs::remove_file(&bitmap);
        }
        Failure::fatal(error)
    })
}

/// Writes the bitmap. Returns where, unless there is nothing it could be of.
fn write(
    written: &WrittenMidx,
    store: &ObjectStore,
    options: BuildOptions,
    sync: bool,
    global: &Global,
) -> Result<Option<PathBuf>, Failure> {
    let Some(order) = written.bit_order(store).map_err(Failure::fatal)? else {
        return Ok(None);
    };
    let options = BuildOptions {
        only_reachable: true,
        ..options
    };
    let previous = Bitmaps::open(store);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::refused(format_args!("could not write multi-pack bitmap: {error}"))
    };
    let contents = build(store, &order, previous.as_ref(), &options, global, failed)?;
    let path = contents.write(options.threads, sync);
    Ok(Some(path.map_err(|error| failed(&error))?))
}
