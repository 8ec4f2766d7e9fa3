//! What is known of contents without looking at them again.

use super::gather::{Bytes, PIECE_BYTES};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What is known of some content: the first 160 bits of its BLAKE3 hash. Equal digests are taken for
/// equal contents.
pub(super) type Digest = [u32; 5];

/// Digests of all of it and of what does not fill a block. More than a piece has the digest of its
/// pieces, however it was read.
pub(super) fn digests(bytes: &Bytes, block_bytes: usize) -> (Digest, Digest) {
    /// Of a piece that is all zeros: large holes have many.
    static ZEROS: OnceLock<Digest> = OnceLock::new();
    let zeros;
    let bytes: &[u8] = match bytes {
        Bytes::Data(bytes) => bytes,
        Bytes::Zeros(PIECE_BYTES) => {
            let digest = *ZEROS.get_or_init(|| hash(&vec![0; PIECE_BYTES]));
            return (digest, digest);
        }
        Bytes::Zeros(count) => {
            zeros = vec![0; *count];
            &zeros
        }
    };
    let digest = match bytes.len() > PIECE_BYTES {
        true => {
            let mut pieces = LargeDigest::default();
            bytes
                .chunks(PIECE_BYTES)
                .for_each(|piece| pieces.add(hash(piece)));
            pieces.finish(bytes.len() as u64)
        }
        false => hash(bytes),
    };
    let head = bytes.len() - bytes.len() % block_bytes;
    let tail_digest = match head {
        0 => digest,
        _ => hash(bytes.get(head..).unwrap_or_default()),
    };
    (digest, tail_digest)
}

fn hash(bytes: &[u8]) -> Digest {
    match bytes.is_empty() {
        true => Digest::default(),
        false => shortened(blake3::hash(bytes)),
    }
}

/// The digest of a file of several pieces: of the digests of those.
pub(super) struct LargeDigest(blake3::Hasher);

impl Default for LargeDigest {
    /// With a context of its own, so that no other content has such a digest.
    fn default() -> Self {
        LargeDigest(blake3::Hasher::new_derive_key(
            "hedgerow squashfs file of pieces",
        ))
    }
}

impl LargeDigest {
    pub(super) fn add(&mut self, piece: Digest) {
        for word in piece {
            self.0.update(&word.to_le_bytes());
        }
    }

    pub(super) fn finish(&mut self, size_bytes: u64) -> Digest {
        self.0.update(&size_bytes.to_le_bytes());
        shortened(self.0.finalize())
    }
}

/// Large files that have their places in the image. To read a file of the same size once more than
/// needed is cheaper than to compress it in vain.
#[derive(Default)]
pub(super) struct LargeFiles(Mutex<HashMap<u64, HashSet<Digest>>>);

impl LargeFiles {
    pub(super) fn insert(&self, size_bytes: u64, digest: Digest) {
        self.lock().entry(size_bytes).or_default().insert(digest);
    }

    pub(super) fn have_size(&self, size_bytes: u64) -> bool {
        self.lock().contains_key(&size_bytes)
    }

    pub(super) fn contain(&self, size_bytes: u64, digest: Digest) -> bool {
        let files = self.lock();
        files
            .get(&size_bytes)
            .is_some_and(|digests| digests.contains(&digest))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, HashSet<Digest>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first 160 bits of a hash.
pub(super) fn shortened(hash: blake3::Hash) -> Digest {
    let mut digest = Digest::default();
    let (words, _) = hash.as_bytes().as_chunks::<4>();
    for (word, bytes) in digest.iter_mut().zip(words) {
        *word = u32::from_le_bytes(*bytes);
    }
    digest
}
