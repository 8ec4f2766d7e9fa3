use crate::ObjectKind;
use gix_hash::{oid, ObjectId};

/// An object that does not have the form of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad {kind} object {id}: {reason}")]
pub struct Malformed {
    /// Its kind.
    pub kind: ObjectKind,
    /// The object.
    pub id: ObjectId,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// An object of a kind that does not fit its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("object {id} is a {found} where a {expected} is expected")]
pub struct WrongKind {
    /// The object.
    pub id: ObjectId,
    /// Its kind.
    pub found: ObjectKind,
    /// The kind it should have.
    pub expected: ObjectKind,
}

impl Malformed {
    /// The object `id` of that kind, which is wrong for that reason.
    pub fn new(kind: ObjectKind, id: &oid, reason: &'static str) -> Self {
        Malformed {
            kind,
            id: id.to_owned(),
            reason,
        }
    }
}
