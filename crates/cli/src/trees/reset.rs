//! `hedgerow reset`: git-reset(1).

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::git_options::{GitOption, GitOptions};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::trees::messages;
use crate::trees::pathspec_file::PathspecFile;
use crate::trees::recurse_submodules::{RecurseSubmodules, RECURSE_SUBMODULES};
use crate::trees::writing::{rejected, tell, warn, workers, Writing};
use bstr::BString;
use clap::Args;
use hedgerow::repository::Repository;
use hedgerow::reset::{
    reset, Reset as Done, ResetMode, ResetOptions, ResetOutcome, ResetRequest, ResetTarget,
};
use hedgerow::Stage;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

/// After a refresh that took longer, git tells how to do without.
const LONG_REFRESH: Duration = Duration::from_secs(2);

pub const OPTIONS: GitOptions = GitOptions {
    command: "reset",
    keeps_separator: true,
    options: &[
        GitOption::switch(None, "refresh").or_not(),
        GitOption::switch(None, "mixed").never_negated(),
        GitOption::switch(None, "soft").never_negated(),
        GitOption::switch(None, "hard").never_negated(),
        GitOption::switch(None, "merge").never_negated(),
        GitOption::switch(None, "keep").never_negated(),
        RECURSE_SUBMODULES,
        GitOption::switch(Some(b'p'), "patch").refused("--patch [<tree-ish>] [--] [<pathspec>...]"),
        GitOption::switch(None, "auto-advance")
            .by_default()
            .negation_refused("--no-auto-advance --patch"),
        GitOption::switch(Some(b'U'), "unified")
            .never_negated()
            .with_value()
            .refused("--patch --unified=<n>"),
        GitOption::switch(None, "inter-hunk-context")
            .never_negated()
            .with_value()
            .refused("--patch --inter-hunk-context=<n>"),
        GitOption::switch(Some(b'N'), "intent-to-add"),
        GitOption::switch(None, "pathspec-from-file").with_value(),
        GitOption::switch(None, "pathspec-file-nul"),
    ],
};

/// Reset HEAD to a commit, or paths of the index to their state in a commit
///
/// Without paths, HEAD moves, or the branch that it names. The index follows unless --soft is given;
/// the working tree follows with --hard, --merge and --keep. With paths, only these paths of the
/// index are set, and HEAD stays.
#[derive(Debug, Args)]
#[command(
    override_usage = "hedgerow reset [--mixed | --soft | --hard | --merge | --keep] \
    [OPTIONS] [COMMIT]\n       \
    hedgerow reset [OPTIONS] [TREE-ISH] [--] <PATHSPEC>..."
)]
pub struct Reset {
    /// Reset HEAD and the index (default)
    #[arg(long, overrides_with_all = ["soft", "hard", "merge", "keep"])]
    pub mixed: bool,
    /// Reset HEAD only
    #[arg(long, overrides_with_all = ["mixed", "hard", "merge", "keep"])]
    pub soft: bool,
    /// Reset HEAD, the index and the working tree; local changes are lost
    #[arg(long, overrides_with_all = ["mixed", "soft", "merge", "keep"])]
    pub hard: bool,
    /// Like --hard, but keep unstaged changes
    #[arg(long, overrides_with_all = ["mixed", "soft", "hard", "keep"])]
    pub merge: bool,
    /// Reset HEAD and the index, but keep local changes
    #[arg(long, overrides_with_all = ["mixed", "soft", "hard", "merge"])]
    pub keep: bool,
    /// Mark removed paths as intent-to-add
    #[arg(short = 'N', long)]
    pub intent_to_add: bool,
    /// Refresh the index and list unstaged changes (default)
    #[arg(long)]
    pub refresh: bool,
    /// Do not refresh the index
    #[arg(long)]
    pub no_refresh: bool,
    #[command(flatten)]
    pub file: PathspecFile,
    #[command(flatten)]
    pub recurse: RecurseSubmodules,
    #[command(flatten)]
    pub writing: Writing,
    /// A commit or a tree, then paths; -- separates them where they are ambiguous
    #[arg(value_name = "REVISION|PATHSPEC")]
    pub words: Vec<OsString>,
}

impl Reset {
    /// The mode, if one was given.
    fn mode(&self) -> Option<ResetMode> {
        let modes = [
            (self.mixed, ResetMode::Mixed),
            (self.soft, ResetMode::Soft),
            (self.hard, ResetMode::Hard),
            (self.merge, ResetMode::Merge),
            (self.keep, ResetMode::Keep),
        ];
        let given = modes.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, mode)| mode)
    }
}

