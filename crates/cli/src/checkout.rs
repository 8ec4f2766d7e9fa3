//! `hedgerow checkout`: determines the form of the command, runs it, and reports the result.

use crate::arguments::Checkout;
use crate::environment;
use crate::execution;
use crate::failure::{Failure, FATAL, PARTIAL, REFUSED};
use crate::global::{Global, Workers};
use crate::messages;
use crate::output::Output;
use crate::progress::Meter;
use crate::report::{summary, Report};
use crate::statistics;
use bstr::{BString, ByteSlice};
use hedgerow::checkout::{
    checkout_paths, switch, Done, Outcome, PathOptions, PathOutcome, Request, RequestOptions,
    RequestedPaths, SwitchOptions, Target,
};
use hedgerow::display::quoted;
use hedgerow::repository::Error;
use hedgerow::repository::Repository;
use hedgerow::{Execution, Jobs, Stage};
use hedgerow_fs::Exit;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

const SEVERAL_REMOTES: &str = "\
If you meant to check out a remote tracking branch on, e.g. 'origin',
you can do so by fully qualifying the name with the --track option:

    git checkout --track origin/<name>

If you'd like to always have checkouts of an ambiguous <name> prefer
one remote, e.g. the 'origin' remote, consider setting
checkout.defaultRemote=origin in your config.";

/// State shared by the steps of one command.
struct Run<'a> {
    command: &'a Checkout,
    global: &'a Global,
    output: &'a Output,
    repository: Repository,
    execution: Execution,
    /// With fewer files to write than this, one worker writes them.
    threshold: Option<u64>,
    started: Instant,
}

pub fn run(command: &Checkout, global: &Global, output: &Output) -> Result<u8, Failure> {
    let started = Instant::now();
    let execution = execution::interruptible(global)?;
    let repository = Repository::discover(&environment::of_git(global)?)?;
    repository.require_work_tree()?;
    repository
        .objects()
        .warnings()
        .iter()
        .for_each(|warning| output.warn(warning));
    let request = requested(&repository, command, output)?;
    let (jobs, threshold) = workers(&repository, command, global);
    let execution = execution.with_jobs(jobs);
    let run = Run {
        command,
        global,
        output,
        repository,
        execution,
        threshold,
        started,
    };
    let meter = Meter::start(
        global,
        "Updating files",
        &run.execution.progress,
        Stage::Files,
    );
    let code = match request {
        Request::Switch(target) => run.switch(&target, meter),
        Request::Paths(paths) => run.paths(&paths, meter),
    }?;
    statistics::tell(global, &run.execution, output)?;
    Ok(code)
}

/// Interprets the words of the command line.
fn requested(
    repository: &Repository,
    command: &Checkout,
    output: &Output,
) -> Result<Request, Failure> {
    let words = command.words.iter().map(|word| word.as_bytes().into());
    let words: Vec<BString> = words.collect();
    let options = RequestOptions {
        detach: command.detach,
        guess: match (command.guess, command.no_guess) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        },
    };
    let request = Request::parse(repository, &words, options, &mut |it| output.warn(it));
    request.map_err(|error| {
        let advised = repository.advises("checkoutAmbiguousRemoteBranchName");
        if matches!(error, Error::AmbiguousRemoteBranch { .. }) && advised.unwrap_or(true) {
            let lines = SEVERAL_REMOTES.lines();
            lines.for_each(|line| output.error_line(format!("hint: {line}").trim_end()));
        }
        error.into()
    })
}

