//! The execution settings of a command.

use crate::failure::Failure;
use crate::global::{Global, Workers};
use crate::output::Output;
use hedgerow::numbers::counted;
use hedgerow::repository::Repository;
use hedgerow::{CancelToken, Execution, Jobs, Level, Recorder, AUTO_LIMIT, WORKERS_LIMIT};
use std::sync::Arc;

/// The number of workers from `--jobs`, cancellation by the user's interrupt, and what records the
/// run. From now on a signal no longer ends the process at once.
pub fn interruptible(global: &Global) -> Result<Execution, Failure> {
    let execution = configurable(global)?;
    let why = global.jobs.map_or(UNASKED, |_| "--jobs");
    tell_workers(global, execution.jobs, why);
    Ok(execution)
}

/// As [`interruptible`], for commands whose number of workers can be configured: those tell it.
pub fn configurable(global: &Global) -> Result<Execution, Failure> {
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    Ok(Execution {
        jobs: global.jobs(),
        cancel: CancelToken::from_static(interrupted),
        statistics: global.stats.as_ref().map(|_| Arc::new(Recorder::default())),
        trace: global.tracing.clone(),
        log: global.log.clone(),
        ..Execution::default()
    })
}

/// Tells where the repository is, if somebody wants to know.
pub fn tell_places(global: &Global, repository: &Repository) {
    global.log.tell(Level::Info, || {
        let tree = repository
            .work_tree()
            .map_or_else(|| "none".to_owned(), |path| format!("'{}'", path.display()));
        format!(
            "repository '{}', working tree {tree}, index '{}'",
            repository.git_dir().display(),
            repository.index_path().display()
        )
    });
}

/// Why workers are as many as they are, where nobody asked for a number.
pub const UNASKED: &str = "nothing sets their number";

/// The same where nothing is measured.
pub fn tell_threads(global: &Global, execution: &Execution, otherwise: &str) {
    let why = global.jobs.map_or(otherwise, |_| "--jobs");
    tell_workers(global, Jobs::Fixed(execution.threads()), why);
}

/// Tells how many workers there are, and why, if the user wants to know.
pub fn tell_workers(global: &Global, jobs: Jobs, why: &str) {
    let words = || {
        let processors = counted(hedgerow_fs::cpu::available(), "processor");
        match (jobs, global.jobs) {
            (Jobs::Auto, _) => {
                format!(
                    "workers: up to {AUTO_LIMIT}, chosen by measuring, for {processors} ({why})"
                )
            }
            (Jobs::Fixed(count), Some(Workers::PerProcessor)) => {
                format!("workers: {count}, one for each of {processors} ({why})")
            }
            (Jobs::Fixed(count), _) if count > WORKERS_LIMIT => {
                format!("workers: {WORKERS_LIMIT}, the maximum, in place of {count} ({why})")
            }
            (Jobs::Fixed(count), _) => format!("workers: {count} ({why})"),
        }
    };
    if global.verbose > 0 && !global.json && !crate::as_git::is_active() {
        Output::new(global).say(words());
    }
    global.log.tell(Level::Info, words);
}
