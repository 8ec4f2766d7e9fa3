//! Reads and writes tar archives: as streams, in bounded memory, and as trees.
//!
//! - [`Archive`] reads archives of v7, ustar, pax and GNU tar: long names, large numbers, sparse
//!   files in all encodings, extended attributes, access control lists. It returns the names of
//!   members as paths of a tree; names that leave the tree are refused.
//! - [`decompress`] reads archives compressed with gzip, bzip2, xz or zstd.
//! - [`Builder`] writes ustar, and pax where ustar is not sufficient. The same members give the
//!   same bytes.
//!
//! - [`nodes_of_archive`] reads an archive as a tree; [`write_nodes`] writes a tree as an archive.
//!
//! [`Archive`] returns members in the order of the archive: a name may occur twice, and a directory
//! may follow its entries. Nothing is unpacked by this crate.
//!
//! Sources of the formats: POSIX.1-2017, utility `pax`, for ustar and pax; the manual of GNU tar,
//! "Basic Tar Format" and "Storing Sparse Files"; `tar(5)` of libarchive for attributes.
//!
//! ```
//! use hedgerow_tar::{Archive, Builder, Member, MemberKind, ReadOptions, WriteOptions};
//! use hedgerow_tree::NodeKind;
//! use std::io::Read;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut member = Member::new("a/file", MemberKind::Node(NodeKind::File));
//! member.metadata.size_bytes = 5;
//! let mut builder = Builder::new(Vec::new(), WriteOptions::default());
//! builder.append(&member, &mut &b"hello"[..])?;
//! let bytes = builder.finish()?;
//!
//! let mut archive = Archive::new(&bytes[..], ReadOptions::default());
//! assert_eq!(archive.next_member()?, Some(member));
//! let mut content = String::new();
//! archive.read_to_string(&mut content)?;
//! assert_eq!(content, "hello");
//! assert_eq!(archive.next_member()?, None);
//! # Ok(())
//! # }
//! ```

mod acl;
mod assemble;
mod compress;
mod compressed;
mod content;
mod device;
mod encode;
mod error;
mod header;
mod input;
mod member;
mod name;
mod nodes;
mod numbers;
mod options;
mod pax;
mod prepare;
mod reader;
mod sink;
mod sparse;
mod writer;
mod xattr;

pub use compress::Compressor;
pub use compressed::{decompress, Compression, Decompressed};
pub use device::{device, device_parts};
pub use error::{Error, Malformed, Result, Unusable, Warning};
pub use hedgerow_tree::Defaults;
pub use member::{Member, MemberKind};
pub use nodes::{nodes_of_archive, ArchiveNodes, NewRoot, NodeOptions, SourceError};
pub use options::{Limits, ReadOptions};
pub use reader::Archive;
pub use sink::{write_nodes, SinkError, SinkOptions};
pub use sparse::{Segment, SparseMap};
pub use writer::{Builder, WriteOptions};
