//! The multi-pack-index of the packs after a repack: `--write-midx`.

use super::existing::{ExistingPack, Role};
use super::finish::NewFile;
use super::plan::Plan;
use super::settings::{Settings, WriteBitmaps};
use crate::bitmaps::BitmapRequest;
use crate::midx_bitmap::commit_with_bitmap;
use crate::midx_tending::commit_midx;
use crate::new_packs::{self, repository_now};
use crate::Observer;
use crate::Result;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{write_midx, MidxOptions};
use std::collections::BTreeSet;

/// Writes it. `replaced` are the packs that will be deleted.
pub fn write(
    repository: &Repository,
    plan: &Plan,
    replaced: &[ExistingPack],
    new: &[NewFile],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<()> {
    let included = included(plan, replaced, new, settings);
    if included.is_empty() {
        return Ok(());
    }
    let largest = plan.above.as_ref().and_then(|above| {
        let own = above.iter().rev().find(|pack| pack.is_local)?;
        Some(format!("{}.pack", own.stem))
    });
    let first = || {
        let pack = new.iter().find(|new| !new.is_cruft)?;
        Some(pack.path.file_name()?.to_string_lossy().into_owned())
    };
    let has_promised = plan.existing.packs.iter().any(|pack| pack.is_promisor);
    let with_bitmap = settings.bitmaps == WriteBitmaps::Asked && !has_promised;
    if settings.bitmaps == WriteBitmaps::Asked && has_promised {
        observer.warn(&new_packs::NOT_CLOSED);
    }
    let version = repository.config().integer("midx.version")?.unwrap_or(1);
    let options = MidxOptions {
        hash: repository.hash_kind(),
        version: if version == 2 { 2 } else { 1 },
        preferred_pack: largest.or_else(first),
        packs: Some(included.into_iter().collect()),
        for_bitmap: with_bitmap,
        threads: settings.options.execution.threads(),
        sync: settings.files.sync_indexes,
    };
    let objects = repository.objects().directory();
    let mut warn = |warning: String| observer.warn(&warning);
    let written = write_midx(objects, &options, &mut warn)?;
    let Some(written) = written else {
        return Ok(());
    };
    if !with_bitmap {
        return commit_midx(repository, written);
    }
    // The repository's store was opened before the new packs existed.
    let now = repository_now(repository)?;
    let building = BitmapRequest {
        execution: settings.options.execution.clone(),
        refs_snapshot: None,
    };
    let building = building.options(&now, observer)?;
    let store = now.objects();
    commit_with_bitmap(repository, written, store, building, options.sync, observer)?;
    // Packs covered by the bitmaps of the multi-pack-index need none of their own.
    for name in options.packs.iter().flatten() {
        let path = objects.join("pack").join(name).with_extension("bitmap");
        hedgerow_fs::remove_file(&path)?;
    }
    Ok(())
}

/// The packs to list, by the names of their indexes.
fn included(
    plan: &Plan,
    replaced: &[ExistingPack],
    new: &[NewFile],
    settings: &Settings,
) -> BTreeSet<String> {
    let existing = &plan.existing;
    let mut included: BTreeSet<String> = new.iter().map(|new| index_name(&new.path)).collect();
    included.extend(existing.with_role(Role::Kept).map(ExistingPack::index_name));
    let is_replaced = |pack: &&ExistingPack| replaced.iter().any(|gone| gone.stem == pack.stem);
    let stays = |pack: &&ExistingPack| !is_replaced(pack);
    match &plan.above {
        Some(above) => {
            let own = above.iter().filter(|pack| pack.is_local);
            included.extend(own.map(ExistingPack::index_name));
        }
        None => {
            let plain = existing.with_role(Role::Plain).filter(stays);
            included.extend(plain.map(ExistingPack::index_name));
        }
    }
    let cruft = existing.with_role(Role::Cruft).filter(stays);
    let is_gone = |name: &String| {
        let was_rolled_up = replaced.iter().any(|pack| pack.index_name() == *name);
        included.contains(name) || was_rolled_up
    };
    // Without an earlier multi-pack-index, it is unknown whether the other packs are closed under
    // reachability.
    let must = settings.midx_with_cruft
        || new.is_empty() && existing.in_midx.is_empty()
        || !existing.in_midx.iter().all(is_gone);
    if must {
        included.extend(cruft.map(ExistingPack::index_name));
    }
    included
}

fn index_name(pack: &std::path::Path) -> String {
    let name = pack.with_extension("idx");
    let name = name.file_name().expect("a pack has a name");
    name.to_string_lossy().into_owned()
}
