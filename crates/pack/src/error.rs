use gix_hash::ObjectId;
use hedgerow_object::pack_entry::EntryHeaderFault;
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
    #[error("object {id} is corrupt in '{}' at offset {offset}: {fault}", pack.display())]
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
    #[error("object {id} is corrupt in '{}': {fault}", path.display())]
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
    Refused(#[from] crate::indexer::Refusal),
    /// A pack cannot be indexed because an object breaks rules of git-fsck.
    #[error("{refusal}")]
    Checked {
        /// What follows.
        refusal: crate::indexer::Refusal,
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

impl From<EntryHeaderFault> for Fault {
    fn from(fault: EntryHeaderFault) -> Self {
        match fault {
            EntryHeaderFault::Truncated => Fault::TruncatedHeader,
            EntryHeaderFault::Type(number) => Fault::EntryType(number),
            EntryHeaderFault::SizeOverflow => Fault::LengthOverflow,
            EntryHeaderFault::Distance => Fault::BaseOffset,
        }
    }
}

/// What is wrong with the stored form of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The compressed bytes.
    #[error(transparent)]
    Zlib(#[from] hedgerow_codec::Error),
    /// The index points outside the entries of the pack.
    #[error("offset is outside the pack")]
    Outside,
    /// The pack ends within the header of the entry.
    #[error("truncated entry header")]
    TruncatedHeader,
    /// A kind of entry that does not exist.
    #[error("unknown entry type {0}")]
    EntryType(u8),
    /// A length of more than 64 bits.
    #[error("length does not fit 64 bits")]
    LengthOverflow,
    /// More than can come out of the compressed bytes, or out of the delta.
    #[error("declared size {0} is not plausible")]
    Implausible(u64),
    /// More than the store's limit.
    #[error("size {size} is over the limit of {limit} bytes")]
    TooLarge {
        /// The declared size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A base before the first entry of the pack, or the entry itself.
    #[error("delta base offset is out of bounds")]
    BaseOffset,
    /// A base that is nowhere.
    #[error("delta base {0} is missing")]
    BaseMissing(ObjectId),
    /// A delta that is, through others, its own base.
    #[error("delta chain is a loop")]
    Loop,
    /// A delta made for a base of another length.
    #[error("delta is for a base of {declared} bytes, not {actual}")]
    DeltaSource {
        /// The length the delta says.
        declared: u64,
        /// The length of the base.
        actual: u64,
    },
    /// A delta that copies from outside its base.
    #[error("delta copies from outside its base")]
    DeltaCopy,
    /// A delta whose pieces do not add up to the length it declares.
    #[error("delta does not make the {declared} bytes it declares")]
    DeltaResult {
        /// The length the delta says.
        declared: u64,
    },
    /// The reserved instruction 0.
    #[error("delta has the reserved instruction 0")]
    DeltaInstruction,
    /// A delta that ends within its header or an instruction.
    #[error("truncated delta")]
    DeltaTruncated,
    /// A loose object that does not start with a kind and a size.
    #[error("bad header of a loose object")]
    LooseHeader,
    /// Bytes after the end of a loose object.
    #[error("garbage at the end of a loose object")]
    LooseGarbage,
    /// It was read without a fault, but is another object.
    #[error("content hashes to {0}")]
    OtherContent(ObjectId),
    /// Content that carries the marks of a collision attack on SHA-1.
    #[error("content is part of a SHA-1 collision attack")]
    Attack,
    /// The file could not be opened, mapped or read.
    #[error("{0}")]
    Unreadable(String),
}
