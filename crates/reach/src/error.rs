use hedgerow_pack::{Fault, ObjectId, ObjectKind};

/// The result of asking what is reachable.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with finding out what is reachable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An object could not be found or read.
    #[error(transparent)]
    Pack(#[from] hedgerow_pack::Error),
    /// An object that does not follow the format of its kind.
    #[error("{kind} {id} is corrupt: {reason}")]
    Corrupt {
        /// The object.
        id: ObjectId,
        /// Its kind.
        kind: ObjectKind,
        /// What is wrong.
        reason: &'static str,
    },
    /// An object of another kind than what names it says.
    #[error("object {id} is a {actual}, not a {expected}")]
    WrongKind {
        /// The object.
        id: ObjectId,
        /// The kind it should have.
        expected: ObjectKind,
        /// The kind it has.
        actual: ObjectKind,
    },
    /// Directories nested without end.
    #[error("tree {id} is nested too deep")]
    TooDeep {
        /// The tree.
        id: ObjectId,
    },
    /// An object of a pack leads to one that is not in it.
    #[error("the pack is not closed: {id} leads to {missing}, which is not in it")]
    NotClosed {
        /// The object in the pack.
        id: ObjectId,
        /// The one that is not.
        missing: ObjectId,
    },
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
}

impl Error {
    pub(crate) fn corrupt(id: ObjectId, kind: ObjectKind, reason: &'static str) -> Self {
        Error::Corrupt { id, kind, reason }
    }

    pub(crate) fn wrong_kind(id: ObjectId, expected: ObjectKind, actual: ObjectKind) -> Self {
        Error::WrongKind {
            id,
            expected,
            actual,
        }
    }
}
