//! `hedgerow submodule`: git-submodule(1).

use super::messages;
use super::run::{bytes, Run};
use super::submodule_receiving::{Receiving, OPTIONS as RECEIVING};
use super::writing::{tell, warn, Writing};
use crate::environment::assisted_git;
use crate::failure::{Failure, FATAL, REFUSED};
use crate::git_options::{GitOption, GitOptions};
use crate::global::Global;
use crate::output::Output;
use clap::{Args, Subcommand};
use hedgerow::checkout::{Outcome, Switched};
use hedgerow::clone::AssistedGit;
use hedgerow::repository::{Error, Repository};
use hedgerow::submodule::{
    init_submodules, submodule_status, update_submodules, Registered, SubmoduleStatusOptions,
    SubmoduleUpdateOptions, UpdateEvent, UpdateFailure,
};
use hedgerow::Execution;
use std::ffi::OsString;
use std::time::Duration;

const STATUS: GitOptions = GitOptions {
    command: "submodule status",
    keeps_separator: false,
    options: &[
        GitOption::switch(None, "cached"),
        GitOption::switch(None, "recursive"),
    ],
};
const INIT: GitOptions = GitOptions {
    command: "submodule init",
    keeps_separator: false,
    options: &[],
};
const UPDATE: GitOptions = GitOptions {
    command: "submodule update",
    keeps_separator: false,
    options: &[
        GitOption::switch(Some(b'i'), "init"),
        GitOption::switch(None, "recursive"),
        GitOption::switch(Some(b'f'), "force"),
        GitOption::switch(Some(b'N'), "no-fetch").never_negated(),
        GitOption::switch(None, "checkout").never_negated(),
        GitOption::switch(None, "remote").refused("--remote ..."),
        GitOption::switch(Some(b'm'), "merge").refused("--merge ..."),
        GitOption::switch(Some(b'r'), "rebase").refused("--rebase ..."),
        RECEIVING[0],
        RECEIVING[1],
        RECEIVING[2],
        RECEIVING[3],
        RECEIVING[4],
        RECEIVING[5],
        RECEIVING[6],
        RECEIVING[7],
    ],
};

/// The options of the subcommand `name`, if there is one.
pub fn options(name: &[u8]) -> Option<&'static GitOptions> {
    match name {
        b"" | b"status" => Some(&STATUS),
        b"init" => Some(&INIT),
        b"update" => Some(&UPDATE),
        _ => None,
    }
}

/// Register, update and list submodules
///
/// Git clones and fetches what is not here, several submodules at a time.
#[derive(Debug, Args)]
pub struct Submodule {
    #[command(subcommand)]
    pub action: Option<Action>,
    #[command(flatten)]
    pub status: Status,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List submodules with their commits and states
    Status(StatusOf),
    /// Register submodules in the configuration
    Init(Init),
    /// Check out in each submodule the commit that the index records
    Update(Update),
}

#[derive(Debug, Default, Args)]
pub struct Status {
    /// Show the commits of the index instead of those that are checked out
    #[arg(long)]
    pub cached: bool,
    /// List submodules of submodules, too
    #[arg(long)]
    pub recursive: bool,
}

