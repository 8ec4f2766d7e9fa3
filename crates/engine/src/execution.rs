use crate::{CancelToken, Jobs, Log, Options, Progress, Recorder, Trace, WORKERS_LIMIT};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// How a command is run: the number of workers, cancellation, progress and statistics. Clones share
/// the token, the progress and the statistics.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// The number of workers.
    pub jobs: Jobs,
    /// Ends the command early: it returns the error of its kind for that. Indexes, references, packs,
    /// images and archives are then as they were; files that a checkout or an extraction has already
    /// written stay.
    pub cancel: CancelToken,
    /// The command's progress, for display while it runs.
    pub progress: Arc<Progress>,
    /// Records what the workers do with their time; if `None`, nothing is counted.
    pub statistics: Option<Arc<Recorder>>,
    /// Records when each worker did what; if `None`, nothing is recorded.
    pub trace: Option<Arc<Trace>>,
    /// Receives what is decided.
    pub log: Log,
}

impl Execution {
    /// Runs with `threads` workers.
    pub fn with_threads(threads: NonZeroUsize) -> Self {
        Execution {
            jobs: Jobs::Fixed(threads),
            ..Execution::default()
        }
    }

    /// Number of threads for purely computational work: with [`Jobs::Auto`], one per processor;
    /// at most [`WORKERS_LIMIT`].
    pub fn threads(&self) -> NonZeroUsize {
        match self.jobs {
            Jobs::Fixed(threads) => threads.min(WORKERS_LIMIT),
            Jobs::Auto => {
                NonZeroUsize::new(hedgerow_fs::cpu::available()).unwrap_or(NonZeroUsize::MIN)
            }
        }
    }

    /// The engine options for a run whose workers are called `name`.
    pub fn options(&self, name: &'static str) -> Options {
        Options {
            jobs: self.jobs,
            cancel: self.cancel.clone(),
            name,
            recorder: self.statistics.clone(),
            trace: self.trace.clone(),
            log: self.log.clone(),
            ..Options::default()
        }
    }

    /// The same with a separate progress, for a part that is displayed on its own.
    pub fn with_own_progress(&self) -> Self {
        Execution {
            progress: Arc::default(),
            ..self.clone()
        }
    }

    /// The same with another number of workers, for a part with its own setting.
    pub fn with_jobs(&self, jobs: Jobs) -> Self {
        Execution {
            jobs,
            ..self.clone()
        }
    }
}
