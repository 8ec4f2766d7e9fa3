use super::header::{Header, GIVEN_UP, HEADER_BYTES};
use super::sources::Sources;
use super::{ResponseKey, StoredResponse};
use crate::Result;
use hedgerow_fs::{OutputFile, PrivateDir};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A response that is being written. If it is dropped before it is kept, it is deleted, and its
/// followers learn that.
#[derive(Debug)]
pub struct NewResponse {
    file: Option<OutputFile>,
    /// The directory, and the name until it is complete, if other processes may follow it.
    partial: Option<(PrivateDir, String)>,
    identity: (ResponseKey, [u8; 32]),
    /// The sources as they were when writing began.
    sources: Sources,
    written: u64,
    /// Hashes the written bytes. Boxed because it has some 2 KB.
    hasher: Box<blake3::Hasher>,
    max_bytes: u64,
    /// Whether nothing more will be written.
    has_ended: Arc<AtomicBool>,
}

impl NewResponse {
    /// A new response in `file`. Other processes may follow it if the file has a name in `partial`
    /// until it is complete.
    pub(super) fn new(
        file: OutputFile,
        partial: Option<(PrivateDir, String)>,
        identity: (ResponseKey, [u8; 32]),
        sources: Sources,
        max_bytes: u64,
    ) -> Self {
        NewResponse {
            file: Some(file),
            partial,
            identity,
            sources,
            written: 0,
            hasher: Box::default(),
            max_bytes,
            has_ended: Arc::default(),
        }
    }

    /// The response as its followers see it; `None` if nobody can follow it.
    pub fn follow(&self) -> Option<StoredResponse> {
        let (directory, partial) = self.partial.as_ref()?;
        // Opened again, since a duplicate of the descriptor would also hold the lock.
        let reader = directory.open_file(partial).ok()?;
        let (own, found) = (self.file.as_ref()?.stat().ok()?, reader.stat().ok()?);
        let is_same = (own.dev, own.ino) == (found.dev, found.ino);
        is_same.then(|| StoredResponse::of_own(reader, &self.identity, self.has_ended.clone()))
    }

    /// Appends `bytes`. Returns false if they cannot be kept because of the size limit or a full
    /// disk. A part of them may have been written; the response must be given up then.
    #[must_use]
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        let Some(file) = &self.file else { return false };
        let end = self.written.saturating_add(bytes.len() as u64);
        let has_room = end.saturating_add(HEADER_BYTES) <= self.max_bytes;
        let at = HEADER_BYTES + self.written;
        let is_written = has_room && file.write_at(bytes, at).is_ok();
        if is_written {
            self.hasher.update(bytes);
            self.written = end;
        }
        is_written
    }

    /// Tells its followers that nothing more will be written. Its file keeps its name until this is dropped,
    /// so that what it takes of the disk is counted while somebody reads it.
    pub fn give_up(&mut self) {
        let file = self.file.as_ref();
        let is_told = file.is_some_and(|file| file.write_at(&GIVEN_UP, 0).is_ok());
        if !is_told {
            // They learn it from the file that is gone.
            self.file = None;
        }
        self.has_ended.store(true, Ordering::Release);
    }

    /// Number of bytes written.
    pub fn bytes(&self) -> u64 {
        self.written
    }

    /// Marks it as complete and gives it its final name, unless a file that it may have been made
    /// from is not among `sources`, the current ones.
    pub(super) fn finish(mut self, sources: &Sources) -> Result<()> {
        let is_valid = sources.include(&self.sources.to_bytes());
        let Some(file) = self.file.take().filter(|_| is_valid) else {
            return Ok(());
        };
        let listed = sources.to_bytes();
        self.hasher.update(&listed);
        let lengths = (self.written, listed.len() as u64);
        let header = Header::new(self.identity.clone(), lengths, *self.hasher.clone());
        // The header comes first: it tells followers where the response ends.
        file.write_at(&header.to_bytes(), 0)?;
        file.write_at(&listed, HEADER_BYTES + self.written)?;
        Ok(file.commit(true)?)
    }
}

impl Drop for NewResponse {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
    }
}
