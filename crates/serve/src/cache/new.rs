use super::{StoredResponse, HEADER_BYTES, MAGIC};
use crate::Result;
use hedgerow_fs::{OutputFile, ReadFile};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A response that is being written. Dropped before it is kept, it is gone, and those who follow
/// it are told.
#[derive(Debug)]
pub struct NewResponse {
    file: Option<OutputFile>,
    /// Its name until it is whole, if others may follow it.
    partial: Option<PathBuf>,
    written: u64,
    max_bytes: u64,
    /// Whether nothing more will be written.
    has_ended: Arc<AtomicBool>,
}

impl NewResponse {
    /// One to be written to `file`; others may follow it if that has the name `partial` until it is
    /// whole.
    pub(super) fn new(file: OutputFile, partial: Option<PathBuf>, max_bytes: u64) -> Self {
        NewResponse {
            file: Some(file),
            partial,
            written: 0,
            max_bytes,
            has_ended: Arc::default(),
        }
    }

    /// The response as others see it who follow it; `None` if nobody can.
    pub fn follow(&self) -> Option<StoredResponse> {
        let (file, partial) = (self.file.as_ref()?, self.partial.as_ref()?);
        // Not another name of the same open file: that would hold the lock, too.
        let reader = ReadFile::open(partial).ok()?;
        let (own, found) = (file.stat().ok()?, reader.stat().ok()?);
        let is_same = (own.dev, own.ino) == (found.dev, found.ino);
        is_same.then(|| StoredResponse::of_own(reader, self.has_ended.clone()))
    }

    /// Appends `bytes`. False if they cannot be kept, because they are too many or there is no
    /// room, though a part of them may be there: it is to be dropped then.
    #[must_use]
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        let Some(file) = &self.file else { return false };
        let end = self.written.saturating_add(bytes.len() as u64);
        let has_room = end.saturating_add(HEADER_BYTES) <= self.max_bytes;
        let at = HEADER_BYTES + self.written;
        let is_written = has_room && file.write_at(bytes, at).is_ok();
        if is_written {
            self.written = end;
        }
        is_written
    }

    /// How many bytes were written.
    pub fn bytes(&self) -> u64 {
        self.written
    }

    /// Says that it is whole, and gives it its name.
    pub(super) fn finish(mut self) -> Result<()> {
        if let Some(file) = self.file.take() {
            let header = [MAGIC, self.written.to_be_bytes()].concat();
            file.write_at(&header, 0)?;
            file.commit(true)?;
        }
        Ok(())
    }
}

impl Drop for NewResponse {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
    }
}
