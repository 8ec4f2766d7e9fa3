use crate::fault::Fault;
use crate::refusal::Refusal;
use gix_hash::ObjectId;
use std::path::PathBuf;

/// The result of looking for or reading an object.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with an object store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The work was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// The store has no such object.
    #[error("object {id} is missing")]
    Missing {
        /// The object.
        id: ObjectId,
    },
    /// The object is nowhere, but it may be in a pack that cannot be used.
    #[error("object {id} is missing; pack '{}' cannot be read: {reason}", pack.display())]
    UnusablePack {
        /// The object.
        id: ObjectId,
        /// The first such pack.
        pack: PathBuf,
        /// What is wrong with the pack or its index.
        reason: String,
    },
    /// The object, or a base it is a delta against, is damaged in a pack and whole nowhere else.
    #[error("object {id} {} '{}' at offset {offset}: {fault}", fault.verdict(), pack.display())]
    CorruptEntry {
        /// The object that was asked for.
        id: ObjectId,
        /// The pack of the damaged entry.
        pack: PathBuf,
        /// Where the damaged entry starts: the object's own, or that of a base.
        offset: u64,
        /// What is wrong.
        fault: Fault,
    },
    /// A loose object is damaged and whole nowhere else.
    #[error("object {id} {} '{}': {fault}", fault.verdict(), path.display())]
    CorruptLoose {
        /// The object that was asked for.
        id: ObjectId,
        /// The damaged file: the object's own, or that of a base.
        path: PathBuf,
        /// What is wrong.
        fault: Fault,
    },
    /// A multi-pack-index cannot be written, or the packs it lists cannot be tended.
    #[error("{reason}")]
    MultiPackIndex {
        /// Where it would be.
        path: PathBuf,
        /// Why, in git's words.
        reason: String,
    },
    /// Only a single multi-pack-index can be tended in this way, not a chain of them.
    #[error("{reason}")]
    MultiPackIndexChain {
        /// What cannot be done, in git's words.
        reason: &'static str,
    },
    /// A location that another store gave.
    #[error("the location is not one of this object store")]
    ForeignLocation,
    /// The content was read without a fault but is not what the id names.
    #[error("object {id} has content that hashes to {actual}")]
    HashMismatch {
        /// The object that was asked for.
        id: ObjectId,
        /// What its content hashes to.
        actual: ObjectId,
    },
    /// The content carries the marks of a SHA-1 collision attack.
    #[error("object {id} is part of a SHA-1 collision attack")]
    Collision {
        /// The object that was asked for.
        id: ObjectId,
    },
    /// Severities of rules that make no sense, in git's words.
    #[error("{reason}")]
    Severities {
        /// What is wrong with them.
        reason: String,
    },
    /// An object of one kind stands where one of another has to.
    #[error(transparent)]
    WrongKind(#[from] hedgerow_object::WrongKind),
    /// The index of a pack cannot be used.
    #[error("cannot use '{}': {reason}", path.display())]
    BadIndex {
        /// The index.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A pack cannot be indexed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A pack cannot be indexed because an object breaks rules of git-fsck.
    #[error("{refusal}")]
    Checked {
        /// What follows.
        refusal: Refusal,
        /// Each broken rule that matters, in git's words.
        errors: Vec<String>,
        /// Each that does not.
        warnings: Vec<String>,
    },
    /// The receiver of a streamed object failed.
    #[error("cannot pass on object {id}: {source}")]
    Sink {
        /// The object.
        id: ObjectId,
        /// The receiver's reason.
        source: std::io::Error,
    },
}
