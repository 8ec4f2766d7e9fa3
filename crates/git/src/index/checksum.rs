use gix_hash::{Kind, ObjectId};
use sha1::Digest;

/// The checksum over all bytes of an index before its trailer, which may come one after the other.
///
/// It protects against faulty disks, not against attackers, so it uses plain SHA-1 with the
/// processor's instructions, without the collision detection that object ids need.
#[derive(Clone, Debug)]
pub(super) enum Checksum {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl Checksum {
    pub(super) fn new(hash: Kind) -> Self {
        match hash {
            Kind::Sha1 => Checksum::Sha1(sha1::Sha1::new()),
            Kind::Sha256 => Checksum::Sha256(sha2::Sha256::new()),
            other => {
                unreachable!("the index is only read and written for SHA-1 and SHA-256: {other}")
            }
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Checksum::Sha1(sum) => sum.update(bytes),
            Checksum::Sha256(sum) => sum.update(bytes),
        }
    }

    pub(super) fn finish(self) -> ObjectId {
        match self {
            Checksum::Sha1(sum) => ObjectId::Sha1(sum.finalize().into()),
            Checksum::Sha256(sum) => ObjectId::Sha256(sum.finalize().into()),
        }
    }
}

/// The same over `bytes`.
pub(super) fn of(hash: Kind, bytes: &[u8]) -> ObjectId {
    let mut sum = Checksum::new(hash);
    sum.update(bytes);
    sum.finish()
}
