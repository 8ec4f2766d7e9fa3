use crate::fault::Fault;
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// Why a pack is not indexed, with git's messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not start with the signature of a pack.
    #[error("pack signature mismatch")]
    Signature,
    /// A version that is not 2 or 3.
    #[error("pack version {0} unsupported")]
    Version(u32),
    /// It ends before its last entry.
    #[error("early EOF")]
    EarlyEnd,
    /// An entry cannot be read.
    #[error("pack has bad object at offset {offset}: {fault}")]
    BadEntry {
        /// Where the entry starts, in bytes from the start of the pack.
        offset: u64,
        /// The fault in it.
        fault: Fault,
    },
    /// It does not end with the hash of its content.
    #[error("pack is corrupted (SHA1 mismatch)")]
    Checksum,
    /// There is data after its checksum.
    #[error("pack has junk at the end")]
    Junk,
    /// It is larger than the configured limit.
    #[error("pack exceeds maximum allowed size ({})", binary_size(*limit))]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// Deltas without a base.
    #[error("pack has {count} unresolved delta{}", plural(*count))]
    Unresolved {
        /// Their number.
        count: u64,
    },
    /// An object exists in the repository with a different content.
    #[error("SHA1 COLLISION FOUND WITH {0} !")]
    Collision(ObjectId),
    /// The content shows the signs of a SHA-1 collision attack.
    #[error("an object appears to be part of a SHA-1 collision attack")]
    Attack,
    /// An object exists in the repository, but cannot be read for comparison.
    #[error("cannot read existing object {0}")]
    Unreadable(ObjectId),
    /// A commit, tree or tag cannot be parsed.
    #[error("invalid {0}")]
    Invalid(ObjectKind),
    /// An object breaks a rule of git-fsck; the details were reported.
    #[error("fsck error in packed object")]
    Check,
    /// A `.gitmodules` or `.gitattributes` file is not in the pack, and there is no repository to
    /// look in.
    #[error("cannot perform queued object checks outside of a repository")]
    NoRepository,
    /// A `.gitmodules` or `.gitattributes` that breaks a rule of git-fsck.
    #[error("fsck error in pack objects")]
    QueuedCheck,
    /// A referenced object does not exist.
    #[error("did not receive expected object {0}")]
    NotReceived(ObjectId),
    /// An object is referenced as two kinds.
    #[error("object type mismatch at {0}")]
    KindMismatch(ObjectId),
    /// An object of the repository is not of the referenced kind.
    #[error("object {id}: expected type {expected}, found {found}")]
    OtherKind {
        /// The object.
        id: ObjectId,
        /// The referenced kind.
        expected: ObjectKind,
        /// The actual kind.
        found: ObjectKind,
    },
    /// A duplicate object, where that is not allowed.
    #[error("The same object {0} appears twice in the pack")]
    Twice(ObjectId),
    /// The content of a base in the repository does not match its id.
    #[error("local object {0} is corrupt")]
    LocalCorrupt(ObjectId),
    /// There are more objects than a pack can have, including the added bases.
    #[error("pack has too many objects")]
    TooMany,
    /// An index or reverse index does not belong to the pack.
    #[error("'{path}' does not match the pack: validation error")]
    Differs {
        /// The file.
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

/// A size in git's human-readable format.
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
