//! Images, in SquashFS and in EROFS: created from a directory, a commit, an archive or an image
//! ([`create()`]), extracted to a directory ([`extract()`]) or an archive ([`to_archive`]), checked
//! ([`verify`]) and compared ([`diff`]).
//!
//! The same source and options give the same bytes for any number of workers. Images are untrusted:
//! all lengths are checked, and nothing is written outside of the target.
//!
//! ```no_run
//! use hedgerow::image::{
//!     create_with, diff, verify, AnyImage, Aspects, CreateOptions, Hooks, Node, ReadFile, Recipe,
//!     Source,
//! };
//! use hedgerow::Execution;
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An image whose entries all belong to root.
//! let of_root = |node| Node { uid: 0, gid: 0, ..node };
//! let hooks = Hooks {
//!     change: &of_root,
//!     warn: &|warning| eprintln!("warning: {warning}"),
//!     ..Hooks::default()
//! };
//! let source = Source::directory("tree".as_ref());
//! let options = CreateOptions::default();
//! create_with(source, Recipe::default(), "new.sqfs".as_ref(), &options, hooks)?;
//!
//! let file = ReadFile::open("new.sqfs".as_ref())?;
//! let report = verify(Box::new(file), 0, &Execution::default())?;
//! println!("{} findings", report.findings.len());
//!
//! let open = |path: &str| AnyImage::open(path.as_ref(), 0).map(Arc::new);
//! let images = [&open("old.sqfs")?, &open("new.sqfs")?];
//! let aspects = Aspects {
//!     contents: true,
//!     mode: true,
//!     owner: true,
//!     mtime: true,
//!     xattrs: true,
//!     links: true,
//!     inodes: false,
//! };
//! diff(images, aspects, &Execution::default(), |path, _| {
//!     println!("{} differs", String::from_utf8_lossy(path));
//! })?;
//! # Ok(())
//! # }
//! ```

mod any;
mod changes;
mod columns;
mod contents;
mod create;
mod edits;
mod extract;
mod fakeroot;
mod files;
mod lists;
mod progress;
mod range;
mod recipe;
mod tally;
mod times;
mod to_archive;
mod verify;
mod xattrs;

pub use any::{AnyImage, AnyInode, AnyNodes, Kind, Visit};
pub use changes::{parse_owner, Changes};
pub use columns::{append_quoted, mode_letters, rounded_size};
pub use contents::{matching_paths, write_content, ContentError};
pub use create::{
    create, create_with, ArchiveSource, CommitSource, DirectorySource, Format, Hooks, InnerSource,
    Source,
};
pub use edits::{Edits, Time};
pub use extract::{extract, ExtractError, ExtractOptions};
pub use fakeroot::{refuse_fakeroot, UnderFakeroot};
pub use files::{Exclusion, FilesSource, Layout};
pub use lists::{path_rules, read_list, LIST_BYTES};
pub use range::read_range;
pub use recipe::{Recipe, RecipeFiles};
pub use tally::{memory_bytes, Tally};
pub use times::{calendar, long_time, source_date_epoch, TimeOptions};
pub(crate) use to_archive::ArchiveFile;
pub use to_archive::{to_archive, ArchiveError, ArchiveOptions, ArchiveOutput};
pub use verify::{verify, verify_with, verity_of};
pub use xattrs::xattr_lines;

pub use hedgerow_codec::block::{Compressor, Settings};
pub use hedgerow_erofs::{self as erofs, CreateOptions as ErofsOptions};
pub use hedgerow_fs::ReadFile;
pub use hedgerow_image::{hex, uuid, verity};
pub use hedgerow_squashfs::format::{Superblock, BLOCK_BYTES};
pub use hedgerow_squashfs::pseudo::{self, PseudoFiles};
pub use hedgerow_squashfs::recipe::{Defaults, RecipeError};
pub use hedgerow_squashfs::rules::{Fit, ModeChange, PathRules, RuleError, Syntax, XattrRules};
pub use hedgerow_squashfs::{
    diff, nodes_of_image, Aspects, Body, Coverage, CreateOptions, Created, Damage, DiffError,
    Difference, Error, File, FragmentPolicy, Image, ImageSource, Inode, Merged, NotReusable, Parts,
    ReadAt, Report, Reuse, Told, Uncompressed, VerifyError, WriteError, HOLE_LIMIT_BLOCKS,
};
pub use hedgerow_tar::{
    Compression, Error as TarError, NewRoot, NodeOptions, SinkError, SinkOptions, WriteOptions,
};
pub use hedgerow_tree::{shown_path, Content, Handle, Node, NodeError, NodeKind, Xattr};
pub use hedgerow_writer::{ExtractError as WriteTreeError, Extracted, Failed, Problem};
