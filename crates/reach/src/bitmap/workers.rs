//! Threads that read objects.

use crate::{Error, Result};
use hedgerow_engine::{CancelToken, Steps};
use hedgerow_pack::{ObjectStore, Reader};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The threads that read objects for bitmaps, and their settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workers<'w> {
    pub store: &'w ObjectStore,
    /// Maximum number of threads.
    pub threads: usize,
    /// Ends the work early.
    pub cancel: &'w CancelToken,
    pub progress: &'w Steps,
}

impl Workers<'_> {
    /// Does `work` for each of `tasks`; the results are in the order of the tasks. Each thread has
    /// a reader of its own with a cache of `recent_bytes`.
    ///
    /// # Errors
    /// The first error of `work`; [`Error::Interrupted`].
    pub fn run<T: Sync, R: Send>(
        &self,
        recent_bytes: usize,
        tasks: &[T],
        work: impl Fn(&mut Reader<'_>, &T) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let worker = || {
            let mut reader = Reader::with_recent(self.store, recent_bytes);
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(number) else {
                    return Ok(done);
                };
                if self.cancel.is_cancelled() {
                    return Err(Error::Interrupted);
                }
                match work(&mut reader, task) {
                    Ok(result) => done.push((number, result)),
                    Err(error) => {
                        // Makes the other threads find no more tasks.
                        next.store(tasks.len(), Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
        };
        let mut all = Vec::with_capacity(tasks.len());
        let others = self.threads.clamp(1, tasks.len().max(1)) - 1;
        for done in hedgerow_fs::threads::together("bitmap", others, worker) {
            all.extend(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        all.sort_unstable_by_key(|(number, _)| *number);
        Ok(all.into_iter().map(|(_, result)| result).collect())
    }
}
