//! `hedgerow switch`.

use super::branch_options::BranchOptions;
use super::merge_options::MergeOptions;
use super::recurse_submodules::RecurseSubmodules;
use super::run::{bytes, Run, Switching};
use super::writing::Writing;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use clap::Args;
use hedgerow::checkout::{Form, Request, RequestOptions, Share, StartKind};
use std::ffi::OsString;

/// Switch to a branch
#[derive(Debug, Args)]
#[command(override_usage = "hedgerow switch [OPTIONS] <BRANCH>\n       \
    hedgerow switch [OPTIONS] --detach [REVISION]\n       \
    hedgerow switch [OPTIONS] -c|-C <BRANCH> [REVISION]\n       \
    hedgerow switch [OPTIONS] --orphan <BRANCH>")]
pub struct Switch {
    /// Create a branch at the revision and switch to it
    #[arg(short, long, value_name = "BRANCH")]
    pub create: Option<OsString>,
    /// Like --create, but reset the branch if it exists
    #[arg(long, value_name = "BRANCH")]
    pub force_create: Option<OsString>,
    /// Overwrite local changes and untracked files
    #[arg(short, long)]
    pub force: bool,
    /// Overwrite local changes, but no untracked files
    #[arg(long)]
    pub discard_changes: bool,
    #[command(flatten)]
    pub merge: MergeOptions,
    #[command(flatten)]
    pub branch: BranchOptions,
    #[command(flatten)]
    pub recurse: RecurseSubmodules,
    #[command(flatten)]
    pub writing: Writing,
    /// A branch; with --detach or a new branch, a revision
    #[arg(value_name = "BRANCH|REVISION")]
    pub words: Vec<OsString>,
}

pub fn run(command: &Switch, global: &Global, output: &Output) -> Result<u8, Failure> {
    let branch = command.branch.started([
        ("-c", StartKind::Create, &command.create),
        ("-C", StartKind::Reset, &command.force_create),
    ])?;
    let discard_changes = command.force || command.discard_changes;
    let merging = command.merge.wanted()?;
    let recurse_submodules = command.recurse.wish()?;
    let run = Run::start(&command.writing, global, output)?;
    let options = RequestOptions {
        branch,
        force: command.force,
        discard_changes,
        merge: merging.is_some(),
        only_branch: true,
        ..command.branch.request(Form::Switch)
    };
    let words = bytes(&command.words);
    let Request::Switch(target) = command.branch.parsed(&run, &words, &options)? else {
        return Err(Failure::fatal("switch takes no paths"));
    };
    let code = run.switch(
        &target,
        Switching {
            discard_changes,
            overwrite_untracked: command.force,
            keep_ignored: command.branch.no_overwrite_ignore,
            detach: command.branch.detach,
            recurse_submodules,
            merging,
            share: Share::All,
        },
    )?;
    run.statistics()?;
    Ok(code)
}
