//! The settings of a repack: the command line, then the configuration, then git's defaults.

use super::Request;
use crate::error::refused;
use crate::new_packs;
use crate::Observer;
use crate::{Error, Result};
use hedgerow_engine::Jobs;
use hedgerow_git::dates::Expiry;
use hedgerow_git::repository::Repository;
use hedgerow_serve::{FileOptions, PackOptions};
use std::num::NonZeroUsize;

/// What to pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Reachable loose objects, into a pack.
    Loose,
    /// All reachable objects, into one pack.
    All,
    /// The smallest packs and loose objects, into one pack.
    Geometric(u32),
}

/// What to do with unreachable objects whose packs are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// Delete them.
    Dropped,
    /// Make them loose, unless they are older than the time.
    Loosened {
        /// The time, in seconds since 1970, if there is one.
        expiry: Option<i64>,
    },
    /// Put them into the pack with the others.
    Kept,
    /// Put them into a pack of their own, unless they are older than the time.
    Cruft {
        /// The time, in seconds since 1970, if there is one.
        expiry: Option<i64>,
    },
}

/// Whether to write bitmaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBitmaps {
    /// They are not.
    Never,
    /// If possible; otherwise silently not.
    IfPossible,
    /// If possible; otherwise with a warning.
    Asked,
}

/// The settings of a repack: a [`Request`], completed by the configuration and git's defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What to pack.
    pub extent: Extent,
    /// What to do with unreachable objects.
    pub unreachable: Unreachable,
    /// Whether to delete replaced packs.
    pub deletes: bool,
    /// Whether bitmaps are written.
    pub bitmaps: WriteBitmaps,
    /// Whether a multi-pack-index is written.
    pub midx: bool,
    /// Whether a multi-pack-index lists cruft packs (`repack.midxMustContainCruft`).
    pub midx_with_cruft: bool,
    /// Whether to leave out objects of alternates.
    pub local: bool,
    /// Whether to repack packs with a `.keep` file, too.
    pub packs_kept: bool,
    /// Packs to keep, by file name.
    pub keep_packs: Vec<String>,
    /// Whether to update the files for dumb servers.
    pub server_info: bool,
    /// Maximum length of a pack, in bytes.
    pub max_pack_bytes: Option<u64>,
    /// Options for making packs.
    pub options: PackOptions,
    /// Options for packs of unreachable objects (`repack.cruftWindow` and the like).
    pub cruft_options: PackOptions,
    /// Options for writing the files of packs.
    pub files: FileOptions,
}

impl Settings {
    /// Resolves `request` and the configuration of `repository`. `observer` receives git's
    /// warnings.
    ///
    /// # Errors
    /// [`Error::Refused`] for contradicting options.
    pub fn resolve(
        request: &Request,
        repository: &Repository,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let flag = |key| repository.config().bool(key);
        let precious = flag("extensions.preciousObjects")?.unwrap_or(false);
        if request.delete && precious {
            let words = "cannot delete packs in a precious-objects repo";
            return Err(refused(words));
        }
        let all = request.all || request.all_and_loosen || request.cruft;
        let extent = match request.geometric {
            Some(factor) if factor > 0 && all => {
                return Err(not_together("--geometric", "-A/-a"));
            }
            Some(factor) if factor > 0 => Extent::Geometric(factor),
            _ if all => Extent::All,
            _ => Extent::Loose,
        };
        if flag("repack.useDeltaIslands")?.unwrap_or(false) {
            observer
                .warn(&"hedgerow does not know delta islands (repack.useDeltaIslands); git does");
        }
        let midx = request.write_midx;
        let bitmaps = bitmaps(request, repository, extent, midx, observer)?;
        let packs_kept = match request.pack_kept_objects {
            Some(packs_kept) => packs_kept,
            // The pack of a bitmap has to be closed.
            None => {
                flag("repack.packKeptObjects")?.unwrap_or(bitmaps == WriteBitmaps::Asked && !midx)
            }
        };
        let limit = request.max_pack_bytes;
        let options = options(request, repository)?;
        Ok(Settings {
            cruft_options: cruft_options(&options, repository)?,
            extent,
            unreachable: unreachable(request)?,
            deletes: request.delete,
            bitmaps,
            midx,
            midx_with_cruft: flag("repack.midxMustContainCruft")?.unwrap_or(true),
            local: request.local,
            packs_kept,
            keep_packs: request.keep_packs.clone(),
            server_info: !request.no_server_info
                && flag("repack.updateServerInfo")?.unwrap_or(true),
            max_pack_bytes: new_packs::size_limit(repository, limit, observer)?,
            options,
            files: new_packs::file_options(repository, observer)?,
        })
    }
}

