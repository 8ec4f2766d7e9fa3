//! The options of an EROFS image.

use super::{hole_limit, stores_xattrs};
use crate::failure::Failure;
use crate::image::arguments::Create;
use crate::walk::not_started;
use hedgerow::image::ErofsOptions;
use hedgerow::numbers::size_bytes;
use hedgerow::Execution;

/// The options that `command` asks for. Those that only SquashFS has are refused.
pub fn options(
    command: &Create,
    execution: Execution,
    epoch: Option<u32>,
) -> Result<ErofsOptions, Failure> {
    let refused = [
        ("--exportable", command.exportable),
        ("--reuse", command.reuse.is_some()),
        ("-X", !command.settings.is_empty()),
        ("--level", command.level.is_some()),
    ];
    if let Some((name, _)) = refused.iter().find(|(_, is_given)| *is_given) {
        return Err(not_started(format_args!("EROFS has no {name}")));
    }
    if let Some(name) = command.compressor.as_deref().filter(|name| *name != "none") {
        return Err(not_started(format_args!(
            "EROFS has no compressor '{name}'"
        )));
    }
    let defaults = ErofsOptions::default();
    Ok(ErofsOptions {
        block_bytes: match &command.block_size {
            Some(word) => block_bytes(word)?,
            None => defaults.block_bytes,
        },
        inline: !command.no_fragments,
        dedup: !command.no_dedup,
        hole_limit_bytes: match &command.max_holes {
            Some(word) => hole_limit(word).map_err(not_started)?,
            None => defaults.hole_limit_bytes,
        },
        xattrs: stores_xattrs(command),
        hard_links: !command.no_hardlinks,
        skip_unreadable: command.skip_unreadable,
        mtime_s: epoch.or(command.default_mtime).map(i64::from),
        replace: command.force,
        execution,
        ..defaults
    })
}

fn block_bytes(word: &str) -> Result<u32, Failure> {
    let bytes = size_bytes(word.as_bytes()).and_then(|bytes| u32::try_from(bytes).ok());
    let is_block = |bytes: &u32| bytes.is_power_of_two() && (4096..=65_536).contains(bytes);
    bytes.filter(is_block).ok_or_else(|| {
        not_started(format_args!(
            "a block of '{word}' bytes: it must be a power of two from 4K to 64K"
        ))
    })
}
