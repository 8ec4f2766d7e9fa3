//! `hedgerow clone`, as git-clone(1).

use super::clone_options::{Passed, ROWS};
use super::messages;
use super::submodule::Update;
use super::submodule_receiving::Receiving;
use super::writing::{rejected, tell, warn, workers, Writing};
use crate::environment;
use crate::execution;
use crate::failure::{Failure, FATAL};
use crate::git_options::{passed_on, GitOptions};
use crate::global::{Global, Workers};
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use clap::Args;
use hedgerow::clone::{check_out, has_lost_head, head_of_clone, remove_unused_bundles, run_hook};
use hedgerow::clone::{AssistedGit, Place, ReadTreeOutcome, BUNDLES};
use hedgerow::repository::Error;
use hedgerow::{Execution, Repository, Stage};
use hedgerow_fs::Exit;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

pub const OPTIONS: GitOptions = GitOptions {
    command: "clone",
    keeps_separator: false,
    options: &passed_on::options(&ROWS),
};

const NOT_CHECKED_OUT: &str = "unable to checkout working tree";

/// Git's message when the repository is there and its files are not.
const LEFT: &str = "Clone succeeded, but checkout failed.
You can inspect what was checked out with 'git status'
and retry with 'git restore --source=HEAD :/'
";

/// Clone a repository, and check out its files in parallel
///
/// Git receives, with everything that is configured for it; hedgerow indexes the pack while it arrives,
/// and writes the files.
#[derive(Debug, Args)]
pub struct Clone {
    #[command(flatten)]
    pub passed: Passed,
    #[command(flatten)]
    pub writing: Writing,
    /// What is cloned: a URL or a path
    #[arg(value_name = "REPOSITORY")]
    pub source: OsString,
    /// Where; named after the repository by default
    #[arg(value_name = "DIR")]
    pub place: Option<OsString>,
}

pub fn run(command: &Clone, global: &Global, output: &Output) -> Result<u8, Failure> {
    let environment = environment::of_clone(global)?;
    // It would change where the clone goes.
    environment
        .variable_of_place()
        .map_or(Ok(()), |name| Err(without(name)))?;
    command.passed.refuse_place()?;
    let execution = execution::configurable(global)?;
    let helper = command.passed.has("bundle-uri").then_some(BUNDLES);
    let git = environment::assisted_git(helper)?;
    let run = |words, directory: &Path| git.run(words, directory).map_err(Failure::fatal);
    let (cwd, passed) = (&environment.cwd, &command.passed);
    let is_bare = passed.has("bare") || passed.has("mirror");
    let place = Place::new(&command.source, command.place.as_deref(), is_bare, cwd);
    let received = run(command.receiving(global), cwd)?;
    git.record().into_iter().for_each(remove_unused_bundles);
    if let Some(code) = failed(received) {
        if let Some(place) = place.filter(|_| hedgerow_fs::caught_signal().is_some()) {
            place.clear()?;
        }
        return Ok(code);
    }
    if is_bare || passed.has("no-checkout") {
        return Ok(0);
    }
    let Some(place) = place else {
        return Err(Failure::fatal(
            "the clone was made, but its name cannot be guessed",
        ));
    };
    let repository = Repository::open_clone(place.path(), &environment)?;
    let first = First {
        repository,
        command,
        global,
        output,
    };
    let code = match first.populate(execution.clone()) {
        Ok(code) => code,
        Err(failure) => {
            let code = output.end(Err(failure));
            output.warn(LEFT);
            return Ok(code);
        }
    };
    match passed.submodules(&first.repository) {
        Some(receiving) if code == 0 => {
            let is_remote = passed.has("remote-submodules");
            let words = receiving.words_for_git(is_remote, global);
            let by_us = if is_remote {
                None
            } else {
                first.submodules(receiving, &git, execution)?
            };
            match by_us {
                Some(code) => Ok(code),
                None => Ok(failed(run(words, place.path())?).unwrap_or(0)),
            }
        }
        _ => Ok(code),
    }
}

/// The exit code of git, unless it succeeded. What it has to say it has said.
fn failed(exit: Exit) -> Option<u8> {
    match exit {
        Exit::Status(0) => None,
        Exit::Status(code) => Some(u8::try_from(code).unwrap_or(FATAL)),
        Exit::Signal(signal) => Some(u8::try_from(128 + signal).unwrap_or(FATAL)),
    }
}

