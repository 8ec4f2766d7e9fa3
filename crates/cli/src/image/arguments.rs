use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Create, extract and inspect SquashFS images
#[derive(Debug, Args)]
pub struct Image {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    Create(Box<Create>),
    Extract(Extract),
    Diff(Diff),
    List(List),
    Cat(Cat),
    Info(Info),
    ToTar(ToTar),
    Verify(Verify),
}

impl Image {
    /// Whether it has the engine work.
    pub fn takes_stats(&self) -> bool {
        !matches!(self.action, Action::List(_) | Action::Info(_))
    }
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
/// Bytes in parts without one can have changed without anybody knowing. The last line of an image
/// in which nothing is wrong is 'ok'. With -q it prints only what is wrong.
///
/// --json prints one document, schema hedgerow.image.verify.v1.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub place: Place,
}

/// Write what is in an image as a tar archive
///
/// The archive is the same, byte for byte, for any number of workers: ustar, with headers of pax
/// where that does not do. Entries come in canonical order, the root first. Sockets cannot be
/// archived: they are named and left out (exit code 3).
#[derive(Debug, Args)]
pub struct ToTar {
    /// The archive; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Write holes of files as zeros
    #[arg(long)]
    pub dense: bool,
    #[command(flatten)]
    pub place: Place,
}

/// Make an image of a directory, an archive or a commit
///
/// SOURCE is a directory, or a tar archive, perhaps compressed with gzip, bzip2, xz or zstd; '-'
/// is an archive on standard input. An archive and the directory it was made of give the same image.
///
/// An image of git:REVISION holds what 'git archive REVISION' would, without a checkout: export
/// attributes and conversions count, entries have the time of the commit; those of a tree named
/// without a commit have that of SOURCE_DATE_EPOCH, or 0.
///
/// The image is the same, byte for byte, for any number of workers. It gets its name when it is
/// whole; if anything fails, what is there stays as it is. An image in SOURCE does not hold itself,
/// nor the one that it replaces.
///
/// SOURCE_DATE_EPOCH, if set, is the time of the image, and no entry is younger. It is a number of
/// seconds that SquashFS can hold, up to 4294967295: anything else is refused. Entries from before
/// 1970 or after February 2106 get the nearest time that there is, with a warning.
#[derive(Debug, Args)]
pub struct Create {
    /// The compressor: gzip, xz, lzma, lzo, lz4 or zstd
    #[arg(short, long, value_name = "NAME", default_value = "zstd")]
    pub compressor: String,
    /// Its level
    #[arg(short, long, value_name = "LEVEL")]
    pub level: Option<String>,
    /// One of its other settings
    #[arg(short = 'X', value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Bytes of a block: a power of two from 4K to 1M
    #[arg(short, long, value_name = "SIZE", default_value = "128K")]
    pub block_size: String,
    /// Replace IMAGE if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Give what does not fill a block a block of its own
    #[arg(long)]
    pub no_fragments: bool,
    /// Store equal contents as often as they occur
    #[arg(long)]
    pub no_dedup: bool,
    /// Make the image usable for NFS exports
    #[arg(long)]
    pub exportable: bool,
    /// Bytes of holes that large files may have together, such as 20T; by default 2^25 blocks,
    /// which are 4 TiB of blocks of 128 KiB. A hole takes four bytes for each block
    #[arg(long, value_name = "SIZE")]
    pub max_holes: Option<String>,
    /// Store no extended attributes of SOURCE
    #[arg(long)]
    pub no_xattrs: bool,
    /// Leave out what cannot be read: it is named on standard error (exit code 3)
    #[arg(long)]
    pub skip_unreadable: bool,
    /// Leave out what fits the pattern of gitignore(5), and what is below it
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<OsString>,
    /// Do not enter directories of other file systems
    #[arg(short = 'x', long)]
    pub one_file_system: bool,
    /// Of a commit: attributes files in the working tree count before those in the commit
    #[arg(long)]
    pub worktree_attributes: bool,
    /// Everything belongs to root
    #[arg(long)]
    pub all_root: bool,
    /// Everything belongs to this user
    #[arg(long, value_name = "N")]
    pub set_uid: Option<u32>,
    /// Everything belongs to this group
    #[arg(long, value_name = "N")]
    pub set_gid: Option<u32>,
    /// Everything has this time, in seconds since the epoch
    #[arg(long, value_name = "T")]
    pub default_mtime: Option<u32>,
    /// Pack what FILE describes, in the form of gensquashfs; inputs are relative to SOURCE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["exclude", "one_file_system"])]
    pub pack_file: Option<PathBuf>,
    /// Store contents in the order and in the way that FILE says, in the form of gensquashfs
    #[arg(long, value_name = "FILE")]
    pub sort_file: Option<PathBuf>,
    /// Set the extended attributes that FILE says, in the form of 'getfattr --dump'
    #[arg(long, value_name = "FILE")]
    pub xattr_file: Option<PathBuf>,
    /// Set the security contexts that FILE says, in the form of SELinux's file_contexts
    #[arg(long, value_name = "FILE")]
    pub selinux: Option<PathBuf>,
    /// Take compressed blocks from this older image where the content is the same; the new image
    /// is the same as without
    #[arg(long, value_name = "OLD_IMAGE")]
    pub reuse: Option<PathBuf>,
    /// The directory, the archive, or git:REVISION for a commit or tree of the Git repository here
    #[arg(value_name = "SOURCE")]
    pub source: PathBuf,
    /// The image
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
}

