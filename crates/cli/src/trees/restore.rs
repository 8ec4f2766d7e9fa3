//! `hedgerow restore`.

use super::checkout::{side, unmerged};
use super::merge_options::MergeOptions;
use super::pathspec_file::PathspecFile;
use super::recurse_submodules::RecurseSubmodules;
use super::run::{bytes, Run};
use super::writing::Writing;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use bstr::BStr;
use clap::Args;
use hedgerow::checkout::{check_conflict_style, check_pathspecs, PathOptions, Request};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Restore paths of the working tree, or of the index
#[derive(Debug, Args)]
#[command(override_usage = "hedgerow restore [OPTIONS] [--source=<TREE>] <PATHSPEC>...")]
pub struct Restore {
    /// Take the paths from TREE [default: the index; with --staged, HEAD]
    #[arg(short, long, value_name = "TREE")]
    pub source: Option<OsString>,
    /// Restore the index
    #[arg(short = 'S', long)]
    pub staged: bool,
    /// Do not restore the index
    #[arg(long, hide = true)]
    pub no_staged: bool,
    /// Restore the working tree (default without --staged)
    #[arg(short = 'W', long)]
    pub worktree: bool,
    /// Do not restore the working tree
    #[arg(long, hide = true)]
    pub no_worktree: bool,
    /// Skip unmerged paths
    #[arg(long)]
    pub ignore_unmerged: bool,
    /// Keep paths that TREE does not have
    #[arg(long)]
    pub overlay: bool,
    /// Remove matching paths that TREE does not have (default)
    #[arg(long)]
    pub no_overlay: bool,
    /// Check out our version of unmerged paths
    #[arg(short = '2', long, overrides_with = "theirs")]
    pub ours: bool,
    /// Check out their version of unmerged paths
    #[arg(short = '3', long)]
    pub theirs: bool,
    #[command(flatten)]
    pub merge: MergeOptions,
    /// Also restore paths outside the sparse checkout
    #[arg(long)]
    pub ignore_skip_worktree_bits: bool,
    #[command(flatten)]
    pub file: PathspecFile,
    #[command(flatten)]
    pub recurse: RecurseSubmodules,
    #[command(flatten)]
    pub writing: Writing,
    /// The paths to restore
    #[arg(value_name = "PATHSPEC")]
    pub words: Vec<OsString>,
}

pub fn run(command: &Restore, global: &Global, output: &Output) -> Result<u8, Failure> {
    let merging = command.merge.wanted()?;
    let recurse_submodules = command.recurse.wish()?;
    let run = Run::start(&command.writing, global, output)?;
    check_conflict_style(&run.repository)?;
    let says = |yes: bool, no: bool| yes || no;
    let (in_index, in_work_tree) = match (
        says(command.staged, command.no_staged),
        says(command.worktree, command.no_worktree),
    ) {
        (false, false) => (false, true),
        _ => (command.staged, command.worktree),
    };
    let source = command.source.as_ref().map(|it| BStr::new(it.as_bytes()));
    let source = source.or(in_index.then_some("HEAD".into()));
    let mut warn = |it| output.warn(it);
    let tree = source.map(|word| Request::source_tree(&run.repository, word, &mut warn));
    let tree = tree.transpose()?;
    let mut pathspecs = bytes(&command.words);
    check_pathspecs(&run.repository, &pathspecs)?;
    if let Some(listed) = run.listed(&command.file)? {
        if !pathspecs.is_empty() {
            return Err(Failure::fatal(
                "'--pathspec-from-file' and pathspec arguments cannot be used together",
            ));
        }
        check_pathspecs(&run.repository, &listed)?;
        pathspecs = listed;
    }
    if pathspecs.is_empty() {
        return Err(Failure::fatal("you must specify path(s) to restore"));
    }
    let side = side(command.ours, command.theirs);
    let is_merge = merging.is_some();
    refuse_contradictions(command, (in_index, in_work_tree), tree.is_some(), is_merge)?;
    let options = PathOptions {
        pathspecs,
        tree,
        in_work_tree,
        in_index,
        overlay: command.overlay,
        unmerged: unmerged(side, merging, command.ignore_unmerged),
        beyond_sparse: command.ignore_skip_worktree_bits,
        recurse_submodules,
        ..PathOptions::default()
    };
    let code = run.paths(options, false)?;
    run.statistics()?;
    Ok(code)
}

/// Refuses options that cannot be used together.
fn refuse_contradictions(
    command: &Restore,
    (in_index, in_work_tree): (bool, bool),
    has_tree: bool,
    is_merge: bool,
) -> Result<(), Failure> {
    let takes_side = command.ours || command.theirs;
    let reason = if takes_side && is_merge {
        "git checkout: --ours/--theirs, --force and --merge are incompatible when\n\
         checking out of the index."
    } else if is_merge && command.ignore_unmerged {
        "options '--ignore-unmerged' and '-m' cannot be used together"
    } else if !in_work_tree && !in_index {
        "neither '--staged' or '--worktree' is specified"
    } else if takes_side && in_index {
        "'--ours' or '--theirs' cannot be used with --staged"
    } else if is_merge && in_index {
        "'--merge' or '--conflict' cannot be used with --staged"
    } else if (takes_side || is_merge) && has_tree {
        "'--merge', '--ours', or '--theirs' cannot be used when checking out of a tree"
    } else {
        return Ok(());
    };
    Err(Failure::fatal(reason))
}
