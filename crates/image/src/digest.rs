//! Digests, by which equal contents are found without comparing them.

use crate::gather::Bytes;
use hedgerow_fs::is_zero;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first 160 bits of the BLAKE3 hash of a content. Contents with equal digests are taken for
/// equal.
pub type Digest = [u32; 5];

/// The digest of a block of zeros; no hash has this value.
pub const ZEROS: Digest = [0; 5];

/// The digests of the full blocks of a piece, followed by that of a shorter last block. Full blocks
/// of [`Bytes::Zeros`] have none.
pub fn digests(bytes: &Bytes, block_bytes: usize) -> Vec<Digest> {
    match bytes {
        Bytes::Data(bytes) => {
            let digest = |block: &[u8]| {
                if block.len() == block_bytes && is_zero(block) {
                    ZEROS
                } else {
                    hash(block)
                }
            };
            bytes.chunks(block_bytes).map(digest).collect()
        }
        Bytes::Zeros(count) => {
            let rest = (count % block_bytes as u64) as usize;
            (rest > 0)
                .then(|| hash(&vec![0; rest]))
                .into_iter()
                .collect()
        }
    }
}

fn hash(bytes: &[u8]) -> Digest {
    shortened(blake3::hash(bytes))
}

/// Computes the digest of a file of at least one block from the digests of its blocks. The result
/// does not depend on how the file was split into pieces. A run of zero blocks costs the same as
/// one.
pub struct FileDigest {
    hasher: blake3::Hasher,
    /// Number of zero blocks not hashed yet.
    zeros: u64,
}

impl Default for FileDigest {
    /// Uses a context of its own, so that the digest of a file never equals that of a block.
    fn default() -> Self {
        FileDigest {
            hasher: blake3::Hasher::new_derive_key("hedgerow image file of blocks"),
            zeros: 0,
        }
    }
}

impl FileDigest {
    /// Adds a piece with its [`digests`].
    pub fn add(&mut self, bytes: &Bytes, digests: &[Digest], block_bytes: usize) {
        if let Bytes::Zeros(count) = bytes {
            self.zeros += count / block_bytes as u64;
        }
        for digest in digests {
            if *digest == ZEROS {
                self.zeros += 1;
                continue;
            }
            self.hash_zeros();
            self.hash(digest);
        }
    }

    /// The digest of the file, of which all blocks came.
    pub fn finish(&mut self, size_bytes: u64) -> Digest {
        self.hash_zeros();
        self.hasher.update(&size_bytes.to_le_bytes());
        shortened(self.hasher.finalize())
    }

    fn hash_zeros(&mut self) {
        let zeros = std::mem::take(&mut self.zeros);
        if zeros > 0 {
            self.hash(&ZEROS);
            self.hasher.update(&zeros.to_le_bytes());
        }
    }

    fn hash(&mut self, digest: &Digest) {
        for word in digest {
            self.hasher.update(&word.to_le_bytes());
        }
    }
}

/// The digests of the large files planned so far, by size. A file with the size of one of them is
/// read once more to compute its digest first, which is cheaper than compressing it in vain.
#[derive(Default)]
pub struct LargeFiles(Mutex<HashMap<u64, HashSet<Digest>>>);

impl LargeFiles {
    /// Adds a planned file.
    pub fn insert(&self, size_bytes: u64, digest: Digest) {
        self.lock().entry(size_bytes).or_default().insert(digest);
    }

    /// Whether a file of this size was planned.
    pub fn have_size(&self, size_bytes: u64) -> bool {
        self.lock().contains_key(&size_bytes)
    }

    /// Whether a file of this size and digest was planned.
    pub fn contain(&self, size_bytes: u64, digest: Digest) -> bool {
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
pub fn shortened(hash: blake3::Hash) -> Digest {
    let mut digest = Digest::default();
    let (words, _) = hash.as_bytes().as_chunks::<4>();
    for (word, bytes) in digest.iter_mut().zip(words) {
        *word = u32::from_le_bytes(*bytes);
    }
    digest
}