pub fn run(command: &Reset, global: &Global, output: &Output) -> Result<u8, Failure> {
    let started = Instant::now();
    let recurse_submodules = command.recurse.wish()?;
    let execution = execution::configurable(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    let request = requested(&repository, command, global, output)?;
    let (execution, threshold) = workers(&repository, &command.writing, global, execution);
    let mode = command.mode();
    if let (ResetTarget::Paths { .. }, Some(ResetMode::Mixed)) = (&request.target, mode) {
        output.warn("--mixed with paths is deprecated; use 'git reset -- <paths>' instead.");
    }
    let options = ResetOptions {
        mode: mode.unwrap_or_default(),
        intent_to_add: command.intent_to_add,
        no_refresh: command.no_refresh,
        recurse_submodules,
        threshold,
        execution,
        ..ResetOptions::default()
    };
    let progress = &options.execution.progress;
    let meter = Meter::start(global, "Updating files", progress, Stage::Files);
    let outcome = reset(&repository, &request, &options)?;
    // Ends the progress line before anything else is printed.
    drop(meter);
    let code = match outcome {
        ResetOutcome::Done(done) => {
            let told = tell_unstaged(&done, &repository, global, output);
            told.and_then(|()| finish(*done, &repository, &options, global, started, output))
        }
        ResetOutcome::Incomplete(done) => {
            warn(&done, output);
            tell(&done, global, started.elapsed(), output);
            Err(not_reset(&request))
        }
        ResetOutcome::Rejected(rejects) => {
            rejected(&rejects, output);
            Err(not_reset(&request))
        }
        ResetOutcome::NoHead => {
            output.error("You do not have a valid HEAD.");
            Err(not_reset(&request))
        }
    }?;
    statistics::tell(global, &options.execution, output)?;
    Ok(code)
}

fn not_reset(request: &ResetRequest) -> Failure {
    let revision = &request.revision;
    Failure::fatal(format_args!(
        "Could not reset index file to revision '{revision}'."
    ))
}

/// Interprets the words of the command line.
fn requested(
    repository: &Repository,
    command: &Reset,
    global: &Global,
    output: &Output,
) -> Result<ResetRequest, Failure> {
    let words = command.words.iter().map(|word| word.as_bytes().into());
    let words: Vec<BString> = words.collect();
    let listed = command.file.listed(repository.prefix(), global)?;
    let request = ResetRequest::parse(repository, &words, listed, &mut |it| output.warn(it));
    Ok(request?)
}

/// Lists the files that differ from the index now.
fn tell_unstaged(
    done: &Done,
    repository: &Repository,
    global: &Global,
    output: &Output,
) -> Result<(), Failure> {
    if global.quiet {
        // Git tells of conflicts even then.
        let conflicts = done.unstaged.iter().filter(|change| change.status == 'U');
        for change in conflicts {
            output.data(&[&change.path[..], b": needs merge\n"].concat());
        }
        return Ok(());
    }
    if !done.unstaged.is_empty() {
        output.data(b"Unstaged changes after reset:\n");
    }
    for change in &done.unstaged {
        let status = change.status as u8;
        output.data(&[&[status, b'\t'], &change.path[..], b"\n"].concat());
    }
    if done.refreshed_in > LONG_REFRESH && repository.advises("resetNoRefresh")? {
        let seconds = done.refreshed_in.as_secs_f64();
        for line in [
            &format!("It took {seconds:.2} seconds to refresh the index after reset.  You can use"),
            "'--no-refresh' to avoid this.",
        ] {
            output.error_line(format_args!("hint: {line}"));
        }
    }
    Ok(())
}

fn finish(
    mut done: Done,
    repository: &Repository,
    options: &ResetOptions,
    global: &Global,
    started: Instant,
    output: &Output,
) -> Result<u8, Failure> {
    warn(&done.done, output);
    let head_failure = done.head_failure.take();
    let mut code = tell(&done.done, global, started.elapsed(), output);
    if done.ended.stashed {
        output.error_line(messages::STASHED);
    }
    let failures = &done.ended.failures;
    failures.iter().for_each(|error| output.error(error));
    if let Some(error) = head_failure {
        output.error(error);
        return Ok(code.max(REFUSED));
    }
    if let (Some(commit), ResetMode::Hard, false) = (done.commit, options.mode, global.quiet) {
        let subject = repository.subject(&repository.commit(&commit)?);
        let id = repository.short_id(&commit)?.to_string();
        let space: &[u8] = if subject.is_empty() { b"" } else { b" " };
        let line = [b"HEAD is now at ", id.as_bytes(), space, &subject, b"\n"].concat();
        output.data(&line);
    }
    if !failures.is_empty() {
        code = code.max(REFUSED);
    }
    Ok(code)
}
