//! Deletes packs whose objects are all taken from others.

use super::layers::{failed, Layers, Loaded};
use super::write::{write, MidxOptions};
use crate::error::{Error, Result};
use crate::format::verified::VerifiedFiles;
use crate::pack_file::pack::Pack;
use crate::pack_file::sidecars::delete_pack;
use gix_hash::oid;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Deletes the packs that the multi-pack-index of the object directory `objects` lists without
/// using any of their objects, and rewrites it without them. Kept packs (`.keep`) and cruft packs
/// (`.mtimes`) stay. Returns the number of deleted packs. `warn` receives git's warnings.
///
/// # Errors
/// [`Error::MultiPackIndexChain`] if it is a chain, [`Error::MultiPackIndex`] if it is wrong about an
/// object: nothing is deleted then.
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
        return Err(Error::MultiPackIndexChain { reason });
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
    check(&packs, &layers, &dropped, options)?;
    // The packs are deleted only when the multi-pack-index no longer lists them.
    if let Some(written) = write(&packs, options, &dropped, warn)? {
        written.commit()?;
    }
    if options.sync {
        // The new multi-pack-index must be on disk before the packs are deleted.
        hedgerow_fs::sync_directory(&packs)?;
    }
    for name in &dropped {
        delete_pack(&packs.join(name).with_extension("pack"))?;
    }
    Ok(dropped.len())
}

/// Refuses to delete the packs `dropped` unless all of their objects are in other packs that
/// `layers` list. This is checked in the indexes of the packs: the multi-pack-index is only used as
/// a hint where to look first.
fn check(
    packs: &Path,
    layers: &Layers,
    dropped: &HashSet<String>,
    options: &MidxOptions,
) -> Result<()> {
    let verified = Arc::new(VerifiedFiles::new(packs, false));
    let open = |name: &str| {
        let path = packs.join(name).with_extension("pack");
        Pack::new(path, options.hash, false, Arc::clone(&verified)).hashing_its_index()
    };
    let stays = |name: &str| !dropped.contains(name);
    let staying: Vec<Option<Pack>> = layers
        .names()
        .map(|name| stays(name).then(|| open(name)))
        .collect();
    let has = |pack: &Pack, id: &oid| pack.usable_offset(id).is_some();
    for name in dropped {
        let pack = open(name);
        let unusable = |reason: &str| failed(packs, format!("cannot expire '{name}': {reason}"));
        let index = pack.index().map_err(unusable)?;
        for id in (0..index.count()).filter_map(|position| index.id(position)) {
            let id = oid::from_bytes_unchecked(id);
            let named = layers.iter().find_map(|layer| {
                let (number, _) = layer.file.lookup(id.as_bytes())?;
                staying.get((layer.first_pack + number) as usize)?.as_ref()
            });
            let is_there = named.is_some_and(|pack| has(pack, id))
                || staying.iter().flatten().any(|pack| has(pack, id));
            if !is_there {
                let reason = format!("the multi-pack-index is wrong: no other pack has {id}");
                return Err(unusable(&reason));
            }
        }
    }
    Ok(())
}
