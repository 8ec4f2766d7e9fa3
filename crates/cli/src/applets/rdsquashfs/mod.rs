//! `rdsquashfs`: inspects or unpacks an image.

mod describe;
mod list;
mod stat;
mod unpack;

use super::console::{print, print_names, unreadable, Console};
use clap::{CommandFactory, Parser};
use hedgerow::image::{xattr_lines, Body, Image, Inode};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

pub const CONSOLE: Console = Console {
    name: "rdsquashfs",
    failed: 1,
};

/// Inspect or unpack a SquashFS image
#[derive(Debug, Parser)]
#[command(name = "rdsquashfs", version = super::console::VERSION, disable_version_flag = true)]
struct Arguments {
    /// List the contents of a directory
    #[arg(short, long, value_name = "PATH")]
    list: Option<OsString>,
    /// Print the content of a regular file
    #[arg(short, long, value_name = "PATH")]
    cat: Option<OsString>,
    /// Print extended attributes
    #[arg(short, long, value_name = "PATH")]
    xattr: Option<OsString>,
    /// Unpack the contents of this directory; / is everything
    #[arg(short, long, value_name = "PATH")]
    unpack_path: Option<OsString>,
    /// Print all fields of an inode
    #[arg(short, long, value_name = "PATH")]
    stat: Option<OsString>,
    /// Print a pack file as gensquashfs reads it
    #[arg(short, long)]
    describe: bool,
    /// The directory to unpack to; with --describe, the prefix of input file paths
    #[arg(short = 'p', long, value_name = "PATH")]
    unpack_root: Option<OsString>,
    /// Do not unpack devices
    #[arg(short = 'D', long)]
    no_dev: bool,
    /// Do not unpack sockets
    #[arg(short = 'S', long)]
    no_sock: bool,
    /// Do not unpack named pipes
    #[arg(short = 'F', long)]
    no_fifo: bool,
    /// Do not unpack symbolic links
    #[arg(short = 'L', long)]
    no_slink: bool,
    /// Do not unpack directories that would be empty
    #[arg(short = 'E', long)]
    no_empty_dir: bool,
    /// Write zeros instead of leaving holes
    #[arg(short = 'Z', long)]
    no_sparse: bool,
    /// Set extended attributes
    #[arg(short = 'X', long)]
    set_xattr: bool,
    /// Set times
    #[arg(short = 'T', long)]
    set_times: bool,
    /// Set permissions
    #[arg(short = 'C', long)]
    chmod: bool,
    /// Set owners
    #[arg(short = 'O', long)]
    chown: bool,
    /// Do not print unpacked paths
    #[arg(short, long)]
    quiet: bool,
    /// Print the version
    #[arg(short = 'V', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    /// The image file
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
}

/// The definition of the options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    match CONSOLE.parse(words) {
        Ok(arguments) => read(&arguments).map(|()| 0),
        Err(code) => Ok(code),
    }
}

fn read(arguments: &Arguments) -> Result<(), String> {
    let failed = |error| unreadable(&arguments.image, error);
    let image = Arc::new(Image::open(&arguments.image, 0).map_err(failed)?);
    let find = |path: &OsStr| image.find(path.as_bytes()).map_err(failed);
    if let Some(path) = &arguments.list {
        return list::list(&image, path.as_bytes(), &find(path)?)
            .map_err(failed)
            .and_then(print_names);
    }
    if let Some(path) = &arguments.cat {
        return cat(&image, path, &find(path)?);
    }
    if let Some(path) = &arguments.xattr {
        let shown = xattr_lines(&image, &find(path)?);
        return shown.map_err(failed).and_then(print_names);
    }
    if let Some(path) = &arguments.stat {
        let name = path
            .as_bytes()
            .rsplit(|byte| *byte == b'/')
            .find(|name| !name.is_empty());
        let inode = find(path)?;
        let said = stat::stat(&image, name.unwrap_or_default(), &inode);
        return said.map_err(failed).and_then(print_names);
    }
    if arguments.describe {
        let root = arguments.unpack_root.as_deref().map(OsStr::as_bytes);
        return describe::describe(&image, root, print_names);
    }
    match &arguments.unpack_path {
        Some(path) => unpack::unpack(&image, path.as_bytes(), arguments),
        None => Err("nothing to do: see --help".into()),
    }
}

fn cat(image: &Image, path: &OsStr, inode: &Inode) -> Result<(), String> {
    let Body::File(file) = &inode.body else {
        return Err(format!("'{}' is not a regular file", path.display()));
    };
    let failed = |error: hedgerow::image::Error| format!("'{}': {error}", path.display());
    let mut content = Vec::new();
    for piece in image.pieces(file).map_err(failed)? {
        image
            .read_piece(&piece.map_err(failed)?, &mut content)
            .map_err(failed)?;
        print(std::mem::take(&mut content))?;
    }
    Ok(())
}
