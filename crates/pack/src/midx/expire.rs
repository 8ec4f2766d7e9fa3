//! Deleting packs whose objects are all in others.

use super::layers::Loaded;
use super::write::{failed, write, MidxOptions};
use crate::Result;
use std::collections::HashSet;
use std::path::Path;

/// What belongs to a pack. The pack goes first: without it nobody uses the others.
const EXTENSIONS: [&str; 6] = ["pack", "idx", "rev", "bitmap", "promisor", "mtimes"];

/// Deletes the packs that the multi-pack-index of the object directory `objects` lists without
/// naming an object of them, and lists the others anew. Packs that are kept (`.keep`) or cruft
/// (`.mtimes`) stay. Returns how many were deleted. `warn` is told what git warns of.
///
/// # Errors
/// [`Error::MultiPackIndex`](crate::Error::MultiPackIndex) if it is a chain.
pub fn expire_midx_packs(
    objects: &Path,
    options: &MidxOptions,
    warn: &mut dyn FnMut(String),
) -> Result<usize> {
    let packs = objects.join("pack");
    let loaded = Loaded::open(&packs, options.hash)?;
    loaded.complaints().for_each(&mut *warn);
    let layers = loaded.layers;
    if layers.iter().count() > 1 {
        let reason = "cannot expire packs from an incremental multi-pack-index";
        return Err(failed(&packs, reason.into()));
    }
    let rows = (0..layers.count()).filter_map(|position| layers.row(position));
    let used: HashSet<u32> = rows.map(|(pack, _)| pack).collect();
    let can_go = |name: &str| {
        let has = |extension| hedgerow_fs::exists(&packs.join(name).with_extension(extension));
        has("pack") && !has("keep") && !has("mtimes")
    };
    let unused = (0..).zip(layers.names());
    let unused = unused.filter(|(number, name)| !used.contains(number) && can_go(name));
    let dropped: HashSet<String> = unused.map(|(_, name)| name.to_owned()).collect();
    if dropped.is_empty() {
        return Ok(0);
    }
    // The packs are deleted when nothing lists them any more.
    if let Some(written) = write(&packs, options, &dropped, warn)? {
        written.commit()?;
    }
    if options.sync {
        // What names no pack that goes must be there when they have gone.
        hedgerow_fs::sync_directory(&packs)?;
    }
    for name in &dropped {
        for extension in EXTENSIONS {
            hedgerow_fs::remove_file(&packs.join(name).with_extension(extension))?;
        }
    }
    Ok(dropped.len())
}
