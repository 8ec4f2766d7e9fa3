//! What `checkout`, `switch` and `restore` share: how they are run, and how they report.

use super::merge_options::Merging;
use super::messages;
use super::pathspec_file::PathspecFile;
use super::stash;
use super::writing::{rejected, tell, warn, workers, Writing};
use crate::environment;
use crate::execution;
use crate::failure::{Failure, FATAL, REFUSED, RESTORED_IN_PART};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::report::Report;
use crate::statistics;
use bstr::{BString, ByteSlice};
use hedgerow::checkout::{
    checkout_paths, switch, Done, LocalChange, MergeSide, Outcome, PathOptions, PathOutcome, Share,
    SwitchOptions, Switched, Target, Unmerged,
};
use hedgerow::display::quoted;
use hedgerow::numbers::counted;
use hedgerow::repository::Repository;
use hedgerow::stash::{switch_merging, MergingSwitch};
use hedgerow::{Execution, Stage};
use hedgerow_fs::{Exit, StandardOutput};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

/// State shared by the steps of one command.
pub struct Run<'a> {
    pub global: &'a Global,
    pub output: &'a Output,
    pub repository: Repository,
    execution: Execution,
    /// With fewer files to write than this, one worker writes them.
    threshold: Option<u64>,
    started: Instant,
}

/// How a switch is carried out and reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Switching {
    /// Overwrite local changes.
    pub discard_changes: bool,
    /// Overwrite untracked files, too.
    pub overwrite_untracked: bool,
    /// Keep ignored files.
    pub keep_ignored: bool,
    /// Whether submodules move along, if that was said.
    pub recurse_submodules: Option<bool>,
    /// Detaching HEAD was asked for.
    pub detach: bool,
    /// Merge local changes.
    pub merging: Option<Merging>,
    /// Which part is done.
    pub share: Share,
}

impl<'a> Run<'a> {
    /// Finds the repository.
    pub fn start(
        writing: &Writing,
        global: &'a Global,
        output: &'a Output,
    ) -> Result<Self, Failure> {
        let started = Instant::now();
        let execution = execution::configurable(global)?;
        let repository = environment::repository(&environment::of_git(global)?, output)?;
        repository.require_work_tree()?;
        let (execution, threshold) = workers(&repository, writing, global, execution);
        Ok(Run {
            global,
            output,
            repository,
            execution,
            threshold,
            started,
        })
    }

    /// How to run.
    pub fn execution(&self) -> &Execution {
        &self.execution
    }

    /// With fewer files to write than this, one worker writes them.
    pub fn threshold(&self) -> Option<u64> {
        self.threshold
    }

    /// The result of `work`, which shows its progress.
    pub fn metered<T>(&self, work: impl FnOnce() -> T) -> T {
        let progress = &self.execution.progress;
        let meter = Meter::start(self.global, "Updating files", progress, Stage::Files);
        let result = work();
        // Ends the progress line before anything else is printed.
        drop(meter);
        result
    }

    /// Reports warnings and failures; returns the exit code for them.
    pub fn told(&self, done: &Done) -> u8 {
        self.warn(done);
        tell(done, self.global, self.started.elapsed(), self.output)
    }

    /// The pathspecs that `file` lists, if it is given.
    pub fn listed(&self, file: &PathspecFile) -> Result<Option<Vec<BString>>, Failure> {
        file.listed(self.repository.prefix(), self.global)
    }

    /// Switches to `target`, and prints the outcome as git does, in git's order.
    pub fn switch(&self, target: &Target, how: Switching) -> Result<u8, Failure> {
        let options = SwitchOptions {
            discard_changes: how.discard_changes,
            overwrite_untracked: how.overwrite_untracked,
            keep_ignored: how.keep_ignored,
            recurse_submodules: how.recurse_submodules,
            list_changes: !how.discard_changes && !self.global.quiet,
            share: how.share,
            defers_hook: true,
            threshold: self.threshold,
            execution: self.execution.clone(),
        };
        let repository = &self.repository;
        let mut switched = match how.merging {
            None => self.metered(|| switch(repository, target, &options))?,
            Some(Merging { style }) => {
                let merge = || switch_merging(repository, target, &options, style);
                match self.metered(merge)? {
                    MergingSwitch::Switched(switched) => *switched,
                    MergingSwitch::Unstashable(outcome) => {
                        stash::not_pushed(self, &outcome, false);
                        return Err(Failure::fatal("Cannot autostash"));
                    }
                }
            }
        };
        if self.global.json {
            let commit = target.commit.map(|id| id.to_string());
            let report = Report::switch(&switched.outcome, commit, self.started.elapsed());
            self.output.data(report.to_json().as_bytes());
        }
        let told = self.tell_switch(&mut switched, target, &how);
        // Git says what it did before the hook says anything.
        let ran = switched.run_hook(repository);
        let code = told?;
        ran?;
        let hook = if switched.hook_failure.is_some() {
            REFUSED
        } else {
            0
        };
        Ok(code.max(hook))
    }

