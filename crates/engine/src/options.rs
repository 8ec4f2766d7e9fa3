use crate::{CancelToken, Lane, Level, Log, Recorder, Report, Trace, AUTO_LIMIT, WORKERS_LIMIT};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// Number of descriptors reserved for code outside the workers.
const LEFT_TO_OTHERS: u64 = 8;
/// Number of descriptors that a worker has open at a time: a directory, a file in it, an object,
/// and two for measuring its times.
const DESCRIPTORS_A_WORKER: u64 = 5;

/// How many workers a run has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jobs {
    /// As many as keep the processors busy, determined during the run: about two per processor at
    /// first, up to [`AUTO_LIMIT`] while workers wait for the file system.
    #[default]
    Auto,
    /// This many, or fewer if there are not enough descriptors. With one, no thread is started.
    Fixed(NonZeroUsize),
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The number of workers.
    pub jobs: Jobs,
    /// Ends the run early.
    pub cancel: CancelToken,
    /// The name of the threads, followed by a dash and the number of the worker.
    pub name: &'static str,
    /// Records the run; if `None`, nothing is counted.
    pub recorder: Option<Arc<Recorder>>,
    /// Records when each worker did what; if `None`, nothing is recorded.
    pub trace: Option<Arc<Trace>>,
    /// Receives what the run decides.
    pub log: Log,
    /// [`Report::workers_last`](crate::Report::workers_last) of an earlier run of the same kind:
    /// the number of workers that [`Jobs::Auto`] starts with.
    pub hint: Option<usize>,
    /// How long the calling thread works alone, so that short runs are done before threads would
    /// have started. For tasks that are short, or that consist of
    /// [operations](crate::Scope::operation); only [`run_tasks`](crate::run_tasks) uses it.
    pub patience: Duration,
}

impl Options {
    /// The same for a part of the work, with a name of its own.
    pub fn named(&self, name: &'static str) -> Self {
        Options {
            name,
            ..self.clone()
        }
    }

    /// The calling thread, worker `number`, is traced while this lives.
    pub(crate) fn lane(&self, number: usize) -> Option<Lane> {
        let trace = self.trace.as_ref()?;
        Some(trace.enter(&format!("{}-{number}", self.name)))
    }

    /// The number of workers to start with.
    pub(crate) fn first_target(&self, limit: usize) -> usize {
        let target = match (self.jobs, self.hint) {
            (Jobs::Fixed(count), _) => count.get(),
            (Jobs::Auto, Some(hint)) => hint.clamp(1, AUTO_LIMIT),
            (Jobs::Auto, None) => (2 * hedgerow_fs::cpu::available()).clamp(2, AUTO_LIMIT),
        };
        target.min(limit)
    }

    /// Tells with how many workers the run starts.
    pub(crate) fn tell_begin(&self) {
        self.log.tell(Level::Debug, || {
            let limit = self.limit();
            let first = self.first_target(limit);
            let how = match self.jobs {
                Jobs::Auto => "adapted to what is measured",
                Jobs::Fixed(_) => "as asked",
            };
            format!(
                "run '{}' starts: {first} workers, at most {limit}, {how}",
                self.name
            )
        });
    }

    /// Tells how many workers the run had.
    pub(crate) fn tell_end(&self, report: &Report) {
        self.log.tell(Level::Debug, || {
            let Report {
                workers_peak,
                workers_last,
            } = report;
            let name = self.name;
            format!("run '{name}' ends: {workers_peak} workers at most at a time, {workers_last} allowed")
        });
    }

    /// Tells that a thread could not be started.
    pub(crate) fn tell_missing_thread(&self, error: &hedgerow_fs::Error) {
        self.log
            .tell(Level::Warn, || format!("{error}; the other workers go on"));
    }

    /// The maximum number of workers.
    pub(crate) fn limit(&self) -> usize {
        let wanted = match self.jobs {
            Jobs::Fixed(count) => count.min(WORKERS_LIMIT).get(),
            Jobs::Auto => AUTO_LIMIT,
        };
        match wanted {
            1 => 1,
            _ => wanted.min(workers_with_descriptors(hedgerow_fs::free_descriptors())),
        }
    }
}

/// The number of workers that this many descriptors suffice for. A quarter of them is reserved for
/// directories kept open for waiting tasks.
fn workers_with_descriptors(free: u64) -> usize {
    let shared = free.saturating_sub(LEFT_TO_OTHERS);
    let workers = (shared - shared / 4) / DESCRIPTORS_A_WORKER;
    usize::try_from(workers).unwrap_or(usize::MAX).max(1)
}

/// Number of directories that may be kept open for waiting tasks, besides the descriptors of a
/// run's workers.
pub fn directories_to_keep() -> usize {
    let free = hedgerow_fs::free_descriptors();
    let workers = workers_with_descriptors(free).min(AUTO_LIMIT) as u64;
    let left = free.saturating_sub(LEFT_TO_OTHERS + DESCRIPTORS_A_WORKER * workers);
    usize::try_from(left).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Execution;

    #[test]
    fn few_descriptors_are_enough_for_few_workers() {
        let workers = [0, 8, 16, 26, 58, 122, 250, 1024].map(workers_with_descriptors);
        assert_eq!(workers, [1, 1, 1, 2, 7, 17, 36, 152]);
    }

    #[test]
    fn absurd_counts_are_limited() {
        let execution = Execution::with_threads(NonZeroUsize::MAX);
        assert_eq!(execution.threads(), WORKERS_LIMIT);
        assert!(execution.options("test").limit() <= WORKERS_LIMIT.get());
    }
}
