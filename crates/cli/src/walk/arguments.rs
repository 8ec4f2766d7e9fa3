use crate::environment;
use clap::{Args, ValueEnum};
use hedgerow::numbers::Shard;
use hedgerow::walk::listing::Format;
use hedgerow::walk::{Budget, NodeKind};
use std::ffi::OsString;
use std::path::PathBuf;

/// List a directory tree, in parallel
///
/// Prints the path of everything below DIR as it is found, in no particular order. Symbolic links
/// are not followed, except DIR itself. Unreadable entries are reported on standard error and
/// skipped (exit code 3); entries deleted meanwhile are omitted. Names are bytes; on a terminal
/// control characters are shown as '?'.
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
    /// Write the listing as a table, in canonical order; without -o, to standard output
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<TableFormat>,
    /// Write the table to FILE, which appears only when it is complete
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    pub force: bool,
    /// List only a part of the tree, as Parquet: what the budget allows
    #[arg(long, requires_all = ["output", "budget"])]
    pub part: bool,
    /// Stop after N entries, or begin no new directory after N seconds: 60s, 0.5s
    #[arg(long, value_name = "N|Ns", requires = "part")]
    pub budget: Option<Budget>,
    /// Write the directories that the part left to FILE
    #[arg(long, value_name = "FILE", requires = "part")]
    pub rest: Option<PathBuf>,
    /// Begin with the directories in FILE, which another part left: its --rest, or the part itself
    #[arg(long, value_name = "FILE", requires = "part")]
    pub from: Vec<PathBuf>,
    /// Take only the K-th of N shares of these directories; auto asks Slurm, Open MPI or, as auto/N,
    /// Kubernetes
    #[arg(long, value_name = "K/N|auto", value_parser = parse_shard, requires = "from")]
    pub shard: Option<Shard>,
    /// Merge parts, which take the place of DIR, to the listing of the whole tree
    #[arg(long, conflicts_with_all = ["part", "stat", "summary", "exclude", "gitignore",
        "one_file_system", "max_depth", "types"])]
    pub merge: bool,
    /// The one directory to list; without it, the current one, and paths have no prefix. Several are
    /// the parts of --merge
    #[arg(value_name = "DIR")]
    pub walked: Vec<PathBuf>,
}

impl Walk {
    /// Whether a table is written instead of lines.
    pub fn is_table(&self) -> bool {
        self.format.is_some() || self.part || self.merge || self.output.is_some()
    }
}

/// A format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// A Parquet file
    Parquet,
    /// A file of Arrow's IPC format (Feather)
    Arrow,
    /// A stream of Arrow's IPC format, for pipes
    ArrowStream,
}

impl From<TableFormat> for Format {
    fn from(format: TableFormat) -> Self {
        match format {
            TableFormat::Parquet => Format::Parquet,
            TableFormat::Arrow => Format::Arrow,
            TableFormat::ArrowStream => Format::ArrowStream,
        }
    }
}

/// Reads the share of a work that this process does.
pub fn parse_shard(text: &str) -> Result<Shard, String> {
    let variable = |name: &str| environment::variable(name)?.into_string().ok();
    Shard::parse(text, &variable).map_err(|error| error.words().to_owned())
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

--format writes a table of path (text; what is not UTF-8 is replaced), path_bytes (binary; only
where the path is not UTF-8), type (a word as in JSON), mode, nlink, uid, gid, size_bytes, mtime,
ctime, atime (nanoseconds since the epoch, UTC; missing outside of the years 1678 to 2261, atime also
of directories, because listing them changes it), ino, dev, rdev and blocks. Paths have no prefix.
Rows are in canonical order, as with --sort: directory by directory, so a/x comes before a!, unlike
in the order of the bytes of whole paths. The same rows give the same bytes.

--part lists a part of the tree. A directory is listed completely or left, and at least one is
listed. Whoever schedules gives the directories that were left to other calls, on any machine,
until none are left; --merge then gives the bytes that one machine gives. Parts may be made twice.
All are of the same DIR, with the same options that select entries: others are refused. --type and
--gitignore are not possible. This has nothing to do with hedgerow merge, which merges branches.

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
