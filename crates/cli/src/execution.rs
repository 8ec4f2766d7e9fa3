//! The execution settings of a command.

use crate::failure::Failure;
use crate::global::Global;
use hedgerow::{CancelToken, Execution, Recorder};
use std::sync::Arc;

/// The number of workers from `--jobs`, cancellation by the user's interrupt, and statistics for
/// `--stats`. From now on a signal no longer ends the process at once.
pub fn interruptible(global: &Global) -> Result<Execution, Failure> {
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    Ok(Execution {
        jobs: global.jobs(),
        cancel: CancelToken::from_static(interrupted),
        statistics: global.stats.as_ref().map(|_| Arc::new(Recorder::default())),
        ..Execution::default()
    })
}
