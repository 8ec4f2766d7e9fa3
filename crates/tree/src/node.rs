//! Nodes: entries with handles to their contents, which pass from any source to any sink.

use crate::NodeKind;
use bstr::BString;

/// An entry of a tree, with a handle to its content.
///
/// A source yields nodes in canonical order ([`canonical_order`](crate::canonical_order)): the root
/// first, with an empty path, and each directory before its entries.
pub struct Node {
    /// Its path relative to the root.
    pub path: Vec<u8>,
    /// Its kind.
    pub kind: NodeKind,
    /// Permission bits with setuid, setgid and sticky: the lower 12 bits of `st_mode`.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time in whole seconds since the epoch.
    pub mtime_s: i64,
    /// Nanoseconds of the modification time, below 1,000,000,000.
    pub mtime_ns: u32,
    /// Size of a file's content in bytes as known before it is opened; 0 for other entries.
    pub size_bytes: u64,
    /// Major and minor number of a device file.
    pub device: (u32, u32),
    /// Entries of a source with the same value are hard links to the same file.
    pub link: Option<(u64, u64)>,
    /// Files of a source with the same value have equal contents, so only one of them needs to be
    /// read. They may be different files.
    pub content_id: Option<[u8; 32]>,
    /// Gives access to the content, the link target and the extended attributes.
    pub handle: Box<dyn Handle>,
}

impl Node {
    /// Sets the modification time to whole seconds since the epoch.
    pub fn set_mtime(&mut self, seconds: i64) {
        (self.mtime_s, self.mtime_ns) = (seconds, 0);
    }

    /// Sets a modification time after `seconds` since the epoch back to them.
    pub fn limit_mtime(&mut self, seconds: i64) {
        if (self.mtime_s, self.mtime_ns) > (seconds, 0) {
            self.set_mtime(seconds);
        }
    }
}

/// Attributes of entries for which the source has none: directories that are only implied by their
/// entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The lower 12 bits of `st_mode`.
    pub mode: u16,
    /// Modification time in seconds since the epoch.
    pub mtime_s: i64,
}

impl Default for Defaults {
    /// Owner and group root, `rwxr-xr-x`, modified at the epoch.
    fn default() -> Self {
        Defaults {
            uid: 0,
            gid: 0,
            mode: 0o755,
            mtime_s: 0,
        }
    }
}

/// Gives access to what an entry contains. Handles are used on any thread, many of them at a time.
pub trait Handle: Send {
    /// The target of a symbolic link.
    fn target(&mut self) -> Result<Vec<u8>, NodeError>;

    /// Opens the content of a file at its start.
    fn open(&mut self) -> Result<Box<dyn Content>, NodeError>;

    /// The extended attributes of the entry of any kind, in any order. If the content is needed,
    /// too, it must be opened first.
    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        Ok(Vec::new())
    }
}

/// The content of a file, read once from start to end.
pub trait Content: Send {
    /// Size in bytes, including holes. If a reader gets more or fewer bytes, the file has changed.
    fn size_bytes(&self) -> u64;

    /// Skips a hole at the current position. Returns its length in bytes; 0 if data or the end
    /// follows.
    fn skip_hole(&mut self) -> Result<u64, NodeError> {
        Ok(0)
    }

    /// Reads some of the next bytes. Returns 0 at the end of the content.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError>;
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Xattr {
    /// The full name, including the prefix.
    pub name: BString,
    /// Its value.
    pub value: Vec<u8>,
}

/// Why a node, or something it gives access to, cannot be read. The message names what it is about.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// A single entry cannot be read; others can.
    #[error("{0}")]
    Entry(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The source as a whole cannot be read any further.
    #[error("{0}")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The user cancelled.
    #[error("interrupted")]
    Cancelled,
}

impl NodeError {
    /// An error about a single entry.
    pub fn entry(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        NodeError::Entry(error.into())
    }

    /// An error that ends the source.
    pub fn source(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        NodeError::Source(error.into())
    }
}
