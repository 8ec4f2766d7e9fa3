use crate::SparseMap;
use hedgerow_tree::{Metadata, NodeKind};
use std::collections::BTreeMap;

/// The kind of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// An entry of a tree. Archives cannot store sockets.
    Node(NodeKind),
    /// Another name of a file that is in the archive under the name
    /// [`link_target`](Member::link_target).
    HardLink,
}

/// A member of an archive, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path in the tree: components separated by `/`, no trailing slash, no `.` or `..`. Empty
    /// for the root, which many archives contain for its metadata.
    pub path: Vec<u8>,
    /// Its kind.
    pub kind: MemberKind,
    /// Mode, owner, group, time and device number as in the archive. `size_bytes` is the size of a
    /// file's content including holes, or the length of a symbolic link's target. The other fields
    /// are 0. For a hard link, only the fields that the archive repeats are set.
    pub metadata: Metadata,
    /// The target of a symbolic link; for a hard link, the path of the member with the content, in
    /// the same form as `path`. Otherwise empty.
    pub link_target: Vec<u8>,
    /// Extended attributes by full name, including the prefix such as `user.`.
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The access control list in the text form of POSIX.1e.
    pub acl_access: Option<Vec<u8>>,
    /// The default access control list of a directory.
    pub acl_default: Option<Vec<u8>>,
    /// Where the file has data, if the archive records holes.
    pub sparse: Option<SparseMap>,
}

impl Member {
    /// A member with default values for everything else.
    pub fn new(path: impl Into<Vec<u8>>, kind: MemberKind) -> Member {
        Member {
            path: path.into(),
            kind,
            metadata: Metadata::default(),
            link_target: Vec::new(),
            xattrs: BTreeMap::new(),
            acl_access: None,
            acl_default: None,
            sparse: None,
        }
    }

    /// Whether it is a regular file, which has a content of its own.
    pub fn is_file(&self) -> bool {
        self.kind == MemberKind::Node(NodeKind::File)
    }
}