/// Extract what is in an image
///
/// Makes the entries at PATH, or all of them, below DIR, which is created if it is not there.
/// Links in DIR are not followed, and nothing outside it is touched. What cannot be extracted is
/// named on standard error, and the others are finished (exit code 3). No space being left ends
/// the run (exit code 2).
///
/// A file is there as a whole or not at all, unless the process is killed. After a run that ended
/// early, directories that were being filled have not got their attributes.
///
/// Permissions and times are those of the image. Owners, and with them the setuid and setgid bits,
/// are so if root extracts; others also get no attributes but those in 'user.'. An image can so
/// give its reader the rights of root: root does not extract into a directory of another user, or
/// into a new one in such a directory, unless --no-owner or --keep-privileges says what is wanted.
///
/// --json prints one document, schema hedgerow.image.extract.v1.
#[derive(Debug, Args)]
pub struct Extract {
    /// Extract into a directory that is not empty, and replace what is in the way, except for
    /// directories
    #[arg(short, long)]
    pub force: bool,
    /// Leave so many names at the beginning of each path out
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub strip_components: usize,
    /// Give everything to whoever extracts, also if that is root
    #[arg(long)]
    pub no_owner: bool,
    /// Set no extended attributes
    #[arg(long)]
    pub no_xattrs: bool,
    /// As root, keep setuid and setgid bits, device files and attributes in 'security.' also in a
    /// directory of another user
    #[arg(long)]
    pub keep_privileges: bool,
    #[command(flatten)]
    pub place: Place,
    /// The directory
    #[arg(value_name = "DIR")]
    pub target: PathBuf,
    /// Paths in the image
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// Tell how two images differ
///
/// Compares names, types, contents, link targets, device numbers, which names are one file, and,
/// unless told otherwise, permissions, owners, times and extended attributes. How things are
/// stored does not matter. Prints a line for each difference, in canonical order. The exit code is
/// 0 if there is none, 1 if there are some, and 2 if something could not be read.
///
/// --json prints one object a line, schema hedgerow.image.diff.v1.
#[derive(Debug, Args)]
pub struct Diff {
    /// Do not compare owners and groups
    #[arg(long)]
    pub no_owner: bool,
    /// Do not compare permissions
    #[arg(long)]
    pub no_mode: bool,
    /// Do not compare times
    #[arg(long)]
    pub no_mtime: bool,
    /// Do not compare extended attributes
    #[arg(long)]
    pub no_xattrs: bool,
    /// An image
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// Another one
    #[arg(value_name = "B")]
    pub second: PathBuf,
}
