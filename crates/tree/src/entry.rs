/// What an entry of a file system is, special files too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A fifo.
    Fifo,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
}

impl NodeKind {
    /// The letter that `find -printf %y` prints for it.
    pub fn letter(self) -> char {
        match self {
            NodeKind::File => 'f',
            NodeKind::Directory => 'd',
            NodeKind::Symlink => 'l',
            NodeKind::Fifo => 'p',
            NodeKind::Socket => 's',
            NodeKind::BlockDevice => 'b',
            NodeKind::CharacterDevice => 'c',
        }
    }
}

/// What a file system keeps about an entry besides its name and its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Permission bits with setuid, setgid and sticky: the lower 12 bits of `st_mode`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes; of a symbolic link, the length of its target.
    pub size_bytes: u64,
    /// Last change of content, in whole seconds since the epoch.
    pub mtime_s: i64,
    /// Nanoseconds of the second in which that was, below 1,000,000,000.
    pub mtime_ns: u32,
    /// Hard links.
    pub nlink: u64,
    /// Inode number: with `dev`, entries that have both in common are one file.
    pub ino: u64,
    /// The device it is on.
    pub dev: u64,
    /// The device it stands for, if it is one.
    pub rdev: u64,
    /// Space it takes, in units of 512 bytes.
    pub blocks: u64,
}

/// An entry of a tree, as a source lists it. Its content is read elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its path below the root of the tree: bytes, `/` between components, neither a slash at its
    /// beginning nor at its end. The root itself is never listed.
    pub path: &'a [u8],
    /// What it is.
    pub kind: NodeKind,
    /// What else is known of it: nothing, if nobody asked or the source has no such thing.
    pub metadata: Option<&'a Metadata>,
}
