//! `tar2sqfs`: an image of the archive on standard input.

use super::console::Console;
use super::packing::{Packing, BLOCK_COMPRESSORS};
use crate::image::create::epoch;
use clap::{CommandFactory, Parser};
use hedgerow::image::{
    create_with, ArchiveSource, Hooks, NewRoot, Node, NodeOptions, Recipe, Source,
};
use hedgerow::CancelToken;
use hedgerow_fs::ReadFile;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The formats of archives in the form that scripts look for.
const FORMATS: &str = "\
Supported tar compression formats:
\tgzip
\tbzip2
\txz
\tzstd
\tuncompressed";

pub const CONSOLE: Console = Console {
    name: "tar2sqfs",
    failed: 1,
};

/// Create a SquashFS image of the tar archive on standard input
///
/// The archive may be compressed with gzip, bzip2, xz or zstd. If several members have the same
/// name, the last one wins.
///
/// SOURCE_DATE_EPOCH, if set, is the time of the image and of directories that are missing in the
/// archive.
#[derive(Debug, Parser)]
#[command(name = "tar2sqfs", version = super::console::VERSION, after_help = format!("{BLOCK_COMPRESSORS}\n\n{FORMATS}"))]
struct Arguments {
    #[command(flatten)]
    packing: Packing,
    /// Use this directory of the archive as the root; leave out everything outside it
    #[arg(short, long, value_name = "DIR")]
    root_becomes: Option<OsString>,
    /// With --root-becomes: do not change the targets of symbolic links
    #[arg(short = 'S', long)]
    no_symlink_retarget: bool,
    /// Fail if an entry cannot be stored, instead of leaving it out
    #[arg(short = 's', long)]
    no_skip: bool,
    /// Do not store extended attributes
    #[arg(short = 'x', long)]
    no_xattr: bool,
    /// Set the time of everything to that of --defaults
    #[arg(short = 'k', long)]
    no_keep_time: bool,
}

/// The definition of the options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    match CONSOLE.parse(words) {
        Ok(arguments) => pack(&arguments).map(|()| 0),
        Err(code) => Ok(code),
    }
}

fn pack(arguments: &Arguments) -> Result<(), String> {
    let packing = &arguments.packing;
    if packing.help(CONSOLE)? {
        return Ok(());
    }
    let target = packing.image()?;
    let text = |error: hedgerow_fs::Error| error.to_string();
    let interrupted = hedgerow_fs::catch_interrupts().map_err(text)?;
    let cancel = CancelToken::from_static(interrupted);
    let defaults = packing.defaults(epoch()?)?;
    let mut options = packing.options(&cancel, &defaults)?;
    options.xattrs = !arguments.no_xattr;
    let new_root = arguments
        .root_becomes
        .as_deref()
        .map(|name| root(name, arguments));
    let source = Source::Archive(ArchiveSource {
        nodes: NodeOptions {
            defaults,
            new_root: new_root.transpose()?,
            skip_unusable: !arguments.no_skip,
            ..NodeOptions::default()
        },
        skips_quietly: true,
        xattrs_must_fit: arguments.no_skip,
        ..ReadFile::standard_input().map_err(text)?.into()
    });
    let timed = |node: Node| {
        if arguments.no_keep_time {
            Node {
                mtime_s: defaults.mtime_s,
                mtime_ns: 0,
                ..node
            }
        } else {
            node
        }
    };
    let hooks = Hooks {
        change: &timed,
        warn: &|warning| CONSOLE.complain(warning),
        ..Hooks::default()
    };
    let created = create_with(source, Recipe::default(), &target, &options, hooks);
    let created = created.map_err(|error| error.to_string())?;
    packing.tell(&created, CONSOLE);
    Ok(())
}

fn root(name: &OsStr, arguments: &Arguments) -> Result<NewRoot, String> {
    let root = NewRoot::new(name.as_bytes(), !arguments.no_symlink_retarget);
    root.map_err(|reason| format!("'{}' cannot be the root: {reason}", name.display()))
}
