use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Look into SquashFS images
#[derive(Debug, Args)]
pub struct Image {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    List(List),
    Cat(Cat),
    Info(Info),
    Verify(Verify),
}

/// Where the image is.
#[derive(Debug, Args)]
pub struct Place {
    /// The image begins so many bytes behind the start of the file
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub offset: u64,
    /// The image
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
}

/// List what is in an image
///
/// Prints the paths of everything below PATH, or of the whole image, in canonical order: by the
/// bytes of the names, contents behind their directory. What cannot be read is named on standard
/// error and passed over (exit code 3).
#[derive(Debug, Args)]
#[command(after_long_help = FORMATS)]
pub struct List {
    /// Print type, mode, links, uid, gid, size, mtime and inode before each path, and where links
    /// point to behind it
    #[arg(short)]
    pub long: bool,
    #[command(flatten)]
    pub place: Place,
    /// A path in the image
    #[arg(value_name = "PATH")]
    pub path: Option<OsString>,
}

/// The formats of the output, as the long help shows them.
const FORMATS: &str = "\
-l prints what 'hedgerow walk --stat' prints, and ' -> ' and the target behind links.

--json prints one object a line, schema hedgerow.image.list.v1: schema, path (a string, or
{\"bytes\": [..]} where it is not UTF-8) and type (file, directory, symlink, fifo, socket,
block_device, character_device); with -l also mode, nlink, uid, gid, size_bytes, mtime_s,
mtime_ns, ino, dev, rdev, blocks (of 512 bytes) and, of links, target. Fields are only ever
added.";

/// Print the content of a file in an image
#[derive(Debug, Args)]
pub struct Cat {
    #[command(flatten)]
    pub place: Place,
    /// The path of a regular file in the image
    #[arg(value_name = "PATH")]
    pub path: OsString,
}

/// Tell what an image says about itself
///
/// --json prints one document, schema hedgerow.image.info.v1.
#[derive(Debug, Args)]
pub struct Info {
    #[command(flatten)]
    pub place: Place,
}

/// Read and check all of an image
///
/// Names everything that is wrong, and where (exit code 1); then says which parts have checksums.
/// Bytes in parts without one can have changed without anybody knowing.
///
/// --json prints one document, schema hedgerow.image.verify.v1.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub place: Place,
}
