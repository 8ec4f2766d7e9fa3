use gix_hash::{Kind, ObjectId};
use sha1::Digest;

/// The checksum over all bytes of an index before its trailer.
///
/// It protects against faulty disks, not against attackers, so it uses plain SHA-1 with the
/// processor's instructions, without the collision detection that object ids need.
pub(super) fn of(hash: Kind, bytes: &[u8]) -> ObjectId {
    match hash {
        Kind::Sha1 => ObjectId::Sha1(sha1::Sha1::digest(bytes).into()),
        Kind::Sha256 => ObjectId::Sha256(sha2::Sha256::digest(bytes).into()),
        other => unreachable!("the index is only read and written for SHA-1 and SHA-256: {other}"),
    }
}
