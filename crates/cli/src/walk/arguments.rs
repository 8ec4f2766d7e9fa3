use clap::{Args, ValueEnum};
use hedgerow::walk::NodeKind;
use std::ffi::OsString;
use std::path::PathBuf;

/// List a directory tree, in parallel
///
/// Prints the path of everything below DIR as it is found, in no particular order. Symbolic links
/// are not followed. Unreadable entries are reported on standard error and skipped (exit code 3);
/// entries deleted meanwhile are omitted. Names are bytes; on a terminal control characters are
/// shown as '?'.
#[derive(Debug, Args)]
#[command(after_long_help = FORMATS)]
pub struct Walk {
    /// Print type, mode, links, uid, gid, size, mtime and inode before each path
    #[arg(long)]
    pub stat: bool,
    /// Print totals instead of entries; the bytes of hard links count once
    #[arg(long)]
    pub summary: bool,
    /// Print in canonical order: by the bytes of the names, a directory before its contents
    #[arg(long)]
    pub sort: bool,
    /// End each entry with NUL instead of a newline
    #[arg(short = '0', long = "null")]
    pub null: bool,
    /// Exclude entries that match the gitignore(5) pattern, and everything below them
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<OsString>,
    /// Exclude '.git' and whatever .gitignore files exclude, from the repository's root downwards
    #[arg(long)]
    pub gitignore: bool,
    /// Do not enter directories of other file systems
    #[arg(short = 'x', long)]
    pub one_file_system: bool,
    /// Print nothing deeper than N; 1 is the entries of DIR itself
    #[arg(long, value_name = "N")]
    pub max_depth: Option<usize>,
    /// Print only entries of these types
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<Type>,
    /// The directory to list; without it, the current one, and paths have no prefix
    #[arg(value_name = "DIR")]
    pub walked: Option<PathBuf>,
}

/// The formats of the output, as the long help shows them.
const FORMATS: &str = "\
--stat prints, with a space between and the path last:
  type   f file, d directory, l link, p fifo, s socket, b and c devices
  mode   permission bits, four octal digits
  links  uid  gid
  size   bytes
  mtime  seconds since the epoch, with nine decimals
  inode  path

--json prints one object a line, schema hedgerow.walk.v1: schema, path (a string, or
{\"bytes\": [..]} where it is not UTF-8) and type (file, directory, symlink, fifo, socket,
block_device, character_device); with --stat also mode, nlink, uid, gid, size_bytes, mtime_s,
mtime_ns, ino, dev, rdev and blocks (of 512 bytes). Fields are only ever added.

--summary prints a name and a number a line, or with --json one object of type summary: files,
directories, symlinks, others, bytes (of files and links), allocated_bytes (of all entries),
repeated_links (further names of files that were counted already; their bytes count once) and
omitted (what was named on standard error).";

/// A type of entry, by its letter in find(1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Type {
    /// Regular files
    F,
    /// Directories
    D,
    /// Symbolic links
    L,
    /// Fifos
    P,
    /// Sockets
    S,
    /// Block devices
    B,
    /// Character devices
    C,
}

impl From<Type> for NodeKind {
    fn from(letter: Type) -> Self {
        match letter {
            Type::F => NodeKind::File,
            Type::D => NodeKind::Directory,
            Type::L => NodeKind::Symlink,
            Type::P => NodeKind::Fifo,
            Type::S => NodeKind::Socket,
            Type::B => NodeKind::BlockDevice,
            Type::C => NodeKind::CharacterDevice,
        }
    }
}
