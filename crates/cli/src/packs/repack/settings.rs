//! What is to be done: the command line over the configuration over git's defaults.

use super::expiry;
use super::Repack;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::Output;
use crate::packs::pack_objects::checks::not_together;
use crate::packs::{new_packs, pack_objects};
use hedgerow_engine::CancelToken;
use hedgerow_git::repository::Repository;
use hedgerow_serve::{FileOptions, PackOptions};
use std::num::NonZeroUsize;

/// What becomes of the objects that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What is loose and reachable goes into a pack.
    Loose,
    /// All that is reachable goes into one pack.
    All,
    /// The smallest packs, and what is loose, go into one.
    Geometric(u32),
}

/// What becomes of the objects that nothing reaches, when their packs are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// They are gone.
    Dropped,
    /// They become loose, unless they are older, in seconds since 1970.
    Loosened { expiry: Option<i64> },
    /// They go into the pack with the others.
    Kept,
    /// They go into a pack of their own, unless they are older.
    Cruft { expiry: Option<i64> },
}

/// Whether bitmaps are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bitmaps {
    Never,
    IfPossible,
    Asked,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub extent: Extent,
    pub unreachable: Unreachable,
    pub deletes: bool,
    pub bitmaps: Bitmaps,
    pub midx: bool,
    /// Whether a multi-pack-index lists cruft packs (`repack.midxMustContainCruft`).
    pub midx_with_cruft: bool,
    pub local: bool,
    /// Whether packs with a `.keep` file are repacked, too.
    pub packs_kept: bool,
    pub keep_packs: Vec<String>,
    pub server_info: bool,
    pub dry_run: bool,
    pub quiet: bool,
    pub max_pack_bytes: Option<u64>,
    pub options: PackOptions,
    /// How packs of unreachable objects are made (`repack.cruftWindow` and the like).
    pub cruft_options: PackOptions,
    pub files: FileOptions,
}

impl Settings {
    pub fn resolve(
        command: &Repack,
        global: &Global,
        repository: &Repository,
        output: &Output,
    ) -> Result<Self, Failure> {
        let flag = |key| repository.config().bool(key);
        let precious = flag("extensions.preciousObjects")?.unwrap_or(false);
        if command.delete && precious {
            let words = "cannot delete packs in a precious-objects repo";
            return Err(Failure::fatal(words));
        }
        let all = command.all || command.all_and_loosen || command.cruft;
        let extent = match command.geometric {
            Some(factor) if factor > 0 && all => {
                return Err(not_together("--geometric", "-A/-a"));
            }
            Some(factor) if factor > 0 => Extent::Geometric(factor),
            _ if all => Extent::All,
            _ => Extent::Loose,
        };
        if flag("repack.useDeltaIslands")?.unwrap_or(false) {
            output.warn("hedgerow does not know delta islands (repack.useDeltaIslands); git does");
        }
        let midx = command.write_midx && !command.no_write_midx;
        let bitmaps = bitmaps(command, repository, extent, midx, output)?;
        let packs_kept = match (command.pack_kept_objects, command.no_pack_kept_objects) {
            (true, _) => true,
            (_, true) => false,
            // The pack of a bitmap has to be closed.
            _ => flag("repack.packKeptObjects")?.unwrap_or(bitmaps == Bitmaps::Asked && !midx),
        };
        let limit = command.max_pack_size;
        let options = options(command, global, repository)?;
        Ok(Settings {
            cruft_options: cruft_options(&options, repository)?,
            extent,
            unreachable: unreachable(command)?,
            deletes: command.delete,
            bitmaps,
            midx,
            midx_with_cruft: flag("repack.midxMustContainCruft")?.unwrap_or(true),
            local: command.local,
            packs_kept,
            keep_packs: command.keep_pack.clone(),
            server_info: !command.no_server_info
                && flag("repack.updateServerInfo")?.unwrap_or(true),
            dry_run: command.dry_run,
            quiet: global.quiet,
            max_pack_bytes: new_packs::size_limit(repository, limit, output)?,
            options,
            files: new_packs::file_options(repository, output)?,
        })
    }
}

fn unreachable(command: &Repack) -> Result<Unreachable, Failure> {
    let loosens = command.all_and_loosen || command.unpack_unreachable.is_some();
    let chosen = [
        (loosens, "-A"),
        (command.keep_unreachable, "-k/--keep-unreachable"),
        (command.cruft, "--cruft"),
    ];
    let mut chosen = chosen.iter().filter(|(is_chosen, _)| *is_chosen);
    if let (Some((_, one)), Some((_, other))) = (chosen.next(), chosen.next()) {
        return Err(not_together(one, other));
    }
    let time = |text: &Option<String>| text.as_deref().map(expiry::parse).transpose();
    Ok(if loosens {
        let expiry = time(&command.unpack_unreachable)?.flatten();
        Unreachable::Loosened { expiry }
    } else if command.keep_unreachable {
        Unreachable::Kept
    } else if command.cruft {
        let expiry = time(&command.cruft_expiration)?.flatten();
        Unreachable::Cruft { expiry }
    } else {
        Unreachable::Dropped
    })
}

fn bitmaps(
    command: &Repack,
    repository: &Repository,
    extent: Extent,
    midx: bool,
    output: &Output,
) -> Result<Bitmaps, Failure> {
    let config = repository.config();
    let asked = match (command.write_bitmap_index, command.no_write_bitmap_index) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => match config.bool("repack.writeBitmaps")? {
            None => config.bool("pack.writeBitmaps")?,
            configured => configured,
        },
    };
    let usual = match !midx && extent == Extent::All && repository.is_bare() {
        true => Bitmaps::IfPossible,
        false => Bitmaps::Never,
    };
    let wanted = match asked {
        Some(true) => Bitmaps::Asked,
        Some(false) => Bitmaps::Never,
        None => usual,
    };
    if wanted == Bitmaps::Never {
        return Ok(wanted);
    }
    if extent != Extent::All && !midx {
        return Err(Failure::fatal(
            "Incremental repacks are incompatible with bitmap indexes.  Use\n\
             --no-write-bitmap-index or disable the pack.writeBitmaps configuration.",
        ));
    }
    if command.local && repository.objects().has_alternates() {
        output.warn("disabling bitmap writing, as some objects are not being packed");
        return Ok(Bitmaps::Never);
    }
    Ok(wanted)
}

fn options(
    command: &Repack,
    global: &Global,
    repository: &Repository,
) -> Result<PackOptions, Failure> {
    let usual = pack_objects::pack_options(repository)?;
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    let threads = pack_objects::threads(command.threads, global);
    let by_offset = repository.config().bool("repack.useDeltaBaseOffset")?;
    Ok(PackOptions {
        window: command
            .window
            .map_or(usual.window, |window| window as usize),
        window_memory_bytes: command.window_memory.unwrap_or(usual.window_memory_bytes),
        depth: command.depth.unwrap_or(usual.depth),
        threads: threads.unwrap_or(usual.threads),
        delta_base_offset: by_offset.unwrap_or(true),
        reuse_deltas: !command.no_reuse_delta && !command.no_reuse_object,
        reuse_objects: !command.no_reuse_object,
        cancel: CancelToken::from_static(interrupted),
        ..usual
    })
}

fn cruft_options(usual: &PackOptions, repository: &Repository) -> Result<PackOptions, Failure> {
    let number = |name: &str| -> Result<Option<u64>, Failure> {
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
        threads: threads.unwrap_or(usual.threads),
        ..usual
    })
}
