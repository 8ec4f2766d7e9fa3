//! SquashFS images: created from a directory, a commit or an archive ([`create()`]), extracted to a
//! directory ([`extract()`]) or an archive ([`to_archive`]), checked ([`verify`]) and compared
//! ([`diff`]).
//!
//! The same source and options give the same bytes for any number of workers. Images are untrusted:
//! all lengths are checked, and nothing is written outside of the target.

mod contents;
mod create;
mod extract;
mod progress;
mod recipe;
mod to_archive;

pub use contents::{write_content, ContentError};
pub use create::{
    create, create_with, ArchiveSource, CommitSource, DirectorySource, Hooks, Source,
};
pub use extract::{extract, ExtractError, ExtractOptions};
pub use recipe::{Recipe, RecipeFiles};
pub use to_archive::{to_archive, ArchiveError, ArchiveOptions, ArchiveOutput};

pub use hedgerow_codec::block::{Compressor, Settings};
pub use hedgerow_squashfs::format::{Superblock, BLOCK_BYTES};
pub use hedgerow_squashfs::recipe::{Defaults, RecipeError};
pub use hedgerow_squashfs::{
    diff, nodes_of_image, verify, Aspects, Body, Coverage, CreateOptions, Created, Damage,
    DiffError, Difference, Error, File, FragmentPolicy, Image, ImageSource, Inode, NotReusable,
    Report, Reuse, Told, VerifyError, WriteError, HOLE_LIMIT_BLOCKS,
};
pub use hedgerow_tar::{
    Compression, Error as TarError, NewRoot, NodeOptions, SinkError, SinkOptions, WriteOptions,
};
pub use hedgerow_tree::{Content, Handle, Node, NodeError, Xattr};
pub use hedgerow_writer::{ExtractError as WriteTreeError, Extracted, Failed, Problem};