fn unreachable(request: &Request) -> Result<Unreachable> {
    let loosens = request.all_and_loosen || request.unpack_unreachable.is_some();
    let chosen = [
        (loosens, "-A"),
        (request.keep_unreachable, "-k/--keep-unreachable"),
        (request.cruft, "--cruft"),
    ];
    let mut chosen = chosen.iter().filter(|(is_chosen, _)| *is_chosen);
    if let (Some((_, one)), Some((_, other))) = (chosen.next(), chosen.next()) {
        return Err(not_together(one, other));
    }
    let time = |text: &Option<String>| text.as_deref().map(expiry).transpose();
    Ok(if loosens {
        let expiry = time(&request.unpack_unreachable)?.flatten();
        Unreachable::Loosened { expiry }
    } else if request.keep_unreachable {
        Unreachable::Kept
    } else if request.cruft {
        let expiry = time(&request.cruft_expiration)?.flatten();
        Unreachable::Cruft { expiry }
    } else {
        Unreachable::Dropped
    })
}

/// Whether to write bitmaps: by the request, else by the configuration, else only for full repacks
/// of bare repositories without a multi-pack-index.
fn bitmaps(
    request: &Request,
    repository: &Repository,
    extent: Extent,
    midx: bool,
    observer: &dyn Observer,
) -> Result<WriteBitmaps> {
    let config = repository.config();
    let asked = match request.write_bitmaps {
        Some(asked) => Some(asked),
        None => match config.bool("repack.writeBitmaps")? {
            None => config.bool("pack.writeBitmaps")?,
            configured => configured,
        },
    };
    let usual = if !midx && extent == Extent::All && repository.is_bare() {
        WriteBitmaps::IfPossible
    } else {
        WriteBitmaps::Never
    };
    let wanted = match asked {
        Some(true) => WriteBitmaps::Asked,
        Some(false) => WriteBitmaps::Never,
        None => usual,
    };
    if wanted == WriteBitmaps::Never {
        return Ok(wanted);
    }
    if extent != Extent::All && !midx {
        return Err(refused(
            "Incremental repacks are incompatible with bitmap indexes.  Use\n\
             --no-write-bitmap-index or disable the pack.writeBitmaps configuration.",
        ));
    }
    if request.local && repository.objects().has_alternates() {
        observer.warn(&"disabling bitmap writing, as some objects are not being packed");
        return Ok(WriteBitmaps::Never);
    }
    Ok(wanted)
}

fn options(request: &Request, repository: &Repository) -> Result<PackOptions> {
    let usual = PackOptions::configured(repository)?;
    let by_offset = repository.config().bool("repack.useDeltaBaseOffset")?;
    Ok(PackOptions {
        window: request
            .window
            .map_or(usual.window, |window| window as usize),
        window_memory_bytes: request
            .window_memory_bytes
            .unwrap_or(usual.window_memory_bytes),
        depth: request.depth.unwrap_or(usual.depth),
        delta_base_offset: by_offset.unwrap_or(true),
        reuse_deltas: !request.no_reuse_delta && !request.no_reuse_object,
        reuse_objects: !request.no_reuse_object,
        execution: match request.execution.jobs {
            Jobs::Fixed(_) => request.execution.clone(),
            Jobs::Auto => request.execution.with_jobs(usual.execution.jobs),
        },
        ..usual
    })
}

fn cruft_options(usual: &PackOptions, repository: &Repository) -> Result<PackOptions> {
    let number = |name: &str| -> Result<Option<u64>> {
        let number = repository.config().integer(&format!("repack.{name}"))?;
        Ok(number.map(|number| u64::try_from(number).unwrap_or(0)))
    };
    let usual = usual.clone();
    let memory = number("cruftWindowMemory")?;
    let depth = number("cruftDepth")?;
    let threads = number("cruftThreads")?.filter(|threads| *threads > 0);
    let threads = threads.and_then(|threads| NonZeroUsize::new(threads as usize));
    Ok(PackOptions {
        window: number("cruftWindow")?.map_or(usual.window, |window| window as usize),
        window_memory_bytes: memory.unwrap_or(usual.window_memory_bytes),
        depth: depth.map_or(usual.depth, |depth| {
            u32::try_from(depth).unwrap_or(u32::MAX)
        }),
        execution: match threads {
            Some(threads) => usual.execution.with_jobs(Jobs::Fixed(threads)),
            None => usual.execution.clone(),
        },
        ..usual
    })
}

/// Parses a time, in seconds since 1970; `None` for never.
fn expiry(text: &str) -> Result<Option<i64>> {
    match Expiry::parse(text.into()) {
        Some(Expiry::Never) => Ok(None),
        Some(Expiry::Now) => Ok(Some(hedgerow_fs::now().seconds)),
        Some(Expiry::Before(seconds)) => Ok(Some(seconds)),
        None => Err(refused(format_args!("malformed expiration date '{text}'"))),
    }
}

fn not_together(one: &str, other: &str) -> Error {
    refused(format_args!(
        "options '{one}' and '{other}' cannot be used together"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_dates() {
        assert_eq!(expiry("never").unwrap(), None);
        let date = expiry("2005-04-07 22:13:13 +0200").unwrap();
        assert_eq!(date, Some(1_112_904_793));
        assert!(expiry("gibberish").is_err());
    }
}
