//! EROFS images: [`create`] writes them with the same bytes for any number of workers, [`Image`]
//! reads them from any number of threads, [`ImageSource`] lists them as a source
//! of entries, and [`verify`] checks a whole image.
//!
//! Images are untrusted input. Every length is checked against what the image can contain before it
//! is used, and no image makes this crate panic.

mod crc32c;
pub mod format;
mod reader;
mod verify;
mod writer;

pub use hedgerow_codec::cluster::{Algorithm, ClusterSettings};
pub use reader::{
    nodes_of_image, ClusterForm, DirectoryEntry, Image, ImageNodes, ImageSource, Info, Inode,
    Listing, Piece, Pieces, Stored, TreeEntry,
};
pub use verify::verify;
pub use writer::{create, create_numbered, Compression, CreateOptions, HOLE_LIMIT_BYTES};
