use crate::SparseMap;
use hedgerow_tree::{Metadata, NodeKind};
use std::collections::BTreeMap;

/// What a member of an archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// An entry of a tree. Archives have no sockets.
    Node(NodeKind),
    /// Another name of a file that the archive has under the name
    /// [`link_target`](Member::link_target).
    HardLink,
}

/// A member of an archive, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path in the tree: `/` between components, no slash at an end, neither `.` nor `..`.
    /// Empty for the root itself, which archives often have for the sake of its metadata.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: MemberKind,
    /// What an archive tells of mode, owner, group, time and device number; `size_bytes` is the
    /// length of a file's content with its holes, and of a symbolic link's target. The other
    /// fields are 0. Of a hard link only what the archive repeats of the file is there.
    pub metadata: Metadata,
    /// Of a symbolic link, where it leads to; of a hard link, the path of the member that has the
    /// content, of the same form as `path`. Else empty.
    pub link_target: Vec<u8>,
    /// Extended attributes by their whole name, `user.` and the like in front.
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The access control list, in the text form of POSIX.1e.
    pub acl_access: Option<Vec<u8>>,
    /// The access control list for what is created in a directory.
    pub acl_default: Option<Vec<u8>>,
    /// Where a file has content, if the archive tells of holes.
    pub sparse: Option<SparseMap>,
}

impl Member {
    /// A member of which nothing else is known.
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

    /// Whether it has content of its own.
    pub fn is_file(&self) -> bool {
        self.kind == MemberKind::Node(NodeKind::File)
    }
}
