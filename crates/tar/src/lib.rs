//! Reads and writes tar archives, as streams in bounded memory, and as trees.
//!
//! - [`Archive`] reads what v7, ustar, pax and GNU tar write: long names, large numbers, sparse
//!   files in all encodings, extended attributes, access control lists. The names of members are
//!   paths of a tree when they come out; those that leave it are refused.
//! - [`decompress`] is for what was compressed with gzip, bzip2, xz or zstd.
//! - [`Builder`] writes ustar and, where that does not do, pax. The same members are the same bytes.
//!
//! - [`nodes_of_archive`] makes a tree of an archive, [`write_nodes`] an archive of a tree.
//!
//! To an [`Archive`], members come in the order of the archive: the same name may come twice, and a
//! directory after what is in it. Nothing is unpacked here.
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
