use crate::fault::Fault;
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// Why a pack is not indexed, in git's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not start as packs do.
    #[error("pack signature mismatch")]
    Signature,
    /// A version that is not 2 or 3.
    #[error("pack version {0} unsupported")]
    Version(u32),
    /// It ends before all its entries were there.
    #[error("early EOF")]
    EarlyEnd,
    /// An entry that cannot be read.
    #[error("pack has bad object at offset {offset}: {fault}")]
    BadEntry {
        /// Where the entry starts, in bytes from the start of the pack.
        offset: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// It does not end with the hash of its content.
    #[error("pack is corrupted (SHA1 mismatch)")]
    Checksum,
    /// Something stands behind its checksum.
    #[error("pack has junk at the end")]
    Junk,
    /// More than the limit that was set.
    #[error("pack exceeds maximum allowed size ({})", binary_size(*limit))]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// Deltas without a base.
    #[error("pack has {count} unresolved delta{}", plural(*count))]
    Unresolved {
        /// How many.
        count: u64,
    },
    /// An object that the repository has with another content.
    #[error("SHA1 COLLISION FOUND WITH {0} !")]
    Collision(ObjectId),
    /// Content that carries the marks of a collision attack on SHA-1.
    #[error("an object appears to be part of a SHA-1 collision attack")]
    Attack,
    /// An object that the repository has, but cannot be read to compare it.
    #[error("cannot read existing object {0}")]
    Unreadable(ObjectId),
    /// A commit, tree or tag that cannot be parsed as one.
    #[error("invalid {0}")]
    Invalid(ObjectKind),
    /// An object that breaks a rule of git-fsck; what it is has been told.
    #[error("fsck error in packed object")]
    Check,
    /// A `.gitmodules` or `.gitattributes` that may be anywhere, and no repository to look in.
    #[error("cannot perform queued object checks outside of a repository")]
    NoRepository,
    /// A `.gitmodules` or `.gitattributes` that breaks a rule of git-fsck.
    #[error("fsck error in pack objects")]
    QueuedCheck,
    /// An object that another one refers to is nowhere.
    #[error("did not receive expected object {0}")]
    NotReceived(ObjectId),
    /// An object is referred to as two kinds.
    #[error("object type mismatch at {0}")]
    KindMismatch(ObjectId),
    /// An object of the repository is of another kind than what refers to it says.
    #[error("object {id}: expected type {expected}, found {found}")]
    OtherKind {
        /// The object.
        id: ObjectId,
        /// As it is referred to.
        expected: ObjectKind,
        /// As it is.
        found: ObjectKind,
    },
    /// An object that is there twice, where that is not allowed.
    #[error("The same object {0} appears twice in the pack")]
    Twice(ObjectId),
    /// A base of the repository that is not what its id says.
    #[error("local object {0} is corrupt")]
    LocalCorrupt(ObjectId),
    /// More objects than a pack can count, with the bases that are added.
    #[error("pack has too many objects")]
    TooMany,
    /// An index or reverse index that is not the one of the pack.
    #[error("'{path}' does not match the pack: validation error")]
    Differs {
        /// Which file.
        path: String,
    },
}

fn plural(count: u64) -> &'static str {
    if count == 1 {
        ""
    } else {
        "s"
    }
}

/// A size as git shows it to people.
fn binary_size(bytes: u64) -> String {
    let (unit, shift) = match bytes {
        0..=1024 => return format!("{bytes} byte{}", plural(bytes)),
        1025..=0x10_0000 => ("KiB", 10),
        0x10_0001..=0x4000_0000 => ("MiB", 20),
        _ => ("GiB", 30),
    };
    let hundredths = ((bytes & ((1 << shift) - 1)) * 100) >> shift;
    format!("{}.{hundredths:02} {unit}", bytes >> shift)
}
