//! A file that ends with the hash of all that comes before: every file beside a pack does.

use gix_hash::{Kind, ObjectId};
use hedgerow_fs::{OutputFile, Result};
use sha1::Digest;
use std::path::Path;

/// What is gathered before it is written, in bytes.
const BUFFER_BYTES: usize = 256 << 10;
/// What is not whole yet is called so, if it must have a name: git-prune(1) clears away what starts
/// with this and was left by a process that is gone.
pub(crate) const TEMPORARY: &str = "tmp_";

/// The hash at the end of a file, without the detection of collisions: nothing is named by it
/// that somebody else could have made.
#[derive(Clone, Debug)]
pub struct TrailerHasher(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl TrailerHasher {
    /// A hash of nothing yet, by the function of the repository.
    pub fn new(kind: Kind) -> Self {
        TrailerHasher(match kind {
            Kind::Sha256 => Inner::Sha256(sha2::Sha256::new()),
            _ => Inner::Sha1(sha1::Sha1::new()),
        })
    }

    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Inner::Sha1(hasher) => hasher.update(bytes),
            Inner::Sha256(hasher) => hasher.update(bytes),
        }
    }

    /// The hash of all that was added.
    pub fn finish(self) -> ObjectId {
        match self.0 {
            Inner::Sha1(hasher) => ObjectId::from_bytes_or_panic(&hasher.finalize()),
            Inner::Sha256(hasher) => ObjectId::from_bytes_or_panic(&hasher.finalize()),
        }
    }
}

/// Whether the hash at the end of `data` is that of what comes before it.
pub(crate) fn is_whole(data: &[u8], hash: Kind) -> bool {
    let Some(end) = data.len().checked_sub(hash.len_in_bytes()) else {
        return false;
    };
    let (content, trailer) = data.split_at(end);
    let mut hasher = TrailerHasher::new(hash);
    hasher.update(content);
    hasher.finish().as_bytes() == trailer
}

/// Writes a file from its start to its end, hashing it on the way. It has no name until
/// [`HashedFile::finish`], and is gone if it is dropped before.
#[derive(Debug)]
pub(crate) struct HashedFile {
    file: OutputFile,
    buffer: Vec<u8>,
    written: u64,
    hasher: TrailerHasher,
}

impl HashedFile {
    /// Creates a file for `target`.
    pub fn create(target: &Path, hash: Kind) -> Result<Self> {
        Ok(HashedFile {
            file: OutputFile::create_with_prefix(target, TEMPORARY)?,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            written: 0,
            hasher: TrailerHasher::new(hash),
        })
    }

    /// How many bytes it has so far.
    pub fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            self.put(bytes)
        } else {
            self.buffer.extend_from_slice(bytes);
            Ok(())
        }
    }

    /// Appends the hash of everything so far, makes the file read-only, waits for the disk if
    /// `sync`, and gives it its name, replacing what has it. Returns the hash.
    pub fn finish(self, sync: bool) -> Result<ObjectId> {
        let (hash, file) = self.seal(sync)?;
        file.commit(true)?;
        Ok(hash)
    }

    /// As [`HashedFile::finish`], but leaves giving it its name to the caller.
    pub fn seal(mut self, sync: bool) -> Result<(ObjectId, OutputFile)> {
        self.flush()?;
        let hash = self.hasher.finish();
        self.file.write_at(hash.as_bytes(), self.written)?;
        self.file.set_read_only()?;
        if sync {
            self.file.sync()?;
        }
        Ok((hash, self.file))
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let put = self.put(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        put
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        self.file.write_at(bytes, self.written)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    #[test]
    fn the_hash_is_of_all_that_comes_before() {
        let directory = tempfile::tempdir().unwrap();
        for (hash, name) in [(Kind::Sha1, "one"), (Kind::Sha256, "two")] {
            let target = directory.path().join(name);
            let mut file = HashedFile::create(&target, hash).unwrap();
            let mut expected = Vec::new();
            for size in [3, BUFFER_BYTES - 1, 10, 2 * BUFFER_BYTES, 1] {
                let piece = vec![size as u8; size];
                assert_eq!(file.position(), expected.len() as u64);
                file.write(&piece).unwrap();
                expected.extend(piece);
            }
            assert!(!target.exists());
            let id = file.finish(true).unwrap();
            let mut hasher = gix_hash::hasher(hash);
            hasher.update(&expected);
            assert_eq!(hasher.try_finalize().unwrap(), id);
            expected.extend_from_slice(id.as_bytes());
            assert_eq!(std::fs::read(&target).unwrap(), expected);
            assert!(std::fs::metadata(&target).unwrap().permissions().readonly());
        }
    }
}
