//! The multi-pack-index of what there is after a repack: `--write-midx`.

use super::existing::{ExistingPack, Role};
use super::finish::NewFile;
use super::plan::Plan;
use super::settings::{Bitmaps, Settings};
use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::Output;
use crate::packs::bitmap::options::{build, build_options};
use hedgerow_git::repository::Repository;
use hedgerow_pack::{write_midx, MidxOptions, WrittenMidx};
use hedgerow_reach::BuildOptions;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Writes it. `replaced` are the packs that are going to be deleted.
pub fn write(
    repository: &Repository,
    plan: &Plan,
    replaced: &[ExistingPack],
    new: &[NewFile],
    settings: &Settings,
    global: &Global,
    output: &Output,
) -> Result<(), Failure> {
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
    let version = repository.config().integer("midx.version")?.unwrap_or(1);
    let options = MidxOptions {
        hash: repository.hash_kind(),
        version: if version == 2 { 2 } else { 1 },
        preferred_pack: largest.or_else(first),
        packs: Some(included.into_iter().collect()),
        for_bitmap: settings.bitmaps == Bitmaps::Asked,
        threads: settings.options.threads,
    };
    let objects = repository.objects().directory();
    let mut warn = |warning| output.warn(warning);
    let written = write_midx(objects, &options, &mut warn).map_err(Failure::fatal)?;
    let Some(written) = written else {
        return Ok(());
    };
    if settings.bitmaps != Bitmaps::Asked {
        return written.commit().map_err(Failure::fatal);
    }
    let bitmap = write_bitmap(repository, &written, global, output)?;
    written.commit().map_err(|error| {
        if let Some(bitmap) = bitmap {
            // There is nothing it could belong to.
            let _ = hedgerow_fs::remove_file(&bitmap);
        }
        Failure::fatal(error)
    })?;
    // What the multi-pack-index has bitmaps of needs no others.
    for name in options.packs.iter().flatten() {
        let path = objects.join("pack").join(name).with_extension("bitmap");
        hedgerow_fs::remove_file(&path).map_err(Failure::fatal)?;
    }
    Ok(())
}

/// Writes the bitmap of what was `written`. Returns where, unless there is nothing it could be of.
fn write_bitmap(
    repository: &Repository,
    written: &WrittenMidx,
    global: &Global,
    output: &Output,
) -> Result<Option<PathBuf>, Failure> {
    // The store of the repository was opened before there were the new packs.
    let now = Repository::discover(repository.environment())?;
    let store = now.objects();
    let Some(order) = written.bit_order(store).map_err(Failure::fatal)? else {
        return Ok(None);
    };
    let options = BuildOptions {
        only_reachable: true,
        ..build_options(&now, global, output, None)?
    };
    let previous = hedgerow_pack::Bitmaps::open(store);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::fatal(format_args!("could not write multi-pack bitmap: {error}"))
    };
    let contents = build(store, &order, previous.as_ref(), &options, global, failed)?;
    let path = contents.write(options.threads, true);
    path.map(Some).map_err(|error| failed(&error))
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
    // Without one there is nothing that says that the other packs are closed.
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
    let name = name.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
