//! SquashFS images, format 4.0: [`create`] writes them with the same bytes for any number of
//! workers, [`Image`] reads them from any number of threads, [`ImageSource`] lists them as a source
//! of entries, and [`verify`] checks a whole image.
//!
//! Images are untrusted input. Every length is checked against what the image can contain before it
//! is used, and no image makes this crate panic.

mod comparable;
pub mod format;
mod parts;
pub mod pseudo;
mod reader;
pub mod recipe;
pub mod rules;
mod verify;
mod writer;

pub use hedgerow_image::compare::{diff, Aspects, DiffError, Difference, Told};
pub use hedgerow_image::report::{Coverage, Report, VerifyError};
pub use hedgerow_image::{
    Clamped, Created, FragmentPolicy, Item, Role, Treatment, Unstored, WriteError,
};
pub use hedgerow_image::{Damage, Error, Part, Result};
pub use parts::{create_part, Merged, Outline, PartRange, Parts};
pub use reader::{
    nodes_of_image, Body, Directory, DirectoryEntry, File, FragmentTail, Image, ImageNodes,
    ImageSource, Info, Inode, Listing, Piece, Pieces, ReadAt, TreeEntry, Xattrs,
};
pub use verify::verify;
pub use writer::{create, CreateOptions, NotReusable, Reuse, Uncompressed, HOLE_LIMIT_BLOCKS};
