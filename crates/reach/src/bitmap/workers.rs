//! Threads that read objects.

use crate::{Error, Result};
use hedgerow_engine::{CancelToken, Steps};
use hedgerow_pack::{ObjectStore, Reader};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What reads objects for bitmaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workers<'w> {
    pub store: &'w ObjectStore,
    /// How many there are at most.
    pub threads: usize,
    /// Ends the work early.
    pub cancel: &'w CancelToken,
    pub progress: &'w Steps,
}

impl Workers<'_> {
    /// Does `work` for each of `tasks`, each thread with a reader of its own that keeps
    /// `recent_bytes` of what it read last; the results are in the order of the tasks.
    ///
    /// # Errors
    /// The first of `work`; [`Error::Interrupted`].
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
                        // The others find nothing more to do.
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
