//! Removes a multi-pack-index before packs that it lists are deleted.

use super::clear;
use super::layers::{chain_path, plain_path, Loaded};
use crate::{HashKind, Result};
use std::path::Path;

/// The packs that the multi-pack-index of the object directory `objects` lists, by the names of
/// their indexes; empty if there is no usable one.
pub fn midx_packs(objects: &Path, hash: HashKind) -> Result<Vec<String>> {
    let loaded = Loaded::open(&objects.join("pack"), hash)?;
    Ok(loaded.layers.names().map(str::to_owned).collect())
}

/// Removes the multi-pack-index of the object directory `objects` and its auxiliary files.
pub fn remove_midx(objects: &Path) -> Result<()> {
    let packs = objects.join("pack");
    // Readers that find only a part of it ignore it.
    hedgerow_fs::remove_file(&plain_path(&packs))?;
    hedgerow_fs::remove_file(&chain_path(&packs))?;
    clear::all(&packs)?;
    Ok(())
}
