//! An entry together with what leads to its content: what goes from any source to any sink.

use crate::NodeKind;
use bstr::BString;

/// An entry of a tree, with what leads to its content.
///
/// A source yields nodes in canonical order ([`canonical_order`](crate::canonical_order)), the root
/// first, with an empty path, a directory before what is in it.
pub struct Node {
    /// Its path below the root.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: NodeKind,
    /// The lower 12 bits of `st_mode`.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Last change of content, in whole seconds since the epoch.
    pub mtime_s: i64,
    /// Nanoseconds of the second in which that was, below 1,000,000,000.
    pub mtime_ns: u32,
    /// Bytes of a file's content as far as is known before it is opened; 0 for everything else.
    pub size_bytes: u64,
    /// Major and minor number of a device.
    pub device: (u32, u32),
    /// Entries of a source that have this in common are one file under several names.
    pub link: Option<(u64, u64)>,
    /// Files of a source that have this in common have equal contents, whoever they are. Nobody
    /// needs to read the second one.
    pub content_id: Option<[u8; 32]>,
    /// What leads to a file's content, a link's target and extended attributes.
    pub handle: Box<dyn Handle>,
}

/// Attributes of entries of which a source says nothing: directories that are implied by what is
/// in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The lower 12 bits of `st_mode`.
    pub mode: u16,
    /// Last change, in seconds since the epoch.
    pub mtime_s: i64,
}

impl Default for Defaults {
    /// root's, `rwxr-xr-x`, at the epoch.
    fn default() -> Self {
        Defaults {
            uid: 0,
            gid: 0,
            mode: 0o755,
            mtime_s: 0,
        }
    }
}

/// Leads to what an entry holds. It is asked on any thread, many entries at a time.
pub trait Handle: Send {
    /// The target of a symbolic link.
    fn target(&mut self) -> Result<Vec<u8>, NodeError>;

    /// The content of a file, from its beginning.
    fn open(&mut self) -> Result<Box<dyn Content>, NodeError>;

    /// The extended attributes of the entry, whatever it is, in any order. If the content is wanted
    /// too, it is opened before.
    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        Ok(Vec::new())
    }
}

/// The content of a file, which is read once, from its beginning to its end.
pub trait Content: Send {
    /// Bytes of it, holes included. Whoever reads fewer or more has not read this file.
    fn size_bytes(&self) -> u64;

    /// Passes over a hole, if one begins here: tells how many bytes of zeros that were. 0 says that
    /// there is something to read, or nothing more.
    fn skip_hole(&mut self) -> Result<u64, NodeError> {
        Ok(0)
    }

    /// Reads what comes next, as much as is at hand and fits; 0 says that the content ends.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError>;
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Xattr {
    /// Its whole name, with the prefix.
    pub name: BString,
    /// Its value.
    pub value: Vec<u8>,
}

/// Why a node, or what it leads to, cannot be had. The message names what it is about.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// One entry cannot be had; the others can.
    #[error("{0}")]
    Entry(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The source as a whole cannot be read any further.
    #[error("{0}")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The user asked for the end.
    #[error("interrupted")]
    Cancelled,
}

impl NodeError {
    /// One entry cannot be had.
    pub fn entry(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        NodeError::Entry(error.into())
    }

    /// The source cannot be read any further.
    pub fn source(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        NodeError::Source(error.into())
    }
}
