use gix_hash::{oid, ObjectId};
use hedgerow_pack::{Fault, ObjectKind};

/// The result of asking what is reachable.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with a walk, worded as git words it where git has words for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An object could not be found or read.
    #[error(transparent)]
    Pack(#[from] hedgerow_pack::Error),
    /// An object that does not have the form of its kind.
    #[error("bad {kind} object {id}: {reason}")]
    Malformed {
        /// What it should be.
        kind: &'static str,
        /// The object.
        id: ObjectId,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An object that is not what leads to it says.
    #[error("object {id} is a {found}, not a {expected}")]
    WrongKind {
        /// The object.
        id: ObjectId,
        /// What it is.
        found: &'static str,
        /// What it was said to be.
        expected: &'static str,
    },
    /// An entry of a tree names an object that was met as something else.
    #[error("entry '{name}' in tree {tree} has {kind} mode, but is not a {kind}")]
    WrongEntry {
        /// The entry.
        name: String,
        /// The tree it is in.
        tree: ObjectId,
        /// What it says that the object is.
        kind: &'static str,
    },
    /// An object that a walk meets, or starts from, is nowhere.
    #[error("missing {kind} object '{id}'")]
    Missing {
        /// What it was said to be.
        kind: &'static str,
        /// The object.
        id: ObjectId,
    },
    /// A tip of a walk is nowhere.
    #[error("bad object {name}")]
    BadTip {
        /// How it was named.
        name: String,
    },
    /// A tree that a walk meets is nowhere.
    #[error("bad tree object {id}")]
    BadTree {
        /// The tree.
        id: ObjectId,
    },
    /// Trees within trees, too deep.
    #[error("exceeded maximum allowed tree depth")]
    TooDeep,
    /// An object of a pack leads to one that is not in it.
    #[error("Packfile doesn't have full closure ({id} leads to {missing}, which is not in it)")]
    NotClosed {
        /// The object in the pack.
        id: ObjectId,
        /// The one that is not.
        missing: ObjectId,
    },
    /// A bitmap says what cannot be.
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
    /// The index of a pack does not list its objects.
    #[error("the index of the pack has no object number {bit}")]
    BrokenOrder {
        /// The object, in the order of the pack.
        bit: u32,
    },
    /// What an object takes on disk could not be found out.
    #[error("unable to get disk usage of an object")]
    DiskUsage,
    /// A filter that cannot be used.
    #[error("{0}")]
    Filter(String),
    /// What was asked for ends a walk, or was asked to end it.
    #[error("interrupted")]
    Interrupted,
    /// A thread of the walk failed in a way that is a defect.
    #[error("a thread of the walk failed")]
    Panicked,
}

impl Error {
    pub(crate) fn malformed(kind: &'static str, id: &oid, reason: &'static str) -> Self {
        Error::Malformed {
            kind,
            id: id.to_owned(),
            reason,
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
