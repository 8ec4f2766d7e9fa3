use crate::walk::parse_shard;
use clap::{Args, Subcommand};
use hedgerow::numbers::Shard;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// Create, extract and inspect images, in SquashFS and in EROFS
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
    Merge(Merge),
    ToTar(ToTar),
    Verify(Verify),
}

impl Image {
    /// Whether it uses the engine.
    pub fn takes_stats(&self) -> bool {
        !matches!(self.action, Action::List(_) | Action::Info(_))
    }
}

/// The image and its position.
#[derive(Debug, Args)]
pub struct Place {
    /// Number of bytes in the file before the image
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub offset: u64,
    /// The image file
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
}

/// List the contents of an image
///
/// Prints the paths of everything below PATH, or of the whole image, in canonical order: by the
/// bytes of the names, a directory before its contents. Unreadable entries are reported on standard
/// error and skipped (exit code 3).
#[derive(Debug, Args)]
#[command(after_long_help = FORMATS)]
pub struct List {
    /// Print type, mode, links, uid, gid, size, mtime and inode before each path, and the targets
    /// of links after it
    #[arg(short)]
    pub long: bool,
    #[command(flatten)]
    pub place: Place,
    /// A path in the image (default: everything)
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
    /// Path of a regular file in the image
    #[arg(value_name = "PATH")]
    pub path: OsString,
}

/// Show the header of an image
///
/// If a hash tree of dm-verity stands behind the image, what is needed to use it is shown, too: the
/// root hash is what the tree has, unchecked. Of clusters of EROFS, the size is known for lz4 alone.
///
/// --json prints one document, schema hedgerow.image.info.v1.
#[derive(Debug, Args)]
pub struct Info {
    #[command(flatten)]
    pub place: Place,
}

/// Read and check an entire image
///
/// Reports every error and its place (exit code 1), then says which parts have checksums. In parts
/// without a checksum, changed bytes may go unnoticed. The last line for an image without errors is
/// 'ok'. With -q, only errors are printed.
///
/// If a hash tree of dm-verity stands behind the image ('image create --verity', or 'veritysetup
/// format'), every block of the image is checked against it, too. Only --root-hash vouches for the
/// tree itself.
///
/// --json prints one document, schema hedgerow.image.verify.v1.
#[derive(Debug, Args)]
pub struct Verify {
    /// Require a hash tree of dm-verity with this root hash, of 64 hexadecimal digits
    #[arg(long, value_name = "HEX")]
    pub root_hash: Option<String>,
    #[command(flatten)]
    pub place: Place,
}

/// Convert an image to a tar archive
///
/// The archive is the same, byte for byte, for any number of workers: ustar, with pax headers where
/// ustar is not enough. Entries come in canonical order, the root first. Sockets cannot be
/// archived: they are reported and left out (exit code 3).
#[derive(Debug, Args)]
pub struct ToTar {
    /// The archive (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Write holes of files as zeros instead of leaving them out
    #[arg(long)]
    pub dense: bool,
    #[command(flatten)]
    pub place: Place,
}

