//! `sqfs2tar`: an archive of what is in an image, on standard output.

use super::console::{unreadable, Console};
use clap::{CommandFactory, Parser, ValueEnum};
use hedgerow::image::{
    to_archive, ArchiveError, ArchiveOptions, ArchiveOutput, Compression, Image, SinkOptions,
    WriteOptions,
};
use hedgerow::{CancelToken, Execution};
use hedgerow_fs::StandardOutput;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

pub const CONSOLE: Console = Console {
    name: "sqfs2tar",
    failed: 1,
};

/// Writes what is in a SquashFS image to standard output as a tar archive
#[derive(Debug, Parser)]
#[command(name = "sqfs2tar", version = super::console::VERSION)]
struct Arguments {
    /// Compress the archive
    #[arg(short, long, value_name = "NAME")]
    compressor: Option<Name>,
    /// Only this directory of the image, which becomes the root; several stay where they are
    #[arg(short = 'd', long, value_name = "DIR")]
    subdir: Vec<OsString>,
    /// Put everything below a directory of this name, which is the root; with '.', names begin with
    /// './'. Without it, the archive does not have the root itself
    #[arg(short, long, value_name = "DIR")]
    root_becomes: Option<OsString>,
    /// With one --subdir: it stays where it is
    #[arg(short, long)]
    keep_as_dir: bool,
    /// Archive no extended attributes
    #[arg(short = 'X', long)]
    no_xattr: bool,
    /// Archive files of several names several times
    #[arg(short = 'L', long)]
    no_hard_links: bool,
    /// Fail if something cannot be in an archive, instead of leaving it out
    #[arg(short = 's', long)]
    no_skip: bool,
    /// The image
    #[arg(value_name = "SQFSFILE")]
    image: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    Gzip,
    Xz,
    Zstd,
}

/// The options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    match CONSOLE.parse(words) {
        Ok(arguments) => export(&arguments).map(|()| 0),
        Err(code) => Ok(code),
    }
}

fn export(arguments: &Arguments) -> Result<(), String> {
    let interrupted = hedgerow_fs::catch_interrupts().map_err(|error| error.to_string())?;
    let failed = |error| unreadable(&arguments.image, error);
    let image = Arc::new(Image::open(&arguments.image, 0).map_err(failed)?);
    let paths: Vec<Vec<u8>> = arguments.subdir.iter().map(|name| path(name)).collect();
    if let Some(name) = arguments.root_becomes.as_deref() {
        if path(name)
            .split(|byte| *byte == b'/')
            .any(|part| part == b"..")
        {
            let name = name.display();
            return Err(format!("Invalid root directory '{name}'."));
        }
    }
    let options = ArchiveOptions {
        root: match (&paths[..], arguments.keep_as_dir) {
            ([subdir], false) => subdir.clone(),
            _ => Vec::new(),
        },
        paths,
        compression: match arguments.compressor {
            None => Compression::None,
            Some(Name::Gzip) => Compression::Gzip,
            Some(Name::Xz) => Compression::Xz,
            Some(Name::Zstd) => Compression::Zstd,
        },
        sink: options(arguments, CancelToken::from_static(interrupted)),
    };
    let written = to_archive(&image, ArchiveOutput::Stream(&mut StandardOutput), &options);
    let skipped = written.map_err(|error| match error {
        ArchiveError::Image(error) => failed(error),
        error => error.to_string(),
    })?;
    for error in skipped {
        CONSOLE.complain(format_args!("left out {error}"));
    }
    Ok(())
}

fn options(arguments: &Arguments, cancel: CancelToken) -> SinkOptions {
    let new_root = arguments.root_becomes.as_deref().map(path);
    let has_root = new_root.is_some();
    let root_name = new_root.unwrap_or_default();
    SinkOptions {
        write: WriteOptions {
            dot_names: has_root && root_name.is_empty(),
            ..WriteOptions::default()
        },
        root: has_root,
        root_name,
        xattrs: !arguments.no_xattr,
        hard_links: !arguments.no_hard_links,
        skip_unusable: !arguments.no_skip,
        execution: Execution {
            cancel,
            ..Execution::default()
        },
        ..SinkOptions::default()
    }
}

/// A name as paths are in an image: without slashes at its ends, and without `.`.
fn path(name: &std::ffi::OsStr) -> Vec<u8> {
    let names = name.as_bytes().split(|byte| *byte == b'/');
    let names: Vec<&[u8]> = names.filter(|name| !matches!(*name, b"" | b".")).collect();
    names.join(&b'/')
}
