use hedgerow_writer::Written;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far a checkout is; read by whoever shows it while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    files_total: AtomicU64,
    files: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// Files that are to be written, 0 as long as that is not known.
    pub fn files_total(&self) -> u64 {
        self.files_total.load(Ordering::Relaxed)
    }

    /// Files dealt with so far.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn expect(&self, files: u64) {
        self.files_total.store(files, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, batch: &[Written]) {
        let bytes = batch.iter().filter_map(|entry| entry.outcome.as_ref().ok());
        self.bytes
            .fetch_add(bytes.map(|stat| stat.size).sum(), Ordering::Relaxed);
        self.files.fetch_add(batch.len() as u64, Ordering::Relaxed);
    }
}
