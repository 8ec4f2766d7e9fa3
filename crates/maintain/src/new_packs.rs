//! Auxiliary files and settings of packs that are kept.

use crate::bitmaps::{build_bitmaps, BitmapRequest};
use crate::repack::WriteBitmaps;
use crate::Observer;
use crate::{Error, Result};
use hedgerow_engine::Execution;
use hedgerow_git::config::Environment;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{Bitmaps, IndexLayout};
use hedgerow_serve::{
    stage_limited_packs, stage_pack, Contents, FileOptions, PackOptions, PackWritten, StagedPack,
};
use std::path::Path;

/// Lower limits are raised to this, in bytes, as in git.
const LEAST_LIMIT_BYTES: u64 = 1 << 20;

/// Git's message for a pack without bitmaps because it lacks objects that its objects reach.
pub const NOT_CLOSED: &str = "disabling bitmap writing, as some objects are not being packed";

/// The configured options for writing packs and their auxiliary files.
pub fn file_options(repository: &Repository, observer: &dyn Observer) -> Result<FileOptions> {
    let config = repository.config();
    let fsync = repository.fsync(&mut |warning: String| observer.warn(&warning))?;
    Ok(FileOptions {
        reverse_index: config.bool("pack.writeReverseIndex")?.unwrap_or(true),
        sync_pack: fsync.pack,
        sync_indexes: fsync.pack_metadata,
        ..FileOptions::default()
    })
}

/// Maximum length of a pack in bytes: `asked`, else `pack.packSizeLimit`; `None`: unlimited.
pub fn size_limit(
    repository: &Repository,
    asked: Option<u64>,
    observer: &dyn Observer,
) -> Result<Option<u64>> {
    let configured = repository.config().integer("pack.packSizeLimit")?;
    let configured = configured.and_then(|limit| u64::try_from(limit).ok());
    let limit = asked.filter(|limit| *limit > 0).or(configured);
    Ok(match limit.filter(|limit| *limit > 0) {
        Some(limit) if limit < LEAST_LIMIT_BYTES => {
            observer.warn(&"minimum pack size limit is 1 MiB");
            Some(LEAST_LIMIT_BYTES)
        }
        limit => limit,
    })
}

/// How [`write_packs`] puts packs into their places.
#[derive(Debug)]
pub struct KeptPackOptions<'n> {
    /// What the names of the files start with: a dash, the checksum and the extensions follow.
    pub base: &'n Path,
    /// The form of indexes.
    pub index: IndexLayout,
    /// How long a pack may be, in bytes; else `pack.packSizeLimit` says so.
    pub max_pack_bytes: Option<u64>,
    /// Whether bitmaps are written.
    pub bitmaps: WriteBitmaps,
    /// Whether all that the objects reach is among them.
    pub is_closed: bool,
}

/// Writes `contents` to packs that stay, as many as it takes for none to be too long, and the bitmaps
/// of the only one where they are asked for and possible.
///
/// # Errors
/// If a pack cannot be made, or bitmaps of it not be written.
pub fn write_packs(
    repository: &Repository,
    contents: &Contents<'_>,
    options: &PackOptions,
    kept: &KeptPackOptions<'_>,
    observer: &dyn Observer,
) -> Result<Vec<PackWritten>> {
    let store = repository.objects();
    let files = FileOptions {
        index: kept.index.clone(),
        ..file_options(repository, observer)?
    };
    let staged = match size_limit(repository, kept.max_pack_bytes, observer)? {
        None => vec![stage_pack(store, contents, options, &files, kept.base)?],
        Some(limit) => {
            let wanted = contents.wanted.clone();
            stage_limited_packs(store, wanted, limit, options, &files, kept.base)?
        }
    };
    let gets_bitmaps = may_have_bitmaps(&staged, kept.is_closed, kept.bitmaps, observer);
    let first = staged.first().map(|pack| pack.path(".pack"));
    let mut packs = Vec::new();
    for pack in staged {
        let path = pack.path(".pack");
        packs.push(pack.install()?);
        repository.share_pack(&path)?;
    }
    if let Some(pack) = first.filter(|_| gets_bitmaps) {
        write_bitmaps(repository, &pack, &options.execution, observer)?;
    }
    Ok(packs)
}

/// Whether the only one of `packs` gets bitmaps. If they are asked for and not possible, `observer` is
/// told why, in git's words.
pub fn may_have_bitmaps(
    packs: &[StagedPack],
    is_closed: bool,
    wanted: WriteBitmaps,
    observer: &dyn Observer,
) -> bool {
    let hindrance = match packs {
        _ if wanted == WriteBitmaps::Never => return false,
        _ if !is_closed => NOT_CLOSED,
        [_] => return true,
        _ => "disabling bitmap writing, packs are split due to pack.packSizeLimit",
    };
    if wanted == WriteBitmaps::Asked {
        observer.warn(&hindrance);
    }
    false
}

/// The current state of `repository`, for lookups and new files but not for deletions: existing
/// accelerators may be used again.
pub fn repository_now(repository: &Repository) -> Result<Repository> {
    Ok(Repository::discover(&Environment {
        unaided: false,
        ..repository.environment().clone()
    })?)
}

/// Writes the bitmaps of the new pack at `pack`. A pack outside the object directory gets none.
pub fn write_bitmaps(
    repository: &Repository,
    pack: &Path,
    execution: &Execution,
    observer: &dyn Observer,
) -> Result<()> {
    // The repository's store was opened before this pack existed.
    let now = repository_now(repository)?;
    let store = now.objects();
    let name = pack.file_name();
    let mut packs = store.pack_files();
    let is_it = |path: &Path| path.file_name() == name && hedgerow_fs::exists(pack);
    let found = packs.find(|(number, path, _)| store.is_local_pack(*number) && is_it(path));
    let Some((number, _, Some(count))) = found else {
        observer.warn(&"bitmaps are written of packs in the object directory only");
        return Ok(());
    };
    if count == 0 {
        return Ok(());
    }
    let order = store.pack_order(number).map_err(|reason| Error::Unusable {
        path: pack.to_owned(),
        reason: reason.to_owned(),
    })?;
    let request = BitmapRequest {
        execution: execution.clone(),
        refs_snapshot: None,
    };
    let options = request.options(&now, observer)?;
    // The bitmaps of packs that will be deleted still exist.
    let previous = Bitmaps::open(store);
    let contents = build_bitmaps(store, &order, previous.as_ref(), &options, observer)?;
    // A wrong setting was reported when the pack was written.
    let sync = now.fsync(&mut |_| {})?.pack_metadata;
    contents.write(execution.threads().get(), sync)?;
    Ok(now.share_pack(pack)?)
}
