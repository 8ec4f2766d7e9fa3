//! What is put into an image.

use super::WriteError;
use hedgerow_tree::NodeKind;
use std::io::Read;

/// An entry, with what leads to its content. Entries come in canonical order, a directory before
/// what is in it; the root comes first, with an empty path.
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
    /// Last change of content, in seconds since the epoch. What the format cannot say is set to
    /// the nearest time that it can.
    pub mtime_s: i64,
    /// Bytes of a file's content.
    pub size_bytes: u64,
    /// Major and minor number of a device.
    pub device: (u32, u32),
    /// Entries that have this in common are one file under several names.
    pub link: Option<(u64, u64)>,
    /// What leads to a file's content and a link's target.
    pub handle: Box<dyn Handle>,
}

/// Leads to what an entry holds. It is asked on any thread, many at a time.
pub trait Handle: Send {
    /// The target of a symbolic link.
    fn target(&mut self) -> Result<Vec<u8>, WriteError>;
    /// The content of a file, from its beginning.
    fn open(&mut self) -> Result<Content, WriteError>;
}

/// The content of a file.
pub type Content = Box<dyn Read + Send>;