impl Run<'_> {
    /// Switches to `target`, and prints the outcome as git does, in git's order.
    fn switch(&self, target: &Target, meter: Meter) -> Result<u8, Failure> {
        let options = SwitchOptions {
            force: self.command.force,
            list_changes: !self.command.force && !self.global.quiet,
            threshold: self.threshold,
            execution: self.execution.clone(),
        };
        let mut switched = switch(&self.repository, target, &options)?;
        // Ends the progress line before anything else is printed.
        drop(meter);
        if self.global.json {
            let commit = target.commit.map(|id| id.to_string());
            let report = Report::switch(&switched.outcome, commit, self.started.elapsed());
            self.output.data(report.to_json().as_bytes());
        }
        let head_failure = switched.head_failure.take();
        match &switched.outcome {
            Outcome::Rejected(rejects) if self.command.force => {
                messages::rejected_by_force(rejects, self.output);
                Ok(FATAL)
            }
            Outcome::Rejected(rejects) => {
                messages::rejected(rejects, self.output);
                Ok(REFUSED)
            }
            Outcome::Unmerged(paths) => {
                let lines: String = paths
                    .iter()
                    .map(|path| format!("{path}: needs merge\n"))
                    .collect();
                if !self.global.json {
                    self.output.data(lines.as_bytes());
                }
                Err(Failure::refused(
                    "you need to resolve your current index first",
                ))
            }
            Outcome::Done(done) => {
                self.warn(done);
                if let Some(error) = head_failure {
                    self.tell(done);
                    return Err(error.into());
                }
                let high = self.repository.settings().quote_path;
                for change in &done.local_changes {
                    let path = quoted(&change.path, high);
                    let line = [&[change.status as u8, b'\t'], &path[..], b"\n"].concat();
                    self.data(&line);
                }
                let detach = self.command.detach;
                let ended = &switched.ended;
                let tracking =
                    messages::switched(&self.repository, target, &switched, detach, self.output)?;
                for name in ended.operations.iter().filter(|_| !self.global.quiet) {
                    let warning = format_args!("cancelling a {name} in progress");
                    self.output.warn(warning);
                }
                if ended.stashed {
                    self.output.error_line(messages::STASHED);
                }
                self.data(&tracking);
                let code = self.tell(done);
                Ok(if switched.hook_failure.is_some() {
                    code.max(REFUSED)
                } else {
                    code
                })
            }
        }
    }

    /// Checks paths out, and prints the outcome as git does.
    fn paths(&self, paths: &RequestedPaths, meter: Meter) -> Result<u8, Failure> {
        let tree = paths.tree;
        let options = PathOptions {
            pathspecs: paths.pathspecs.clone(),
            tree,
            force: self.command.force,
            threshold: self.threshold,
            execution: self.execution.clone(),
        };
        let outcome = checkout_paths(&self.repository, &options)?;
        drop(meter);
        match &outcome {
            PathOutcome::Unmatched(specs) => {
                specs
                    .iter()
                    .for_each(|spec| self.output.error(messages::unknown(spec.as_bstr())));
                Ok(REFUSED)
            }
            PathOutcome::Unmerged(paths) => {
                if self.global.json {
                    let report = Report::unmerged(paths, self.started.elapsed());
                    self.output.data(report.to_json().as_bytes());
                }
                let unmerged = |path| self.output.error(format_args!("path '{path}' is unmerged"));
                paths.iter().for_each(unmerged);
                Ok(REFUSED)
            }
            PathOutcome::Done(done) => {
                self.warn(done);
                if self.global.json {
                    let report = Report::done(done, None, self.started.elapsed());
                    self.output.data(report.to_json().as_bytes());
                }
                if paths.without_separator {
                    let from = match tree {
                        Some(id) => self.repository.short_id(&id)?,
                        None => "the index".into(),
                    };
                    let noun = if done.written == 1 { "path" } else { "paths" };
                    self.output
                        .say(format_args!("Updated {} {noun} from {from}", done.written));
                }
                let code = self.tell(done);
                Ok(match done.hook_failure {
                    Some(Exit::Status(status)) if code == 0 => {
                        u8::try_from(status).unwrap_or(REFUSED)
                    }
                    Some(_) => code.max(REFUSED),
                    None => code,
                })
            }
        }
    }

    /// Git prints this to standard output; with `--json`, standard output carries only the
    /// document.
    fn data(&self, text: impl AsRef<[u8]>) {
        if !self.global.json && !self.global.quiet {
            self.output.data(text.as_ref());
        }
    }

    /// Prints warnings from the run, before its result.
    fn warn(&self, done: &Done) {
        let unconverted = done.unconverted.iter();
        unconverted.for_each(|reason| self.output.error(reason));
        let warn = |warning| self.output.warn(warning);
        done.warnings.iter().for_each(warn);
        for path in done.left_out.iter().filter(|_| !self.global.quiet) {
            self.output.warn(format_args!("path '{path}' is unmerged"));
        }
    }

    /// Reports collisions and failures; returns the exit code for them.
    fn tell(&self, done: &Done) -> u8 {
        let output = self.output;
        if !done.collided.is_empty() {
            output.warn(messages::collided(&done.collided));
        }
        done.failures
            .iter()
            .for_each(|failure| output.error(&failure.reason));
        if done.written + done.removed > 0 {
            output.for_people(self.global, summary(done, self.started.elapsed()));
        }
        if done.failures.is_empty() {
            0
        } else {
            PARTIAL
        }
    }
}

/// The number of workers, and the number of files below which one worker writes them all.
/// `--workers` takes precedence over `--jobs`, that over `checkout.workers`, and that over the
/// automatic choice. Git's own test suite sets the workers without a threshold through a variable.
fn workers(repository: &Repository, command: &Checkout, global: &Global) -> (Jobs, Option<u64>) {
    let settings = repository.settings();
    let tested = repository.environment().test_checkout_workers.as_ref();
    let tested = tested.and_then(|text| text.to_str().ok()?.trim().parse::<i64>().ok());
    let configured = tested.or(settings.workers).map(Workers::from_number);
    let workers = command
        .workers
        .map(Workers::from_number)
        .or(global.jobs)
        .or(configured);
    let jobs = Jobs::from(workers.unwrap_or(Workers::Auto));
    let threshold = match (command.threshold, tested, jobs) {
        (Some(threshold), ..) => Some(threshold),
        (None, Some(_), _) | (None, None, Jobs::Auto) => None,
        (None, None, Jobs::Fixed(_)) => Some(settings.parallel_threshold),
    };
    (
        jobs,
        threshold.and_then(|threshold| u64::try_from(threshold).ok()),
    )
}
