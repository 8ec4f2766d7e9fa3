//! `sqfs2tar`: converts an image to an archive on standard output.

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

/// Convert a SquashFS image to a tar archive on standard output
#[derive(Debug, Parser)]
#[command(name = "sqfs2tar", version = super::console::VERSION)]
struct Arguments {
    /// Compress the archive
    #[arg(short, long, value_name = "NAME")]
    compressor: Option<Name>,
    /// Convert only this directory, which becomes the root; several directories keep their paths
    #[arg(short = 'd', long, value_name = "DIR")]
    subdir: Vec<OsString>,
    /// Put everything below a root directory of this name; with '.', names begin with './'. Without
    /// this option, the archive has no entry for the root
    #[arg(short, long, value_name = "DIR")]
    root_becomes: Option<OsString>,
    /// With one --subdir: keep its path
    #[arg(short, long)]
    keep_as_dir: bool,
    /// Do not archive extended attributes
    #[arg(short = 'X', long)]
    no_xattr: bool,
    /// Archive hard links as separate files
    #[arg(short = 'L', long)]
    no_hard_links: bool,
    /// Fail if an entry cannot be archived, instead of leaving it out
    #[arg(short = 's', long)]
    no_skip: bool,
    /// The image file
    #[arg(value_name = "SQFSFILE")]
    image: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    Gzip,
    Xz,
    Zstd,
}

/// The definition of the options.
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

/// A name in the form of paths in an image: without slashes at its ends, and without `.`.
fn path(name: &std::ffi::OsStr) -> Vec<u8> {
    let names = name.as_bytes().split(|byte| *byte == b'/');
    let names: Vec<&[u8]> = names.filter(|name| !matches!(*name, b"" | b".")).collect();
    names.join(&b'/')
}
