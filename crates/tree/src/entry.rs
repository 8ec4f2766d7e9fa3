/// The kind of a file system entry, including special files.
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

/// The metadata of a file system entry: everything except its name and content.
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
    /// Modification time in whole seconds since the epoch.
    pub mtime_s: i64,
    /// Nanoseconds of the modification time, below 1,000,000,000.
    pub mtime_ns: u32,
    /// Number of hard links.
    pub nlink: u64,
    /// Inode number: entries with the same `dev` and `ino` are the same file.
    pub ino: u64,
    /// The device it is on.
    pub dev: u64,
    /// The device number, if the entry is a device.
    pub rdev: u64,
    /// Disk usage in units of 512 bytes.
    pub blocks: u64,
}

/// An entry of a tree as listed by a source, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its path in bytes relative to the root of the tree, with `/` between components and no
    /// leading or trailing slash. The root itself is never listed.
    pub path: &'a [u8],
    /// Its kind.
    pub kind: NodeKind,
    /// Its metadata; `None` if it was not requested or the source has none.
    pub metadata: Option<&'a Metadata>,
}
