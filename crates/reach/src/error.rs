use gix_hash::{oid, ObjectId};
use hedgerow_object::Malformed;
use hedgerow_pack::{Fault, ObjectKind};

/// The result of a reachability query.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The errors of a walk, with git's messages where git has them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An object could not be found or read.
    #[error(transparent)]
    Pack(#[from] hedgerow_pack::Error),
    /// An object that does not have the form of its kind.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// An object that is not what leads to it says.
    #[error("object {id} is a {found}, not a {expected}")]
    WrongKind {
        /// The object.
        id: ObjectId,
        /// The actual kind.
        found: &'static str,
        /// The expected kind.
        expected: &'static str,
    },
    /// An entry of a tree names an object that was met as another kind.
    #[error("entry '{name}' in tree {tree} has {kind} mode, but is not a {kind}")]
    WrongEntry {
        /// The name of the entry.
        name: String,
        /// The tree it is in.
        tree: ObjectId,
        /// The kind that the entry says.
        kind: &'static str,
    },
    /// The tree of a commit is an object that was met as another kind.
    #[error("bad tree pointer {tree} in commit {commit}")]
    WrongTree {
        /// The tree.
        tree: ObjectId,
        /// The commit.
        commit: ObjectId,
    },
    /// An object that a walk meets, or starts from, does not exist.
    #[error("missing {kind} object '{id}'")]
    Missing {
        /// The expected kind.
        kind: &'static str,
        /// The object.
        id: ObjectId,
    },
    /// A tip of a walk does not exist.
    #[error("bad object {name}")]
    BadTip {
        /// The tip as it was named.
        name: String,
    },
    /// A tree that a walk meets does not exist.
    #[error("bad tree object {id}")]
    BadTree {
        /// The tree.
        id: ObjectId,
    },
    /// Trees are nested too deeply.
    #[error("exceeded maximum allowed tree depth")]
    TooDeep,
    /// An object of a pack refers to one that is not in it.
    #[error("Packfile doesn't have full closure ({id} leads to {missing}, which is not in it)")]
    NotClosed {
        /// The object in the pack.
        id: ObjectId,
        /// The missing object.
        missing: ObjectId,
    },
    /// A bitmap contradicts itself or the objects.
    #[error("a bitmap is damaged")]
    DamagedBitmap,
    /// An entry of a pack that cannot be read.
    #[error("the entry at offset {offset} of the pack is corrupt: {fault}")]
    BadEntry {
        /// Where it starts, in bytes from the start of the pack.
        offset: u64,
        /// What is wrong.
        fault: Fault,
    },
    /// The index of a pack does not list an object of the pack.
    #[error("the index of the pack has no object number {bit}")]
    BrokenOrder {
        /// The position of the object in the order of the pack.
        bit: u32,
    },
    /// What an object takes on disk could not be found out.
    #[error("unable to get disk usage of an object")]
    DiskUsage,
    /// A filter that cannot be used.
    #[error("{0}")]
    Filter(String),
    /// The walk was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// A thread of the walk panicked.
    #[error("a thread of the walk failed")]
    Panicked,
}

impl Error {
    pub(crate) fn wrong_entry(tree: &ObjectId, name: &[u8], kind: ObjectKind) -> Self {
        Error::WrongEntry {
            name: String::from_utf8_lossy(name).into_owned(),
            tree: *tree,
            kind: kind.name(),
        }
    }

    pub(crate) fn wrong_kind(id: &oid, expected: ObjectKind, found: ObjectKind) -> Self {
        Error::WrongKind {
            id: id.to_owned(),
            found: found.name(),
            expected: expected.name(),
        }
    }
}
