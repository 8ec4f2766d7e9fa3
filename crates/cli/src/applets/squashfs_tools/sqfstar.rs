//! `sqfstar`: an image of the archive on standard input.

use super::building::Building;
use super::mksquashfs::create;
use super::refused;
use super::single_dash::Grammar;
use crate::applets::console::Console;
use clap::{CommandFactory, Parser};
use hedgerow::image::{
    parse_owner, path_rules, ArchiveSource, Defaults, ModeChange, NodeOptions, PathRules, Source,
    Syntax,
};
use hedgerow_fs::ReadFile;
use std::ffi::OsString;
use std::path::PathBuf;

pub const CONSOLE: Console = Console {
    name: "sqfstar",
    failed: 1,
};
pub const GRAMMAR: Grammar = Grammar {
    rest: &[],
    listed: &[],
    operands_end_options: true,
    refused: refused::SQFSTAR,
};

/// Create a SquashFS image of the tar archive on standard input
///
/// The options are those of sqfstar 4.7. The archive may be compressed with gzip, bzip2, xz or zstd.
/// If several members have the same name, the last one wins.
#[derive(Debug, Parser)]
#[command(
    name = "sqfstar",
    override_usage = "sqfstar [OPTIONS] IMAGE [PATTERN]...",
    disable_help_flag = true,
    args_override_self = true
)]
struct Arguments {
    /// Replace the image if it exists
    #[arg(long)]
    force: bool,
    /// Do not make the image usable for NFS exports, which is the default
    #[arg(long)]
    no_exports: bool,
    /// Patterns are regular expressions
    #[arg(long)]
    regex: bool,
    /// Leave out what the patterns in FILE match, which has one in each line
    #[arg(long = "ef", value_name = "FILE")]
    exclude_files: Vec<PathBuf>,
    /// Permissions of directories that are missing in the archive, and of its root
    #[arg(long, value_name = "MODE")]
    default_mode: Option<String>,
    /// Owner of these directories
    #[arg(long, value_name = "USER")]
    default_uid: Option<String>,
    /// Group of these directories
    #[arg(long, value_name = "GROUP")]
    default_gid: Option<String>,
    /// Accepted for compatibility: names of owners are never used
    #[arg(long)]
    numeric_owner: bool,
    #[command(flatten)]
    building: Building,
    /// The image file
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
    /// Leave out what these patterns match
    #[arg(value_name = "PATTERN")]
    exclude: Vec<OsString>,
}

/// The definition of the options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    match super::parse(CONSOLE, &GRAMMAR, words) {
        Ok(arguments) => pack(&arguments).map(|()| 0),
        Err(code) => Ok(code),
    }
}

fn pack(arguments: &Arguments) -> Result<(), String> {
    let syntax = if arguments.regex {
        Syntax::Regex
    } else {
        Syntax::Wildcards
    };
    let exclude = path_rules(syntax, &arguments.exclude, &arguments.exclude_files)?;
    let building = &arguments.building;
    let target = building.target(&arguments.image, arguments.force, "-force")?;
    let edits = building.edits(&target)?;
    let defaults = defaults(
        arguments.default_mode.as_deref(),
        arguments.default_uid.as_deref(),
        arguments.default_gid.as_deref(),
    )?;
    let exportable = building.exports && !arguments.no_exports;
    let source = archive(defaults, exclude)?;
    create(
        building,
        source,
        edits,
        &target,
        (arguments.force, exportable),
        CONSOLE,
    )
}

/// Attributes of directories that an archive does not have.
pub fn defaults(
    mode: Option<&str>,
    uid: Option<&str>,
    gid: Option<&str>,
) -> Result<Defaults, String> {
    let (own_uid, own_gid) = hedgerow_fs::effective_ids();
    let mode = mode
        .map(ModeChange::parse)
        .transpose()
        .map_err(|error| error.to_string())?;
    let epoch = crate::image::create::epoch()?;
    Ok(Defaults {
        uid: uid.map_or(Ok(own_uid), |word| parse_owner(word, false))?,
        gid: gid.map_or(Ok(own_gid), |word| parse_owner(word, true))?,
        mode: mode.map_or(0o755, |change| change.applied(0o755, true)),
        mtime_s: epoch.unwrap_or_default().into(),
    })
}

/// The archive on standard input.
pub fn archive(defaults: Defaults, exclude_paths: PathRules) -> Result<Source<'static>, String> {
    let file = ReadFile::standard_input().map_err(|error| error.to_string())?;
    Ok(Source::Archive(ArchiveSource {
        nodes: NodeOptions {
            defaults,
            newest_by_default: crate::image::create::epoch()?.is_none(),
            ..NodeOptions::default()
        },
        exclude_paths,
        ..file.into()
    }))
}
