//! What references are and what is wrong with some.

use crate::Error;
use bstr::{BStr, BString};
use hedgerow_pack::ObjectId;
use std::fmt;

/// What is stored under the name of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RefValue {
    /// An object.
    Direct(ObjectId),
    /// The full name of another reference, which need not exist.
    Symbolic(BString),
}

/// A reference as it is found, symbolic ones followed to their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The full name it was found by.
    pub name: BString,
    /// The full name at the end of the chain, if it is symbolic.
    pub target: Option<BString>,
    /// What it points to, tags unpeeled; `None` if it is symbolic and its target does not exist.
    pub id: Option<ObjectId>,
}

/// A reference found by a short name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedReference {
    /// The reference.
    pub reference: Reference,
    /// Whether the name also fits others, so that git warns `refname 'x' is ambiguous`.
    pub is_ambiguous: bool,
}

/// What `HEAD` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch is checked out.
    Branch {
        /// Its full name, `refs/heads/...`.
        name: BString,
        /// Its commit; `None` if the branch is not born yet.
        id: Option<ObjectId>,
    },
    /// A commit is checked out and no branch.
    Detached {
        /// The commit; an id of only zeros if the file has no other.
        id: ObjectId,
    },
}

impl Head {
    /// The commit that can be left for another one: the id, unless it is of only zeros.
    pub fn commit(&self) -> Option<ObjectId> {
        self.id().filter(|id| !id.is_null())
    }

    /// The id of what is checked out, if any.
    pub fn id(&self) -> Option<ObjectId> {
        match self {
            Head::Branch { id, .. } => *id,
            Head::Detached { id } => Some(*id),
        }
    }

    /// The full name of the branch that is checked out, if any.
    pub fn branch(&self) -> Option<&BStr> {
        match self {
            Head::Branch { name, .. } => Some(name.as_ref()),
            Head::Detached { .. } => None,
        }
    }
}

/// Why a reference cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReferenceProblem {
    /// There is none, where there must be one.
    Absent,
    /// What is stored is neither an object id nor the name of another reference.
    NoObjectId,
    /// It points to what cannot be the name of a reference.
    BadTarget(BString),
    /// What is stored is larger than any reference. With the reason of the system.
    TooLarge(String),
    /// The system does not let it be read.
    Unreadable,
    /// Symbolic references follow each other without an end, or too many of them.
    EndlessChain,
    /// Its name has too many parts.
    NestedTooDeeply,
    /// No reference can have this name.
    NoName,
    /// It is not what it was expected to be.
    Changed {
        /// What it points to instead, if anything.
        found: Option<ObjectId>,
    },
}

impl fmt::Display for ReferenceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReferenceProblem::Absent => f.write_str("there is none"),
            ReferenceProblem::NoObjectId => f.write_str("it holds no object id"),
            ReferenceProblem::BadTarget(target) => write!(f, "it points to '{target}'"),
            ReferenceProblem::TooLarge(reason) => f.write_str(reason),
            ReferenceProblem::Unreadable => f.write_str("it cannot be read"),
            ReferenceProblem::EndlessChain => f.write_str("too many levels of symbolic references"),
            ReferenceProblem::NestedTooDeeply => f.write_str("nested too deeply"),
            ReferenceProblem::NoName => f.write_str("not the name of a reference"),
            ReferenceProblem::Changed { found: Some(id) } => {
                write!(f, "it is at {id}, which was not expected")
            }
            ReferenceProblem::Changed { found: None } => {
                f.write_str("there is none, which was not expected")
            }
        }
    }
}

/// The error that tells of `reason` at the reference `name`.
pub(crate) fn problem(name: &BStr, reason: ReferenceProblem) -> Error {
    Error::Reference {
        name: name.to_owned(),
        reason,
    }
}
