//! Carries out a plan. All new packs are complete before the first gets its final name. The packs
//! that they replace are deleted when the new ones, with their indexes and bitmaps, are in place.

use super::existing::ExistingPack;
use super::midx;
use super::plan::{NewPack, NewRole, Plan};
use super::prune;
use super::race;
use super::server_info;
use super::settings::{Extent, Settings, Unreachable, WriteBitmaps};
use crate::loosening::loosen;
use crate::new_packs::{may_have_bitmaps, write_bitmaps};
use crate::Observer;
use crate::Result;
use hedgerow_fs::OutputFile;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{delete_pack, midx_packs, remove_midx, stage_mtimes};
use hedgerow_serve::{stage_limited_packs, stage_pack, Contents, PackOptions, StagedPack};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A new pack under its final name.
pub struct NewFile {
    pub path: PathBuf,
    /// Its checksum in hexadecimal digits, the end of its name.
    pub checksum: String,
    pub is_cruft: bool,
    gets_bitmaps: bool,
}

/// Carries out `plan`.
///
/// # Errors
/// If it fails before anything is deleted, all existing packs remain.
pub fn carry_out(
    repository: &Repository,
    mut plan: Plan,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<()> {
    let staged = stage(repository, &mut plan, settings, observer)?;
    let new = install(repository, staged, observer)?;
    if new.is_empty() {
        observer.nothing_new();
    }
    for pack in new.iter().filter(|pack| pack.gets_bitmaps) {
        let execution = &settings.options.execution;
        write_bitmaps(repository, &pack.path, execution, observer)?;
    }
    let level = settings.options.level;
    loosen(repository.objects(), &plan.loosened, level)?;
    let is_new = |pack: &ExistingPack| new.iter().any(|new| pack.is_same(&new.checksum));
    let mut replaced = plan.replaced.clone();
    replaced.retain(|pack| !is_new(pack));
    if settings.midx {
        midx::write(repository, &plan, &replaced, &new, settings, observer)?;
    }
    let warnings = repository.objects().warnings();
    warnings.iter().for_each(|warning| observer.warn(warning));
    if settings.deletes {
        delete(repository, &plan, replaced, settings, observer)?;
    }
    if settings.server_info {
        // The current packs and references.
        server_info::update(&Repository::discover(repository.environment())?)?;
    }
    Ok(())
}

/// A new pack that has no final name yet.
struct Staged {
    pack: StagedPack,
    is_cruft: bool,
    gets_bitmaps: bool,
}

/// Writes the new packs under temporary names.
fn stage(
    repository: &Repository,
    plan: &mut Plan,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<Staged>> {
    let packs = repository.objects().directory().join("pack");
    hedgerow_fs::create_directories(&packs)?;
    let mut all = Vec::new();
    for new in plan.packs.iter_mut().filter(|new| !new.wanted.is_empty()) {
        let mut staged = write(repository, new, &packs.join("pack"), settings, observer)?;
        for pack in &mut staged {
            mark(pack, &new.role, settings)?;
        }
        let gets_bitmaps = match new.role {
            NewRole::Plain { is_closed } => {
                let wanted = if settings.midx {
                    WriteBitmaps::Never
                } else {
                    settings.bitmaps
                };
                may_have_bitmaps(&staged, is_closed, wanted, observer)
            }
            NewRole::Promisor | NewRole::Cruft(_) => false,
        };
        let is_cruft = matches!(new.role, NewRole::Cruft(_));
        all.extend(staged.into_iter().map(|pack| Staged {
            pack,
            is_cruft,
            gets_bitmaps,
        }));
    }
    Ok(all)
}

fn write(
    repository: &Repository,
    new: &mut NewPack,
    base: &Path,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<StagedPack>> {
    let store = repository.objects();
    let files = &settings.files;
    let options = match new.role {
        NewRole::Cruft(_) => &settings.cruft_options,
        _ => &settings.options,
    };
    // Each pack has its own progress.
    let options = PackOptions {
        execution: options.execution.with_own_progress(),
        ..options.clone()
    };
    let finish = observer.packing(new.wanted.len() as u64, &options.execution.progress);
    if let Some(limit) = settings.max_pack_bytes {
        let wanted = new.wanted.clone();
        let packs = stage_limited_packs(store, wanted, limit, &options, files, base)?;
        finish();
        return Ok(packs);
    }
    let contents = Contents {
        wanted: std::mem::take(&mut new.wanted),
        ..Contents::default()
    };
    let pack = stage_pack(store, &contents, &options, files, base)?;
    finish();
    new.wanted = contents.wanted;
    Ok(vec![pack])
}

/// Adds the file that marks the role of a pack.
fn mark(pack: &mut StagedPack, role: &NewRole, settings: &Settings) -> Result<()> {
    match role {
        NewRole::Plain { .. } => {}
        NewRole::Promisor => {
            let mark = OutputFile::create(&pack.path(".promisor"));
            pack.add(".promisor", mark?);
        }
        NewRole::Cruft(ages) => {
            let entries = pack.written.index.iter();
            // Without an age it would be the first to go.
            let age = |id| {
                *ages
                    .get(id)
                    .expect("every object of a cruft pack has an age")
            };
            let ages = entries.map(|entry| age(&entry.id));
            let ages: Vec<u32> = ages.collect();
            let (path, sync) = (pack.path(".mtimes"), settings.files.sync_indexes);
            let table = stage_mtimes(&path, &ages, &pack.written.checksum, sync);
            pack.add(".mtimes", table?);
        }
    }
    Ok(())
}

fn install(
    repository: &Repository,
    staged: Vec<Staged>,
    observer: &dyn Observer,
) -> Result<Vec<NewFile>> {
    let mut new = Vec::new();
    for Staged {
        pack,
        is_cruft,
        gets_bitmaps,
    } in staged
    {
        let path = pack.path(".pack");
        let stale = pack.absent();
        let written = pack.install()?;
        repository.share_pack(&path)?;
        // Auxiliary files of an identical pack may be wrong if other objects around it have
        // changed.
        for path in stale {
            hedgerow_fs::remove_file(&path)?;
        }
        observer.wrote(&written);
        new.push(NewFile {
            path,
            checksum: written.checksum.to_string(),
            is_cruft,
            gets_bitmaps,
        });
    }
    Ok(new)
}

/// Waits until the names of new files are on disk before the old ones are deleted: those of packs,
/// which also replace loose objects, and those of objects that were made loose.
fn sync_names(plan: &Plan, objects: &Path, settings: &Settings) -> Result<()> {
    if !settings.files.sync_pack {
        return Ok(());
    }
    let firsts = plan
        .loosened
        .iter()
        .map(|(object, _)| object.id.first_byte());
    let firsts: BTreeSet<u8> = firsts.collect();
    let loose = firsts
        .iter()
        .map(|byte| objects.join(format!("{byte:02x}")));
    let own = [objects.to_owned(), objects.join("pack")];
    for directory in loose.chain(own) {
        hedgerow_fs::sync_directory(&directory)?;
    }
    Ok(())
}

fn delete(
    repository: &Repository,
    plan: &Plan,
    mut replaced: Vec<ExistingPack>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<()> {
    let objects = repository.objects().directory();
    if settings.extent == Extent::All && !replaced.is_empty() {
        let now = Repository::discover(repository.environment())?;
        let needed = race::still_needed(&now, plan, &replaced, observer)?;
        for pack in &needed {
            observer.warn(&format_args!(
                "keeping {}.pack: something that came meanwhile needs it",
                pack.stem
            ));
        }
        replaced.retain(|pack| !needed.iter().any(|needed| needed.stem == pack.stem));
    }
    sync_names(plan, objects, settings)?;
    let hash = repository.hash_kind();
    let listed = midx_packs(objects, hash)?;
    if replaced
        .iter()
        .any(|pack| listed.contains(&pack.index_name()))
    {
        remove_midx(objects)?;
    }
    for pack in &replaced {
        delete_pack(&pack.path)?;
    }
    // Asks for the packs that exist now.
    let now = Repository::discover(repository.environment())?;
    prune::prune_packed(now.objects())?;
    let keeps_all = matches!(
        settings.unreachable,
        Unreachable::Kept | Unreachable::Loosened { expiry: None }
    );
    if !keeps_all {
        now.prune_shallow()?;
    }
    Ok(())
}
