//! Counts the entries of a walk for its progress.

use super::{Entry, Omission, Receiver};
use hedgerow_engine::{Execution, Stage, Steps};
use hedgerow_fs::Stat;

/// Passes everything on to another receiver, and counts the entries in [`Stage::Entries`]: not each
/// as it comes, but now and then.
#[derive(Debug)]
pub struct Counted<'e, R> {
    receiver: R,
    steps: &'e Steps,
}

/// The state of a worker.
#[derive(Debug)]
pub struct CountedWorker<'e, W> {
    worker: W,
    entries: u64,
    steps: &'e Steps,
}

impl<'e, R> Counted<'e, R> {
    /// Counts what `receiver` gets in a walk by `execution`.
    pub fn new(receiver: R, execution: &'e Execution) -> Self {
        Counted {
            receiver,
            steps: execution.progress.stage(Stage::Entries),
        }
    }
}

impl<W> CountedWorker<'_, W> {
    fn tell(&mut self) {
        self.steps.step(std::mem::take(&mut self.entries));
    }
}

impl<W> Drop for CountedWorker<'_, W> {
    fn drop(&mut self) {
        self.tell();
    }
}

impl<'e, R: Receiver> Receiver for Counted<'e, R> {
    type Worker = CountedWorker<'e, R::Worker>;
    type Error = R::Error;

    fn worker(&self) -> Self::Worker {
        CountedWorker {
            worker: self.receiver.worker(),
            entries: 0,
            steps: self.steps,
        }
    }

    fn entry(&self, worker: &mut Self::Worker, entry: Entry<'_>) -> Result<(), R::Error> {
        worker.entries += 1;
        self.receiver.entry(&mut worker.worker, entry)
    }

    fn statted(
        &self,
        worker: &mut Self::Worker,
        entry: Entry<'_>,
        stat: &Stat,
    ) -> Result<(), R::Error> {
        worker.entries += 1;
        self.receiver.statted(&mut worker.worker, entry, stat)
    }

    fn omitted(&self, worker: &mut Self::Worker, omission: Omission) -> Result<(), R::Error> {
        self.receiver.omitted(&mut worker.worker, omission)
    }

    fn pause(&self, worker: &mut Self::Worker) -> Result<(), R::Error> {
        worker.tell();
        self.receiver.pause(&mut worker.worker)
    }
}
