//! The options of an EROFS image.

use super::{hole_limit, stores_xattrs, verity};
use crate::failure::Failure;
use crate::image::arguments::Create;
use crate::walk::not_started;
use hedgerow::image::erofs::{ClusterSettings, Compression};
use hedgerow::image::{ErofsOptions, FragmentPolicy};
use hedgerow::numbers::size_bytes;
use hedgerow::Execution;
use std::ops::RangeInclusive;

/// The options that `command` asks for. Those that only SquashFS has are refused.
pub fn options(
    command: &Create,
    execution: Execution,
    epoch: Option<i64>,
) -> Result<ErofsOptions, Failure> {
    let refused = [
        ("--exportable", command.exportable),
        ("--reuse", command.reuse.is_some()),
        ("-X", !command.settings.is_empty()),
    ];
    if let Some((name, _)) = refused.iter().find(|(_, is_given)| *is_given) {
        return Err(not_started(format_args!("EROFS has no {name}")));
    }
    let max_holes = command.max_holes.as_deref().map(hole_limit);
    let defaults = ErofsOptions::default();
    Ok(ErofsOptions {
        block_bytes: match &command.block_size {
            Some(word) => power(word, "block", 4096..=65_536, "4K to 64K")?,
            None => defaults.block_bytes,
        },
        compression: compression(command)?,
        inline: !command.no_fragments,
        dedup: !command.no_dedup,
        hole_limit_bytes: max_holes.transpose().map_err(not_started)?,
        xattrs: stores_xattrs(command),
        hard_links: !command.no_hardlinks,
        skip_unreadable: command.skip_unreadable,
        mtime_s: epoch.or(command.default_mtime.map(i64::from)),
        verity: verity(command)?,
        replace: command.force,
        execution,
        ..defaults
    })
}

/// How contents are compressed; `None` if they are not.
fn compression(command: &Create) -> Result<Option<Compression>, Failure> {
    let name = command.compressor.as_deref().unwrap_or("none");
    if name == "none" {
        return match (&command.level, &command.cluster_size) {
            (None, None) => Ok(None),
            _ => Err(not_started(
                "-l and --cluster-size need -c: the default is 'none'",
            )),
        };
    }
    let defaults = Compression::default();
    Ok(Some(Compression {
        settings: ClusterSettings::parse(name, command.level.as_deref()).map_err(not_started)?,
        cluster_bytes: match &command.cluster_size {
            Some(word) => power(word, "cluster", 4096..=1 << 20, "4K to 1M")?,
            None => defaults.cluster_bytes,
        },
        fragments: if command.no_fragments {
            FragmentPolicy::Never
        } else {
            defaults.fragments
        },
        ..defaults
    }))
}

/// Parses a number of bytes that is a power of two.
pub fn power(
    word: &str,
    what: &str,
    valid: RangeInclusive<u32>,
    shown: &str,
) -> Result<u32, Failure> {
    let bytes = size_bytes(word.as_bytes()).and_then(|bytes| u32::try_from(bytes).ok());
    let is_valid = |bytes: &u32| bytes.is_power_of_two() && valid.contains(bytes);
    bytes.filter(is_valid).ok_or_else(|| {
        not_started(format_args!(
            "a {what} of '{word}' bytes: it must be a power of two from {shown}"
        ))
    })
}
