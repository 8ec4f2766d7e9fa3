//! Packs of a limited size: git-pack-objects(1), `--max-pack-size`.

use crate::{stage_pack, Contents, FileOptions, PackOptions, Result, StagedPack, Wanted};
use hedgerow_pack::ObjectStore;
use std::path::Path;

/// Writes `wanted` as [`stage_pack`] does, to as many packs as needed for none to be longer than
/// `limit_bytes`. Only a pack of a single object may be longer.
///
/// The length of a pack is known only after it is written: a pack that is too long is written again
/// in two parts. The first division uses the sizes in which the objects are stored now.
///
/// # Errors
/// As [`stage_pack`].
pub fn stage_limited_packs(
    store: &ObjectStore,
    mut wanted: Vec<Wanted>,
    limit_bytes: u64,
    options: &PackOptions,
    files: &FileOptions,
    base: &Path,
) -> Result<Vec<StagedPack>> {
    // Objects of the same kind and name are likely deltas of each other, and should stay together.
    wanted.sort_by_key(|object| (std::cmp::Reverse(object.kind as u8), object.name_hash));
    let mut parts = parts(store, wanted, limit_bytes);
    parts.reverse();
    let mut packs = Vec::new();
    while let Some(part) = parts.pop() {
        let contents = Contents {
            wanted: part,
            ..Contents::default()
        };
        let staged = stage_pack(store, &contents, options, files, base)?;
        let mut part = contents.wanted;
        if staged.written.bytes > limit_bytes && part.len() > 1 {
            let second = part.split_off(part.len() / 2);
            parts.push(second);
            parts.push(part);
        } else {
            packs.push(staged);
        }
    }
    Ok(packs)
}

fn parts(store: &ObjectStore, wanted: Vec<Wanted>, limit_bytes: u64) -> Vec<Vec<Wanted>> {
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for object in wanted {
        // What cannot be told now is told when the object is read.
        let size = store.size_on_disk(&object.id, object.location).unwrap_or(0);
        if bytes > 0 && bytes + size > limit_bytes {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        let part = parts.last_mut().expect("there is a first part");
        part.push(object);
    }
    parts
}
