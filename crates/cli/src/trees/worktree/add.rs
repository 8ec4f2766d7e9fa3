//! `hedgerow worktree add`.

use super::{bytes, wish, Links};
use crate::failure::{Failure, FATAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::report::summary;
use crate::trees::writing::{workers, Writing};
use crate::trees::{advice, messages};
use bstr::BString;
use clap::Args;
use hedgerow::branches::Track;
use hedgerow::checkout::Done;
use hedgerow::repository::Error;
use hedgerow::worktrees::{
    add, AddFailure, AddOptions, AddStage, Added, GivenPath, NewBranchName, Notice, Preparing,
};
use hedgerow::{Execution, ObjectId, Repository, Stage};
use hedgerow_fs::Exit;
use hedgerow_fs::StandardOutput;
use std::ffi::OsString;
use std::time::Instant;

/// The exit code of git where a command that it started failed.
const CHILD_FAILED: u8 = 255;

#[derive(Debug, Args)]
pub struct Add {
    /// Check out a branch that another working tree uses; twice: replace a locked working tree
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub force: u8,
    /// Create a branch
    #[arg(short = 'b', long = "new-branch", value_name = "BRANCH")]
    pub new_branch: Option<OsString>,
    /// Create a branch, or move it if it exists
    #[arg(short = 'B', long = "reset-branch", value_name = "BRANCH")]
    pub reset_branch: Option<OsString>,
    /// Create a branch without commits
    #[arg(long)]
    pub orphan: bool,
    /// Detach HEAD at the commit
    #[arg(short, long)]
    pub detach: bool,
    /// Write no files
    #[arg(long)]
    pub no_checkout: bool,
    /// Keep the working tree locked
    #[arg(long)]
    pub lock: bool,
    /// Why it is locked
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<OsString>,
    /// Mount it over an image of the commit, regardless of hedgerow.worktreeMount
    #[arg(long, overrides_with = "no_mount", conflicts_with = "no_checkout")]
    pub mount: bool,
    /// Write its files, regardless of hedgerow.worktreeMount
    #[arg(long)]
    pub no_mount: bool,
    /// Set the start point as upstream of the new branch
    #[arg(long)]
    pub track: bool,
    /// Do not set an upstream
    #[arg(long)]
    pub no_track: bool,
    /// Create the branch from the remote branch of the same name, regardless of
    /// worktree.guessRemote
    #[arg(long)]
    pub guess_remote: bool,
    /// Do not look for remote branches
    #[arg(long)]
    pub no_guess_remote: bool,
    #[command(flatten)]
    pub links: Links,
    #[command(flatten)]
    pub writing: Writing,
    /// Directory of the new working tree
    #[arg(value_name = "PATH")]
    pub path: OsString,
    /// What to check out [default: HEAD, or the branch named like the directory]
    #[arg(value_name = "COMMIT-ISH")]
    pub commitish: Option<OsString>,
}

pub fn run(
    command: &Add,
    repository: &Repository,
    execution: Execution,
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    let started = Instant::now();
    command.check()?;
    let (execution, threshold) = workers(repository, &command.writing, global, execution);
    let options = AddOptions {
        threshold,
        execution,
        ..command.options()
    };
    let meter = Meter::start(
        global,
        "Updating files",
        &options.execution.progress,
        Stage::Files,
    );
    let mut failed = None;
    let added = add(repository, &options, &mut |notice| {
        let told = tell(repository, &options, &notice, global, output);
        if let Err(error) = told {
            // A working tree that nobody could be told of goes again.
            options.execution.cancel.cancel();
            failed.get_or_insert(error);
        }
    });
    drop(meter);
    if let Some(error) = failed {
        return Err(error.into());
    }
    match added {
        Ok(added) => finish(&added, started, global, output),
        Err(failure) => refuse(failure, repository, output),
    }
}

impl Add {
    /// Refuses options that contradict each other.
    fn check(&self) -> Result<(), Failure> {
        let branches = [
            self.detach,
            self.new_branch.is_some(),
            self.reset_branch.is_some(),
        ];
        if branches.iter().filter(|is_given| **is_given).count() > 1 {
            return Err(Failure::fatal(
                "options '-b', '-B', and '--detach' cannot be used together",
            ));
        }
        let has_track = self.track || self.no_track;
        for (is_given, other) in [
            (self.detach, "--detach"),
            (has_track, "--track"),
            (self.no_checkout, "--no-checkout"),
        ] {
            if self.orphan && is_given {
                return Err(Failure::fatal(format_args!(
                    "options '--orphan' and '{other}' cannot be used together"
                )));
            }
        }
        if self.orphan && self.commitish.is_some() {
            return Err(Failure::fatal(
                "option '--orphan' and commit-ish cannot be used together",
            ));
        }
        if self.reason.is_some() && !self.lock {
            return Err(Failure::fatal("the option '--reason' requires '--lock'"));
        }
        Ok(())
    }

    fn options(&self) -> AddOptions {
        let name = |name: &OsString, force| NewBranchName {
            name: bytes(name),
            force,
        };
        let new = self.new_branch.as_ref().map(|it| name(it, false));
        let reset = self.reset_branch.as_ref().map(|it| name(it, true));
        let reason = || BString::from("added with --lock");
        AddOptions {
            path: bytes(&self.path),
            commitish: self.commitish.as_ref().map(|word| bytes(word)),
            new_branch: reset.or(new),
            detach: self.detach,
            orphan: self.orphan,
            checkout: !self.no_checkout,
            force: self.force,
            lock: self
                .lock
                .then(|| self.reason.as_ref().map_or_else(reason, |it| bytes(it))),
            track: match wish(self.track, self.no_track) {
                Some(true) => Some(Track::Explicit),
                Some(false) => Some(Track::Never),
                None => None,
            },
            guess_remote: wish(self.guess_remote, self.no_guess_remote),
            relative_paths: self.links.wish(),
            mount: wish(self.mount, self.no_mount),
            monitor: hedgerow_fs::own_program().ok(),
            ..AddOptions::default()
        }
    }
}

fn tell(
    repository: &Repository,
    options: &AddOptions,
    notice: &Notice<'_>,
    global: &Global,
    output: &Output,
) -> Result<(), Error> {
    use Notice::{Filled, NotACommit, Warning};
    let is_grave = matches!(notice, Warning(_) | NotACommit(..) | Filled(..));
    if global.quiet && !is_grave {
        return Ok(());
    }
    match notice {
        Notice::InvalidHead => output.warn("HEAD points to an invalid (or orphaned) reference.\n"),
        Notice::InferringOrphan => {
            output.say("No possible source branch, inferring '--orphan'");
        }
        Notice::OrphanHint(branch) => {
            let place = GivenPath::new(repository, options.path.as_ref()).shown;
            let branch = branch.map(|name| format!("-b {name} ")).unwrap_or_default();
            let text = format!(
                "If you meant to create a worktree containing a new unborn branch\n(branch with no \
                 commits) for this repository, you can do so\nusing the --orphan flag:\n\n    git \
                 worktree add --orphan {branch}{place}\n"
            );
            if repository.advises("worktreeAddOrphan")? {
                output.advise(&advice::with_switch(repository, "worktreeAddOrphan", text));
            }
        }
        Notice::NotACommit(id, kind) => {
            output.error(format_args!("object {id} is a {kind}, not a commit"));
        }
        Notice::Preparing(preparing) => {
            let short = |id: &ObjectId| repository.short_id(id);
            let what = match preparing {
                Preparing::NewBranch(name) => format!("new branch '{name}'"),
                Preparing::Resetting(name, id) => {
                    format!("resetting branch '{name}'; was at {}", short(id)?)
                }
                Preparing::Branch(name) => format!("checking out '{name}'"),
                Preparing::Detached(id) => format!("detached HEAD {}", short(id)?),
            };
            output.say(format_args!("Preparing worktree ({what})"));
        }
        Notice::Filled(done, head) => {
            tell_done(done, output);
            if let Some(id) = head.filter(|_| !global.quiet) {
                let subject = repository.subject(&repository.commit(&id)?);
                let id = repository.short_id(&id)?;
                let line = format!("HEAD is now at {id} {subject}");
                output.data(format!("{}\n", line.trim_end()).as_bytes());
                StandardOutput::finish()?;
            }
        }
        Notice::Warning(text) | Notice::NotMounted(text) => output.warn(text),
        Notice::Follows(start) => {
            if let Some(followed) = &start.follows {
                output.data(messages::follows(start.short(), followed).as_bytes());
            }
        }
    }
    Ok(())
}

fn finish(
    added: &Added,
    started: Instant,
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    if added.done.written > 0 {
        output.for_people(global, summary(&added.done, started.elapsed()));
    }
    Ok(match added.hook_failure {
        None => 0,
        Some(Exit::Status(status)) => u8::try_from(status).unwrap_or(1),
        Some(_) => 1,
    })
}

fn tell_done(done: &Done, output: &Output) {
    done.remarks.iter().for_each(|it| output.error(it));
    done.warnings.iter().for_each(|it| output.warn(it));
    if !done.collided.is_empty() {
        output.warn(super::super::messages::collided(&done.collided));
    }
    let failures = done.failures.iter();
    failures.for_each(|failure| output.error(&failure.reason));
}

fn refuse(failure: AddFailure, repository: &Repository, output: &Output) -> Result<u8, Failure> {
    tell_done(&failure.done, output);
    let code = match failure.stage {
        AddStage::Branch => CHILD_FAILED,
        _ => FATAL,
    };
    let mut failed = advice::failure(repository, *failure.error);
    if failed.exit_code == FATAL {
        failed.exit_code = code;
    }
    Err(failed)
}
