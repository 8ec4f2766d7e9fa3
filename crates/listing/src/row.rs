//! What a listing has about an entry.

use hedgerow_fs::{Stat, Timestamp};
use hedgerow_tree::NodeKind;

/// An entry of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Its path in bytes relative to the root of the tree.
    pub path: &'a [u8],
    /// Everything else.
    pub attributes: Attributes,
}

/// What a listing has about an entry besides its path. Of two states of one entry, the newer one is
/// greater: the time of the last change comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attributes {
    /// Time of the last status change, in nanoseconds since the epoch. `None` outside of the years
    /// 1678 to 2261, as for the other times.
    pub ctime_ns: Option<i64>,
    /// Time of the last content change.
    pub mtime_ns: Option<i64>,
    /// Time of the last access; `None` for a directory, because listing it changes that time.
    pub atime_ns: Option<i64>,
    /// Its kind.
    pub kind: NodeKind,
    /// Permission bits with setuid, setgid and sticky: the lower 12 bits of `st_mode`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Number of hard links.
    pub nlink: u64,
    /// Size in bytes; of a symbolic link, the length of its target.
    pub size_bytes: u64,
    /// Inode number.
    pub ino: u64,
    /// The device it is on.
    pub dev: u64,
    /// The device number, if the entry is a device.
    pub rdev: u64,
    /// Disk usage in units of 512 bytes.
    pub blocks: u64,
}

/// Permission bits, setuid, setgid and sticky.
const MODE_MASK: u32 = 0o7777;

impl Attributes {
    /// Those of an entry of this kind with this state.
    pub fn new(kind: NodeKind, stat: &Stat) -> Self {
        let is_directory = kind == NodeKind::Directory;
        Attributes {
            ctime_ns: nanoseconds(stat.ctime),
            mtime_ns: nanoseconds(stat.mtime),
            atime_ns: nanoseconds(stat.atime).filter(|_| !is_directory),
            kind,
            mode: stat.mode & MODE_MASK,
            uid: stat.uid,
            gid: stat.gid,
            nlink: stat.nlink,
            size_bytes: stat.size,
            ino: stat.ino,
            dev: stat.dev,
            rdev: stat.rdev,
            blocks: stat.blocks,
        }
    }
}

fn nanoseconds(time: Timestamp) -> Option<i64> {
    let seconds = time.seconds.checked_mul(1_000_000_000)?;
    seconds.checked_add(time.nanoseconds.into())
}

/// All kinds; the position of a kind is its number in listings.
pub(crate) const KINDS: [(NodeKind, &str); 7] = [
    (NodeKind::File, "file"),
    (NodeKind::Directory, "directory"),
    (NodeKind::Symlink, "symlink"),
    (NodeKind::Fifo, "fifo"),
    (NodeKind::Socket, "socket"),
    (NodeKind::BlockDevice, "block_device"),
    (NodeKind::CharacterDevice, "character_device"),
];

pub(crate) fn number_of_kind(kind: NodeKind) -> u8 {
    let found = KINDS.iter().position(|(other, _)| *other == kind);
    found.expect("the list has all kinds") as u8
}

pub(crate) fn kind_of_number(number: u8) -> Option<NodeKind> {
    KINDS.get(usize::from(number)).map(|(kind, _)| *kind)
}

/// Rows in memory.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    paths: Vec<u8>,
    ends: Vec<usize>,
    attributes: Vec<Attributes>,
}

impl Batch {
    pub(crate) fn push(&mut self, row: &Row<'_>) {
        self.paths.extend_from_slice(row.path);
        self.ends.push(self.paths.len());
        self.attributes.push(row.attributes);
    }

    pub(crate) fn append(&mut self, other: &Batch) {
        for number in 0..other.len() {
            self.push(&other.row(number));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The row with this number, which must be below [`Batch::len`].
    pub(crate) fn row(&self, number: usize) -> Row<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Row {
            path: &self.paths[start..self.ends[number]],
            attributes: self.attributes[number],
        }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        const ROW: usize = size_of::<usize>() + size_of::<Attributes>();
        self.paths.len() + self.ends.len() * ROW
    }

    pub(crate) fn path_bytes(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn clear(&mut self) {
        self.paths.clear();
        self.ends.clear();
        self.attributes.clear();
    }
}
