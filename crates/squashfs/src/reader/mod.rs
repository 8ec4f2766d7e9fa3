//! Reads images. The layers, each built on the ones before it: bytes ([`ReadAt`]), superblock and
//! layout ([`superblock`]), metadata blocks ([`metadata`]), tables, inodes, directories, extended
//! attributes, contents ([`data`]), and the tree.

pub(crate) mod data;
mod directory;
mod image;
mod info;
mod inode;
mod metadata;
mod nodes;

mod superblock;
mod tables;
mod tree;
mod xattr;

pub use data::{Piece, Pieces};
pub use directory::{DirectoryEntry, Listing};
pub use hedgerow_image::ReadAt;
pub use image::Image;
pub use info::Info;
pub use inode::{Body, Directory, File, FragmentTail, Inode};
pub(crate) use metadata::{MetadataReader, Region};
pub(crate) use nodes::InFile;
pub use nodes::{nodes_of_image, ImageNodes};
pub(crate) use superblock::LookupTable;
pub use tree::{ImageSource, TreeEntry};
pub use xattr::Xattrs;
