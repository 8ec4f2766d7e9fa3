//! What the commands that write a working tree have in common besides `checkout`: workers, and what
//! they report of the files written.

use crate::execution;
use crate::failure::REFUSED;
use crate::global::{Global, Workers};
use crate::output::Output;
use crate::report::summary;
use crate::trees::messages;
use bstr::ByteSlice;
use clap::Args;
use hedgerow::checkout::{Done, Rejects};
use hedgerow::repository::Repository;
use hedgerow::{Execution, Jobs};
use std::time::Duration;

/// How files are written.
#[derive(Debug, Default, Args)]
pub struct Writing {
    /// Number of workers; 0 or less means one per processor (checkout.workers)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub workers: Option<i64>,
    /// Use one worker to write fewer than N files (checkout.thresholdForParallelism)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threshold: Option<i64>,
}

/// The execution with as many workers as `--workers` says, else `--jobs`, else `checkout.workers`,
/// else chosen automatically; and the number of files below which one worker writes them all. Git's
/// own test suite sets the workers without a threshold through a variable.
pub fn workers(
    repository: &Repository,
    writing: &Writing,
    global: &Global,
    execution: Execution,
) -> (Execution, Option<u64>) {
    let settings = repository.settings();
    let tested = repository.environment().test_checkout_workers.as_ref();
    let tested = tested.and_then(|text| text.to_str().ok()?.trim().parse::<i64>().ok());
    let configured = tested.or(settings.workers).map(Workers::from_number);
    let asked = writing.workers.map(Workers::from_number);
    let workers = asked.or(global.jobs).or(configured);
    let why = match (asked, global.jobs, tested, configured) {
        (Some(_), ..) => "--workers",
        (None, Some(_), ..) => "--jobs",
        (None, None, Some(_), _) => "GIT_TEST_CHECKOUT_WORKERS",
        (None, None, None, Some(_)) => "checkout.workers",
        (None, None, None, None) => execution::UNASKED,
    };
    let jobs = Jobs::from(workers.unwrap_or(Workers::Auto));
    let threshold = match (writing.threshold, tested, jobs) {
        (Some(threshold), ..) => Some(threshold),
        (None, Some(_), _) | (None, None, Jobs::Auto) => None,
        (None, None, Jobs::Fixed(_)) => Some(settings.parallel_threshold),
    };
    let threshold = threshold.and_then(|threshold| u64::try_from(threshold).ok());
    let why = match threshold.filter(|files| *files > 1) {
        Some(files) if jobs != Jobs::Auto => format!("{why}; 1 for fewer than {files} files"),
        _ => why.to_owned(),
    };
    execution::tell_places(global, repository);
    execution::tell_workers(global, jobs, &why);
    (execution.with_jobs(jobs), threshold)
}

/// The path that prevents it: git's plumbing names only the first.
pub fn rejected(rejects: &Rejects, output: &Output) {
    if let Some((path, reasons)) = rejects.first_words() {
        messages::said(rejects.said_of(path.as_ref()), output);
        for reason in reasons {
            output.error(reason.of_path(path.as_ref()));
        }
    }
}

/// Warnings from the run, before its result.
pub fn warn(done: &Done, output: &Output) {
    messages::said(&done.said, output);
    done.remarks.iter().for_each(|it| output.error(it));
    done.warnings.iter().for_each(|it| output.warn(it));
}

/// Reports collisions and failures; returns the exit code for them.
pub fn tell(done: &Done, global: &Global, elapsed: Duration, output: &Output) -> u8 {
    if !done.collided.is_empty() {
        output.warn(messages::collided(&done.collided));
    }
    let failures = done.failures.iter();
    failures.for_each(|failure| output.error(&failure.reason));
    if done.written + done.removed > 0 {
        output.for_people(global, summary(done, elapsed));
    }
    if done.failures.is_empty() {
        0
    } else {
        REFUSED
    }
}
