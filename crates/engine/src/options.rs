use crate::{CancelToken, Recorder, AUTO_LIMIT};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// How many workers a run has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jobs {
    /// As many as keep the processors busy, which is found out while the run goes on: about two
    /// a processor to begin with, up to [`AUTO_LIMIT`] while workers wait for the file system.
    #[default]
    Auto,
    /// This many, whatever happens. With one, no thread is started.
    Fixed(NonZeroUsize),
}

/// How a run is to go.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The number of workers.
    pub jobs: Jobs,
    /// Ends the run early.
    pub cancel: CancelToken,
    /// What the threads are called, before a dash and the number of the worker.
    pub name: &'static str,
    /// What counts the run; without one, nothing is counted.
    pub recorder: Option<Arc<Recorder>>,
    /// [`Report::workers_last`](crate::Report::workers_last) of an earlier run of the same kind:
    /// where [`Jobs::Auto`] starts.
    pub hint: Option<usize>,
}

impl Options {
    /// The number of workers to start with.
    pub(crate) fn first_target(&self) -> usize {
        match (self.jobs, self.hint) {
            (Jobs::Fixed(count), _) => count.get(),
            (Jobs::Auto, Some(hint)) => hint.clamp(1, AUTO_LIMIT),
            (Jobs::Auto, None) => (2 * hedgerow_fs::cpu::available()).clamp(2, AUTO_LIMIT),
        }
    }

    /// The most workers there may be.
    pub(crate) fn limit(&self) -> usize {
        match self.jobs {
            Jobs::Fixed(count) => count.get(),
            Jobs::Auto => AUTO_LIMIT,
        }
    }
}
