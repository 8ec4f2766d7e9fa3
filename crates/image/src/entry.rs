use crate::gather::GatherOptions;
use crate::WriteError;
use hedgerow_tree::{Node, NodeError, NodeKind, Xattr};

/// Maximum length of a link target that the kernel reads, in bytes.
const TARGET_BYTES: usize = 4095;
/// Limits of the major and minor device numbers in an inode, inclusive.
const DEVICE: (u32, u32) = (0xfff, 0xf_ffff);

/// The metadata of a [`Node`] that an image stores, without the content.
pub struct Entry {
    /// Its path relative to the root.
    pub path: Vec<u8>,
    /// Its kind.
    pub kind: NodeKind,
    /// The lower 12 bits of `st_mode`.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time in seconds since the epoch.
    pub mtime_s: i64,
    /// Nanoseconds of the modification time.
    pub mtime_ns: u32,
    /// Size of a file's content in bytes.
    pub size_bytes: u64,
    /// Major and minor number of a device.
    pub device: (u32, u32),
    /// Entries with the same value are hard links to the same file.
    pub link: Option<(u64, u64)>,
    /// The target of a symbolic link.
    pub target: Vec<u8>,
    /// Its extended attributes.
    pub xattrs: Vec<Xattr>,
    /// Why extended attributes are missing, if they could not be read.
    pub omitted: Option<NodeError>,
}

impl Entry {
    /// Reads the link target and the extended attributes. With `skip_unreadable`, an entry with
    /// unreadable attributes is kept without them.
    pub fn of(mut node: Node, options: GatherOptions) -> Result<Self, NodeError> {
        if node.device.0 > DEVICE.0 || node.device.1 > DEVICE.1 {
            let (major, minor) = node.device;
            let reason = format!("no image can hold device {major}:{minor}");
            return Err(NodeError::entry(WriteError::entry(&node.path, reason)));
        }
        let mut target = Vec::new();
        if node.kind == NodeKind::Symlink {
            target = node.handle.target()?;
            if target.is_empty() || target.len() > TARGET_BYTES {
                let reason = format!("the target of the link is {} bytes", target.len());
                return Err(NodeError::entry(WriteError::entry(&node.path, reason)));
            }
        }
        let (xattrs, omitted) = if !options.xattrs {
            (Vec::new(), None)
        } else {
            match node.handle.xattrs() {
                Ok(xattrs) => (xattrs, None),
                Err(error @ NodeError::Entry(_)) if options.skip_unreadable => {
                    (Vec::new(), Some(error))
                }
                Err(error) => return Err(error),
            }
        };
        Ok(Entry {
            path: node.path,
            kind: node.kind,
            mode: node.mode & 0o7777,
            uid: node.uid,
            gid: node.gid,
            mtime_s: node.mtime_s,
            mtime_ns: node.mtime_ns,
            size_bytes: node.size_bytes,
            device: node.device,
            link: node.link,
            target,
            xattrs,
            omitted,
        })
    }
}