/// The refusal of a clone with `what`.
pub fn without(what: &str) -> Failure {
    Failure {
        hint: Some("use git: git clone ...".into()),
        ..Failure::usage(format_args!(
            "'hedgerow clone' does not work with {what}; nothing was touched"
        ))
    }
}

impl Clone {
    /// The words with which git receives.
    fn receiving(&self, global: &Global) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["clone".into()];
        words.extend(global.quiet.then(|| "--quiet".into()));
        words.extend((0..global.verbose).map(|_| "--verbose".into()));
        words.extend(global.progress.then(|| "--progress".into()));
        words.extend(global.no_progress.then(|| "--no-progress".into()));
        words.extend(jobs(global));
        words.extend(self.passed.words.iter().cloned());
        words.extend(["--no-checkout".into(), "--".into(), self.source.clone()]);
        words.extend(self.place.clone());
        words
    }
}

/// `--jobs`, if a number was given.
pub fn jobs(global: &Global) -> Option<OsString> {
    match global.jobs {
        Some(Workers::Count(count)) => Some(format!("--jobs={count}").into()),
        _ => None,
    }
}

/// The first checkout of a clone.
struct First<'a> {
    repository: Repository,
    command: &'a Clone,
    global: &'a Global,
    output: &'a Output,
}

impl First<'_> {
    /// Clones and checks out the submodules; `None` if only git can, and nothing was touched.
    fn submodules(
        &self,
        receiving: Receiving,
        git: &AssistedGit,
        execution: Execution,
    ) -> Result<Option<u8>, Failure> {
        let update = Update {
            recursive: true,
            receiving,
            ..Update::default()
        };
        let writing = &self.command.writing;
        let how = workers(&self.repository, writing, self.global, execution);
        let updated = update.carry_out(&self.repository, Some(git), how, self.global, self.output);
        match updated {
            Err(Error::NotBuilt { .. }) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(code) => Ok(Some(code)),
        }
    }

    fn populate(&self, execution: Execution) -> Result<u8, Failure> {
        let (global, output, repository) = (self.global, self.output, &self.repository);
        let started = Instant::now();
        let Some((head, commit)) = head_of_clone(repository)? else {
            if has_lost_head(repository)? {
                output.warn("remote HEAD refers to nonexistent ref, unable to checkout");
            }
            return Ok(0);
        };
        if head.branch().is_none() && repository.advises("detachedHead")? {
            output.error_line(messages::detached(&commit.to_string()));
        }
        let writing = &self.command.writing;
        let (execution, threshold) = workers(repository, writing, global, execution);
        let progress = &execution.progress;
        let meter = Meter::start(global, "Updating files", progress, Stage::Files);
        let outcome = check_out(repository, commit, threshold, &execution);
        drop(meter);
        let outcome = outcome.map_err(|error| match error {
            Error::Setup { reason } => Failure {
                before: vec![reason],
                ..Failure::fatal(NOT_CHECKED_OUT)
            },
            error => error.into(),
        })?;
        match outcome {
            ReadTreeOutcome::Done(done) => {
                warn(&done, output);
                if tell(&done, global, started.elapsed(), output) != 0 {
                    return Err(Failure::fatal(NOT_CHECKED_OUT));
                }
            }
            ReadTreeOutcome::Incomplete(done) => {
                warn(&done, output);
                tell(&done, global, started.elapsed(), output);
                return Err(Failure::fatal(NOT_CHECKED_OUT));
            }
            ReadTreeOutcome::Rejected(rejects) => {
                rejected(&rejects, output);
                return Err(Failure::fatal(NOT_CHECKED_OUT));
            }
            ReadTreeOutcome::NotTrivial | ReadTreeOutcome::Overlap(_) => {
                return Err(Failure::fatal(NOT_CHECKED_OUT));
            }
        }
        statistics::tell(global, &execution, output)?;
        let hook = run_hook(repository, commit).map_err(|error: Error| Failure::from(error))?;
        Ok(hook.and_then(failed).unwrap_or(0))
    }
}