/// Create an image of a directory, an archive, a commit or another image
///
/// SOURCE is a directory, a tar archive, optionally compressed with gzip, bzip2, xz or zstd, or an
/// image in SquashFS or EROFS; '-' is an archive on standard input, or an image if that is a file.
/// An archive and the directory it was made of give the same image.
///
/// An image of git:REVISION has the contents of 'git archive REVISION', without a checkout: export
/// attributes and conversions apply, and entries have the time of the commit. If REVISION names a
/// tree without a commit, the time is SOURCE_DATE_EPOCH, or 0. The root directory, which is no entry
/// of such an archive, has the time 0.
///
/// The image is the same, byte for byte, for any number of workers. It gets its name when it is
/// complete; if anything fails, an existing file is kept. An image inside SOURCE contains neither
/// itself nor the file that it replaces.
///
/// SOURCE_DATE_EPOCH, if set, is the time of the image, and no entry is newer. It must be a number
/// of seconds that the format can store, in SquashFS up to 4294967295; anything else is refused. In
/// SquashFS, entries from before 1970 or after February 2106 get the nearest time that can be
/// stored, with a warning; EROFS stores all times, with nanoseconds.
#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Create {
    /// The format: squashfs or erofs (default: erofs if IMAGE ends in .erofs, else squashfs)
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// The compressor: gzip, xz, lzma, lzo, lz4 or zstd (default: zstd); for EROFS lz4, lz4hc,
    /// deflate, zstd, lzma or none (default: none)
    #[arg(short, long, value_name = "COMPRESSOR")]
    pub compressor: Option<String>,
    /// Compression level
    #[arg(short, long, value_name = "LEVEL")]
    pub level: Option<String>,
    /// Another setting of the compressor
    #[arg(short = 'X', value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Block size in bytes: a power of two from 4K to 1M (default: 128K); for EROFS from 4K to 64K
    /// (default: 4K), of which Linux takes what is not larger than a page of memory
    #[arg(short, long, value_name = "SIZE")]
    pub block_size: Option<String>,
    /// For EROFS: maximum compressed size of a cluster, which is always decompressed as a whole: a
    /// power of two from 4K to 1M (default: 64K)
    #[arg(long, value_name = "SIZE")]
    pub cluster_size: Option<String>,
    /// Replace IMAGE if it exists
    #[arg(short, long)]
    #[serde(skip)]
    pub force: bool,
    /// Store the tail of each file in a block of its own
    #[arg(long)]
    pub no_fragments: bool,
    /// Store duplicate contents separately
    #[arg(long)]
    pub no_dedup: bool,
    /// Make each hard link a file of its own
    #[arg(long)]
    pub no_hardlinks: bool,
    /// Make the image usable for NFS exports
    #[arg(long)]
    pub exportable: bool,
    /// Maximum total size of holes in large files, such as 20T; by default 2^25 blocks, which are 4
    /// TiB with blocks of 128 KiB, and for EROFS 4 TiB, or 64 GiB if it is compressed. A hole takes
    /// four bytes per block in the image, in a compressed EROFS image eight
    #[arg(long, value_name = "SIZE")]
    pub max_holes: Option<String>,
    /// Do not store extended attributes of SOURCE
    #[arg(long)]
    pub no_xattrs: bool,
    /// Leave out unreadable entries, and report them on standard error (exit code 3)
    #[arg(long)]
    pub skip_unreadable: bool,
    /// Exclude entries that match the gitignore(5) pattern, and everything below them
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<OsString>,
    /// Do not enter directories of other file systems
    #[arg(short = 'x', long)]
    pub one_file_system: bool,
    /// For commits: attribute files in the working tree count instead of those in the commit
    #[arg(long)]
    pub worktree_attributes: bool,
    /// Set the owner and group of everything to root
    #[arg(long)]
    pub all_root: bool,
    /// Set the owner of everything
    #[arg(long, value_name = "N")]
    pub set_uid: Option<u32>,
    /// Set the group of everything
    #[arg(long, value_name = "N")]
    pub set_gid: Option<u32>,
    /// Set the time of everything, in seconds since the epoch
    #[arg(long, value_name = "T")]
    pub default_mtime: Option<u32>,
    /// Pack the files that FILE describes, in gensquashfs's format; inputs are relative to SOURCE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["exclude", "one_file_system"])]
    pub pack_file: Option<PathBuf>,
    /// Store contents in the order and manner given in FILE, in gensquashfs's format
    #[arg(long, value_name = "FILE")]
    pub sort_file: Option<PathBuf>,
    /// Set the extended attributes given in FILE, in the format of 'getfattr --dump'
    #[arg(long, value_name = "FILE")]
    pub xattr_file: Option<PathBuf>,
    /// Set the security contexts given in FILE, in the format of SELinux's file_contexts
    #[arg(long, value_name = "FILE")]
    pub selinux: Option<PathBuf>,
    /// Copy compressed blocks from this older SquashFS image where the content is the same; the new image is
    /// identical to one made without it
    #[arg(long, value_name = "OLD_IMAGE")]
    #[serde(skip)]
    pub reuse: Option<PathBuf>,
    /// Append a hash tree of dm-verity, in the form of 'veritysetup format --hash-offset', and print
    /// its root hash on standard error, or with --json on standard output
    #[arg(long)]
    pub verity: bool,
    /// The salt of that tree, up to 256 bytes as hexadecimal digits (default: none, which gives equal
    /// images equal trees)
    #[arg(long, value_name = "HEX", requires = "verity")]
    pub verity_salt: Option<String>,
    /// Make only the K-th of N parts of the SquashFS image of a directory, for 'image merge'; auto asks Slurm,
    /// Open MPI or, as auto/N, Kubernetes
    #[arg(long, value_name = "K/N|auto", value_parser = parse_shard)]
    #[serde(skip)]
    pub part: Option<Shard>,
    /// A directory, an archive, an image, or git:REVISION for a commit or tree of the current Git
    /// repository
    #[arg(value_name = "SOURCE")]
    #[serde(skip)]
    pub source: PathBuf,
    /// The image file to create
    #[arg(value_name = "IMAGE")]
    #[serde(skip)]
    pub image: PathBuf,
}

