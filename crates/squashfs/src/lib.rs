//! SquashFS images, format 4.0: written, the same for any number of workers ([`create`]), read from
//! any number of threads ([`Image`]), listed as a source of entries ([`ImageSource`]), and checked as a
//! whole ([`verify`]).
//!
//! Images come from strangers. No length in one is trusted before it is held against what the
//! image can contain, and nothing in one makes this crate panic.

mod buffers;
mod diff;
mod error;
pub mod format;
mod reader;
pub mod recipe;
mod verify;
mod writer;

pub use diff::{diff, Aspects, DiffError, Difference, Told};
pub use error::{Damage, Error, Part, Result};
pub use reader::{
    nodes_of_image, Body, Directory, DirectoryEntry, File, FragmentTail, Image, ImageNodes,
    ImageSource, Info, Inode, Listing, Piece, Pieces, ReadAt, TreeEntry, Xattrs,
};
pub use verify::{verify, Coverage, Report, VerifyError};
pub use writer::{
    create, Clamped, CreateOptions, Created, FragmentPolicy, Item, NotReusable, Reuse, Role,
    Treatment, Unstored, WriteError, HOLE_LIMIT_BLOCKS,
};