#[derive(Debug, Args)]
pub struct StatusOf {
    #[command(flatten)]
    pub status: Status,
    /// Only these
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct Init {
    /// Only these
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

#[derive(Debug, Default, Args)]
pub struct Update {
    /// Register new submodules first
    #[arg(short, long)]
    pub init: bool,
    /// Update submodules of submodules, too
    #[arg(long)]
    pub recursive: bool,
    /// Overwrite local changes and untracked files in submodules
    #[arg(short, long)]
    pub force: bool,
    /// Also check out commits that no reference reaches
    #[arg(short = 'N', long)]
    pub no_fetch: bool,
    /// Check out commits regardless of submodule.<name>.update
    #[arg(long)]
    pub checkout: bool,
    #[command(flatten)]
    pub receiving: Receiving,
    #[command(flatten)]
    pub writing: Writing,
    /// Only these
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

pub fn run(command: &Submodule, global: &Global, output: &Output) -> Result<u8, Failure> {
    let before = &command.status;
    match &command.action {
        None => list(before, &[], global, output),
        Some(Action::Status(status)) => {
            let both = Status {
                cached: before.cached || status.status.cached,
                recursive: before.recursive || status.status.recursive,
            };
            list(&both, &status.paths, global, output)
        }
        Some(_) if before.cached || before.recursive => Err(Failure::usage(
            "--cached and --recursive belong to 'submodule status'",
        )),
        Some(Action::Init(init)) => {
            let run = Run::start(&Writing::default(), global, output)?;
            let mut told = |event| match event {
                Registered::Url(line) => output.say(line),
                Registered::Warning(warning) => output.warn(warning),
            };
            init_submodules(&run.repository, &bytes(&init.paths), "".into(), &mut told)?;
            Ok(0)
        }
        Some(Action::Update(command)) => update(command, global, output),
    }
}

fn list(
    status: &Status,
    paths: &[OsString],
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    let run = Run::start(&Writing::default(), global, output)?;
    let options = SubmoduleStatusOptions {
        pathspecs: bytes(paths),
        cached: status.cached,
        recursive: status.recursive,
        unnamed: global.quiet,
        execution: run.execution().clone(),
    };
    let states = submodule_status(&run.repository, &options, &mut |it| output.warn(it))?;
    for line in states.lines.iter().filter(|_| !global.quiet) {
        let mut text = format!("{}{} ", line.state, line.id).into_bytes();
        text.extend_from_slice(&line.path);
        if let Some(name) = &line.name {
            text.extend_from_slice(&[b" (", &name[..], b")"].concat());
        }
        text.push(b'\n');
        output.data(&text);
    }
    match states.failure {
        Some(error) => Err(error.into()),
        None => Ok(0),
    }
}

fn update(command: &Update, global: &Global, output: &Output) -> Result<u8, Failure> {
    command.receiving.check(command.init)?;
    let run = Run::start(&command.writing, global, output)?;
    let how = (run.execution().clone(), run.threshold());
    // Without git, what has to be received is refused.
    let git = assisted_git(None).ok();
    Ok(command.carry_out(&run.repository, git.as_ref(), how, global, output)?)
}

impl Update {
    /// Updates the submodules of `repository`; `git` receives. `how`: the workers, and from how many files
    /// on there are several.
    pub fn carry_out(
        &self,
        repository: &Repository,
        git: Option<&AssistedGit>,
        how: (Execution, Option<u64>),
        global: &Global,
        output: &Output,
    ) -> Result<u8, Error> {
        let receiving = &self.receiving;
        let (execution, threshold) = how;
        let options = SubmoduleUpdateOptions {
            pathspecs: bytes(&self.paths),
            force: self.force,
            checkout: self.checkout,
            no_fetch: self.no_fetch,
            recursive: self.recursive,
            init: self.init || receiving.require_init,
            require_empty: receiving.require_init,
            transport: git.map(|git| receiving.transport(git, global)),
            threshold,
            execution,
        };
        let mut code = 0;
        update_submodules(repository, &options, &mut |event| {
            if let Some(new) = told(event, global, output) {
                code = new;
            }
        })?;
        Ok(code)
    }
}

/// Tells what happened to a submodule; the exit code from now on, if that changes.
fn told(event: UpdateEvent, global: &Global, output: &Output) -> Option<u8> {
    match event {
        UpdateEvent::Registered(_) if global.quiet => {}
        UpdateEvent::Registered(line) | UpdateEvent::Said(line) => output.error_line(line),
        UpdateEvent::Warned(warning) => output.warn(warning),
        UpdateEvent::CheckedOut(shown, id) => {
            let start = b"Submodule path '".as_slice();
            let line = [start, &shown, format!("': checked out '{id}'\n").as_bytes()].concat();
            if !global.quiet {
                output.data(&line);
            }
        }
        UpdateEvent::Failed { shown, id, cause } => {
            let code = failed(cause, global, output);
            output.fatal(format_args!(
                "Unable to checkout '{id}' in submodule path '{shown}'"
            ));
            return Some(code);
        }
        UpdateEvent::NotCloned(path) => {
            output.error_line(format_args!(
                "Failed to clone '{path}' a second time, aborting"
            ));
            return Some(REFUSED);
        }
        UpdateEvent::Refused(error) => {
            output.error(error);
            return Some(REFUSED);
        }
        UpdateEvent::NotRecursed(shown) => output.fatal(format_args!(
            "Failed to recurse into submodule path '{shown}'"
        )),
    }
    None
}

/// What a checkout in a submodule says of its failure, and its exit code.
fn failed(cause: UpdateFailure, global: &Global, output: &Output) -> u8 {
    let switched = match cause {
        UpdateFailure::Switched(switched) => *switched,
        UpdateFailure::Error(error) => {
            output.fatal(error);
            return FATAL;
        }
    };
    let Switched {
        outcome,
        head_failure,
        ..
    } = switched;
    match outcome {
        Outcome::Incomplete(_) => REFUSED,
        Outcome::Rejected(rejects) if rejects.is_empty() => FATAL,
        Outcome::Rejected(rejects) => {
            messages::rejected(&rejects, true, output);
            REFUSED
        }
        Outcome::Unmerged(paths) => {
            for path in paths {
                output.data(&[&path[..], b": needs merge\n"].concat());
            }
            output.error("you need to resolve your current index first");
            REFUSED
        }
        Outcome::Done(done) => {
            warn(&done, output);
            let code = tell(&done, global, Duration::ZERO, output).max(REFUSED);
            if let Some(error) = head_failure {
                output.error(error);
            }
            code
        }
    }
}
