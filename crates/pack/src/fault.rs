use gix_hash::ObjectId;
use hedgerow_object::pack_entry::EntryHeaderFault;

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
    /// A loose object that starts as one should, but with a kind that does not exist.
    #[error("unknown kind of a loose object")]
    LooseKind,
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

impl Fault {
    /// What it says of an object, before the name of the file that this is in.
    pub(crate) fn verdict(&self) -> &'static str {
        match self {
            // The file may be sound: there may be no descriptor left, or no permission.
            Fault::Unreadable(_) => "cannot be read from",
            _ => "is corrupt in",
        }
    }
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
