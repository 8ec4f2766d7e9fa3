//! Selects the packs of a multi-pack-index that are worth combining into one.

use super::layers::{Layers, Loaded};
use super::source::Candidate;
use crate::error::{Error, Result};
use gix_hash::{Kind, ObjectId};
use std::path::Path;

/// A pack that may be repacked.
struct Small {
    number: u32,
    /// Modification time, in seconds since the epoch.
    modified: i64,
    /// Approximate size, in bytes, of the objects that the multi-pack-index takes from it.
    bytes: u64,
}

/// The objects that `git multi-pack-index repack` puts into one pack: those that the
/// multi-pack-index of the object directory `objects` takes from small packs. As in git, packs
/// smaller than `batch_bytes` are taken, oldest first, until their sizes add up to `batch_bytes`; 0
/// takes all packs. Packs with a `.keep` file are taken only if `with_kept`, cruft packs never. If
/// fewer than two packs are taken, the result is empty. `warn` receives git's warnings.
///
/// # Errors
/// [`Error::MultiPackIndexChain`] if it is a chain.
pub fn midx_objects_to_repack(
    objects: &Path,
    hash: Kind,
    batch_bytes: u64,
    with_kept: bool,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<ObjectId>> {
    let packs = objects.join("pack");
    let loaded = Loaded::open(&packs, hash)?;
    loaded.complaints().for_each(&mut *warn);
    let layers = loaded.layers;
    if layers.iter().count() > 1 {
        let reason = "cannot repack an incremental multi-pack-index";
        return Err(Error::MultiPackIndexChain { reason });
    }
    let mut small = candidates(&packs, &layers, hash, with_kept)?;
    if batch_bytes > 0 {
        small.sort_by_key(|pack| (pack.modified, pack.number));
        let mut sum = 0_u64;
        small.retain(|pack| {
            let is_taken = sum < batch_bytes && pack.bytes < batch_bytes;
            if is_taken {
                sum = sum.saturating_add(pack.bytes);
            }
            is_taken
        });
    }
    if small.len() < 2 {
        return Ok(Vec::new());
    }
    let mut numbers: Vec<u32> = small.iter().map(|pack| pack.number).collect();
    numbers.sort_unstable();
    let is_in = |position: &u32| {
        let row = layers.row(*position);
        row.is_some_and(|(pack, _)| numbers.binary_search(&pack).is_ok())
    };
    let positions = (0..layers.count()).filter(is_in);
    let ids = positions.filter_map(|position| layers.id(position));
    Ok(ids.map(ObjectId::from_bytes_or_panic).collect())
}

/// The packs that may be taken.
fn candidates(packs: &Path, layers: &Layers, hash: Kind, with_kept: bool) -> Result<Vec<Small>> {
    let mut used = vec![0_u64; layers.pack_count() as usize];
    for (pack, _) in (0..layers.count()).filter_map(|position| layers.row(position)) {
        if let Some(count) = used.get_mut(pack as usize) {
            *count += 1;
        }
    }
    let mut small = Vec::new();
    for ((number, name), used) in (0..).zip(layers.names()).zip(used) {
        let Some(pack) = Candidate::find(packs, name, hash) else {
            continue;
        };
        let has = |extension| hedgerow_fs::exists(&pack.path.with_extension(extension));
        if has("mtimes") || has("keep") && !with_kept || pack.count() == 0 {
            continue;
        }
        let stat = hedgerow_fs::stat(&pack.path.with_extension("pack"))?;
        let size = stat.map_or(0, |stat| stat.size);
        small.push(Small {
            number,
            modified: pack.modified,
            bytes: share(size, used, pack.count().into()),
        });
    }
    Ok(small)
}

/// The part of `size` bytes for `used` of `count` objects, rounded as in git.
fn share(size: u64, used: u64, count: u64) -> u64 {
    const SHIFT: u32 = 14;
    let part = u128::from((used << SHIFT) / count.max(1));
    let bytes = (part * u128::from(size) + (1 << (SHIFT - 1))) >> SHIFT;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_to_bytes() {
        assert_eq!(share(1000, 3, 3), 1000);
        assert_eq!(share(1000, 1, 3), 333);
        assert_eq!(share(1001, 1, 2), 501);
        assert_eq!(share(1000, 0, 3), 0);
        assert_eq!(share(u64::MAX, 5, 5), u64::MAX);
        assert_eq!(share(7, 0, 0), 0);
    }
}