    /// Prints how a switch ended; returns the exit code for that.
    fn tell_switch(
        &self,
        switched: &mut Switched,
        target: &Target,
        how: &Switching,
    ) -> Result<u8, Failure> {
        let head_failure = switched.head_failure.take();
        match &switched.outcome {
            Outcome::Rejected(rejects) if how.discard_changes => {
                rejected(rejects, self.output);
                Ok(FATAL)
            }
            Outcome::Rejected(rejects) => {
                let advises = self.repository.advises(messages::REJECTED_HINT)?;
                messages::rejected(rejects, advises, self.output);
                if let Some(autostash) = &switched.autostash {
                    messages::carried(autostash, self.output);
                }
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
            Outcome::Done(done) if matches!(how.share, Share::Of(_)) => Ok(self.told(done)),
            Outcome::Incomplete(done) => {
                let code = self.told(done);
                let files = counted(done.unwritten, "file");
                let kept = "not as the shares write them; index and HEAD stay as they were";
                self.output.error(format_args!("{files} {kept}"));
                Ok(code)
            }
            Outcome::Done(done) => {
                self.warn(done);
                if let Some(error) = head_failure {
                    tell(done, self.global, self.started.elapsed(), self.output);
                    return Err(error.into());
                }
                // What git does not print on a terminal it keeps until it has told the rest.
                let is_kept = !StandardOutput::is_terminal();
                let list = |is_now: bool| is_now.then(|| self.list(&done.local_changes));
                list(!is_kept);
                if let Some(autostash) = &switched.autostash {
                    messages::carried(autostash, self.output);
                }
                let ended = &switched.ended;
                let tracking = messages::switched(
                    &self.repository,
                    target,
                    switched,
                    how.detach,
                    self.output,
                )?;
                for name in ended.operations.iter().filter(|_| !self.global.quiet) {
                    self.output
                        .warn(format_args!("cancelling a {name} in progress"));
                }
                if ended.stashed {
                    self.output.error_line(messages::STASHED);
                }
                list(is_kept);
                self.data(&tracking);
                if let (Some(carried), Some(_)) = (&switched.autostash, target.commit) {
                    self.data("The following paths have local changes:\n");
                    self.list(&carried.local_changes);
                }
                let failures = &ended.failures;
                failures.iter().for_each(|error| self.output.error(error));
                let code = tell(done, self.global, self.started.elapsed(), self.output);
                let carried = switched.autostash.as_ref();
                let is_unstored = carried.is_some_and(|carried| carried.unstored.is_some());
                let is_whole = failures.is_empty() && !is_unstored;
                Ok(code.max(if is_whole { 0 } else { REFUSED }))
            }
        }
    }

    /// Restores paths, and prints the outcome as git does. `counts`: also how many there were.
    pub fn paths(&self, options: PathOptions, counts: bool) -> Result<u8, Failure> {
        let options = PathOptions {
            threshold: self.threshold,
            execution: self.execution.clone(),
            ..options
        };
        let progress = &self.execution.progress;
        let meter = Meter::of_our_own(self.global, "Updating files", progress, Stage::Files);
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
            PathOutcome::WithoutSide(paths) => {
                let lacks = match options.unmerged {
                    Unmerged::Take(MergeSide::Theirs) => "their version",
                    Unmerged::Merge(_) => "all necessary versions",
                    _ => "our version",
                };
                for path in paths {
                    let message = format_args!("path '{path}' does not have {lacks}");
                    self.output.error(message);
                }
                Ok(REFUSED)
            }
            PathOutcome::Rejected(rejects) => {
                messages::said(rejects.said(), self.output);
                Ok(REFUSED)
            }
            PathOutcome::Done(done) => {
                self.warn(done);
                if self.global.json {
                    let report = Report::done(done, None, self.started.elapsed());
                    self.output.data(report.to_json().as_bytes());
                }
                if counts && done.recreated > 0 {
                    let noun = counted(done.recreated, "merge conflict");
                    self.output.say(format_args!("Recreated {noun}"));
                }
                let updated = done.written.saturating_sub(done.recreated);
                if counts && (updated > 0 || done.recreated == 0) {
                    let from = match options.tree {
                        Some(id) => self.repository.short_id(&id)?,
                        None => "the index".into(),
                    };
                    let paths = counted(updated, "path");
                    self.output.say(format_args!("Updated {paths} from {from}"));
                }
                tell(done, self.global, self.started.elapsed(), self.output);
                let is_complete = done.failures.is_empty();
                let code = if is_complete { 0 } else { RESTORED_IN_PART };
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

    /// Lists local changes.
    fn list(&self, changes: &[LocalChange]) {
        let high = self.repository.settings().quote_path;
        for change in changes {
            let path = quoted(&change.path, high);
            let line = [&[change.status as u8, b'\t'], &path[..], b"\n"].concat();
            self.data(&line);
        }
    }

    /// What the engine did, if that is asked for.
    pub fn statistics(&self) -> Result<(), Failure> {
        statistics::tell(self.global, &self.execution, self.output)
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
        warn(done, self.output);
        for path in done.left_out.iter().filter(|_| !self.global.quiet) {
            self.output.warn(format_args!("path '{path}' is unmerged"));
        }
    }
}

/// Words of the command line as bytes.
pub fn bytes(words: &[OsString]) -> Vec<BString> {
    words.iter().map(|word| word.as_bytes().into()).collect()
}
