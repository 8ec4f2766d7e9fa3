use crate::{CancelToken, Jobs, Options, Progress, Recorder};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// How a command is run, whatever it does: by how many workers, until when, and who is told of it.
/// Clones share the token, the progress and the statistics.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// The number of workers.
    pub jobs: Jobs,
    /// Ends the command early; it then fails, and what it was to replace stays as it was.
    pub cancel: CancelToken,
    /// How far the command is, for whoever shows it meanwhile.
    pub progress: Arc<Progress>,
    /// Counts what the workers do with their time; without it, nothing is counted.
    pub statistics: Option<Arc<Recorder>>,
}

impl Execution {
    /// With `threads` workers.
    pub fn with_threads(threads: NonZeroUsize) -> Self {
        Execution {
            jobs: Jobs::Fixed(threads),
            ..Execution::default()
        }
    }

    /// How many threads work on what only computes: [`Jobs::Auto`] is one a processor.
    pub fn threads(&self) -> NonZeroUsize {
        match self.jobs {
            Jobs::Fixed(threads) => threads,
            Jobs::Auto => {
                NonZeroUsize::new(hedgerow_fs::cpu::available()).unwrap_or(NonZeroUsize::MIN)
            }
        }
    }

    /// A run of the engine by workers that are called `name`.
    pub fn options(&self, name: &'static str) -> Options {
        Options {
            jobs: self.jobs,
            cancel: self.cancel.clone(),
            name,
            recorder: self.statistics.clone(),
            ..Options::default()
        }
    }

    /// The same with a progress of its own: for a part that is shown by itself.
    pub fn with_own_progress(&self) -> Self {
        Execution {
            progress: Arc::default(),
            ..self.clone()
        }
    }

    /// The same with other workers: for a part that has a number of its own.
    pub fn with_jobs(&self, jobs: Jobs) -> Self {
        Execution {
            jobs,
            ..self.clone()
        }
    }
}