/// Merge the parts of an image, which 'image create --part' makes on any number of machines
///
/// The image is the one that 'image create' makes of the same directory with the same options, byte
/// for byte. Only few blocks are compressed here: most are in the parts. Each part is an image with a
/// share of the entries, and can be made again at any time; one that is damaged, missing, or of another
/// state of the tree is refused. If entries were left out of a part, they are named again (exit code
/// 3).
#[derive(Debug, Args)]
pub struct Merge {
    /// Replace IMAGE if it exists
    #[arg(short, long)]
    pub force: bool,
    /// The image file to create
    #[arg(short, long, value_name = "IMAGE")]
    pub output: PathBuf,
    /// The parts, in any order
    #[arg(value_name = "PART", required = true)]
    pub parts: Vec<PathBuf>,
}

/// Extract an image into a directory
///
/// Extracts the entries at PATH, or all of them, below DIR, which is created if it does not exist.
/// Links in DIR are not followed, and nothing outside it is touched. Entries that cannot be
/// extracted are reported on standard error, and the others are finished (exit code 3). A full disk
/// ends the run (exit code 2).
///
/// A file exists completely or not at all, unless the process is killed. After a run that ended
/// early, unfinished directories do not have their attributes.
///
/// Permissions and times are those of the image. For root, so are owners, setuid and setgid bits;
/// other users also get only extended attributes in 'user.'. Because an image could thus give its
/// reader the rights of root, root does not extract into a directory of another user, or into a new
/// one in such a directory, without --no-owner or --keep-privileges.
///
/// --json prints one document, schema hedgerow.image.extract.v1.
#[derive(Debug, Args)]
pub struct Extract {
    /// Extract into a directory that is not empty, and replace existing files, but not directories
    #[arg(short, long)]
    pub force: bool,
    /// Strip N leading path components
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub strip_components: usize,
    /// Make the current user the owner of everything, even for root
    #[arg(long)]
    pub no_owner: bool,
    /// Do not set extended attributes
    #[arg(long)]
    pub no_xattrs: bool,
    /// As root, keep setuid and setgid bits, device files and attributes in 'security.' even in a
    /// directory of another user
    #[arg(long)]
    pub keep_privileges: bool,
    #[command(flatten)]
    pub place: Place,
    /// The directory to extract into
    #[arg(value_name = "DIR")]
    pub target: PathBuf,
    /// Paths in the image (default: everything)
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// Compare two images
///
/// Compares names, types, contents, link targets, device numbers, hard links and, unless disabled,
/// permissions, owners, times and extended attributes. How the contents are stored does not matter.
/// Prints a line for each difference, in canonical order. The exit code is 0 if there is none, 1 if
/// there are some, and 2 if something could not be read. SquashFS has no nanoseconds: times are
/// compared in whole seconds unless both images are in EROFS.
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
    /// The first image
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// The second image
    #[arg(value_name = "B")]
    pub second: PathBuf,
}
