//! Reads images. The layers, each built on the ones before it: bytes and superblock ([`image`]),
//! inodes ([`inode`]), where contents are ([`map`] and [`cluster`]), contents ([`content`],
//! [`decompress`]), directories, extended
//! attributes, and the tree.

mod cluster;
mod comparable;
mod content;
mod decompress;
mod directory;
mod image;
mod info;
mod inode;
mod map;
mod nodes;
mod tree;
mod xattr;
mod zeros;

pub use cluster::ClusterForm;
pub use content::Pieces;
pub use directory::{DirectoryEntry, Listing};
pub use image::Image;
pub use info::Info;
pub use inode::Inode;
pub use map::{Piece, Stored};
pub use nodes::{nodes_of_image, ImageNodes};
pub use tree::{ImageSource, TreeEntry};
