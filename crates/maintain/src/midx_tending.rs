//! Multi-pack-indexes of any object directory, as the configuration of a repository has them.

use crate::error::refused;
use crate::new_packs::file_options;
use crate::{Observer, Result};
use hedgerow_engine::Execution;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{
    expire_midx_packs, midx_objects_to_repack, MidxOptions, ObjectId, ObjectStore, Reader,
    StoreOptions, WrittenMidx,
};
use hedgerow_serve::{stage_pack, Contents, PackOptions, Wanted};
use std::num::NonZeroUsize;
use std::path::Path;

/// How the configuration wants a multi-pack-index of all packs to be written.
///
/// # Errors
/// For settings that make no sense.
pub fn midx_options(
    repository: &Repository,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Result<MidxOptions> {
    let version = repository.config().integer("midx.version")?.unwrap_or(1);
    let known = u8::try_from(version)
        .ok()
        .filter(|version| matches!(version, 1 | 2));
    let version = known.ok_or_else(|| refused(format_args!("unknown MIDX version: {version}")))?;
    let fsync = repository.fsync(&mut |warning: String| observer.warn(&warning))?;
    Ok(MidxOptions {
        hash: repository.hash_kind(),
        version,
        preferred_pack: None,
        packs: None,
        for_bitmap: false,
        sync: fsync.pack_metadata,
        threads,
    })
}

/// Puts `written` in its place, as open as `repository` is (`core.sharedRepository`).
///
/// # Errors
/// If that is not allowed.
pub fn commit_midx(repository: &Repository, written: WrittenMidx) -> Result<()> {
    repository.share_lock(written.lock())?;
    Ok(written.commit()?)
}

/// Deletes the packs of the object directory `objects` of whose objects its multi-pack-index uses none,
/// which is written anew without them.
///
/// # Errors
/// As [`expire_midx_packs`]; or if those who share the repository cannot be let in.
pub fn expire_packs(
    repository: &Repository,
    objects: &Path,
    options: &MidxOptions,
    warn: &mut dyn FnMut(String),
) -> Result<()> {
    if expire_midx_packs(objects, options, warn)? > 0 {
        repository.share_file(&objects.join("pack/multi-pack-index"))?;
    }
    Ok(())
}

/// The objects of the object directory `objects`, if it is another than that of `repository`.
///
/// # Errors
/// If they cannot be opened.
pub fn other_store(repository: &Repository, objects: &Path) -> Result<Option<ObjectStore>> {
    let own = hedgerow_fs::real_path(repository.objects().directory());
    if own.is_ok_and(|own| own == objects) {
        return Ok(None);
    }
    let options = StoreOptions {
        hash: repository.hash_kind(),
        ..StoreOptions::default()
    };
    Ok(Some(ObjectStore::open(objects, options)?))
}

/// Puts the objects that the multi-pack-index of the object directory `objects` has from small packs
/// into a new one: packs are taken the oldest first until they have `batch_bytes`; 0 takes all. The
/// packs stay, without an object that is needed, until they expire. Returns whether there is a new
/// pack, which the multi-pack-index does not list yet.
///
/// # Errors
/// If an object is missing, or the pack cannot be written.
pub fn repack_small_packs(
    repository: &Repository,
    objects: &Path,
    batch_bytes: u64,
    execution: &Execution,
    observer: &dyn Observer,
) -> Result<bool> {
    let config = repository.config();
    let with_kept = config.bool("repack.packKeptObjects")?.unwrap_or(false);
    let mut warn = |warning: String| observer.warn(&warning);
    let hash = repository.hash_kind();
    let ids = midx_objects_to_repack(objects, hash, batch_bytes, with_kept, &mut warn)?;
    if ids.is_empty() {
        return Ok(false);
    }
    let other = other_store(repository, objects)?;
    let store = other.as_ref().unwrap_or(repository.objects());
    let contents = Contents {
        wanted: wanted(store, &ids)?,
        ..Contents::default()
    };
    let by_offset = config.bool("repack.useDeltaBaseOffset")?.unwrap_or(true);
    let usual = PackOptions::configured(repository)?;
    let packing = PackOptions {
        delta_base_offset: by_offset,
        execution: execution.with_jobs(usual.execution.jobs),
        ..usual
    };
    let files = file_options(repository, observer)?;
    let finish = observer.packing(contents.wanted.len() as u64, &packing.execution.progress);
    let base = objects.join("pack/pack");
    let pack = stage_pack(store, &contents, &packing, &files, &base)?;
    let path = pack.path(".pack");
    pack.install()?;
    repository.share_pack(&path)?;
    finish();
    let warnings = store.warnings();
    warnings.iter().for_each(|warning| observer.warn(warning));
    Ok(true)
}

fn wanted(store: &ObjectStore, ids: &[ObjectId]) -> Result<Vec<Wanted>> {
    let mut reader = Reader::new(store);
    let locations = store.locate_all(ids)?;
    let wanted = ids.iter().zip(locations).map(|(id, location)| {
        let location = location.ok_or(hedgerow_pack::Error::Missing { id: *id })?;
        Ok(Wanted {
            id: *id,
            location,
            kind: reader.kind(id, location)?,
            name_hash: 0,
        })
    });
    wanted.collect()
}
