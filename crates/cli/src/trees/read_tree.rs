//! `hedgerow read-tree`: git-read-tree(1).

use crate::environment;
use crate::execution;
use crate::failure::{Failure, FATAL};
use crate::git_options::{GitOption, GitOptions};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::trees::recurse_submodules::{RecurseSubmodules, RECURSE_SUBMODULES};
use crate::trees::writing::{rejected, tell, warn, workers, Writing};
use bstr::ByteSlice;
use clap::Args;
use hedgerow::read_tree::{read_tree, ReadTreeMode, ReadTreeOptions, ReadTreeOutcome};
use hedgerow::repository::{IndexPaths, Repository, Wanted};
use hedgerow::{ObjectId, Stage};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

pub const OPTIONS: GitOptions = GitOptions {
    command: "read-tree",
    keeps_separator: false,
    options: &[
        GitOption::switch(None, "index-output")
            .never_negated()
            .with_value(),
        GitOption::switch(None, "empty"),
        GitOption::letter(b'm', "merge"),
        GitOption::switch(None, "trivial"),
        GitOption::switch(None, "aggressive"),
        GitOption::switch(None, "reset"),
        GitOption::switch(None, "prefix")
            .never_negated()
            .with_value(),
        GitOption::letter(b'u', "update"),
        GitOption::switch(None, "exclude-per-directory")
            .never_negated()
            .with_value(),
        GitOption::letter(b'i', "index-only"),
        GitOption::switch(Some(b'n'), "dry-run"),
        GitOption::switch(None, "sparse-checkout").or_not(),
        GitOption::switch(None, "debug-unpack").refused("--debug-unpack <tree-ish>"),
        RECURSE_SUBMODULES,
    ],
};

/// Read trees into the index, with or without a merge
#[derive(Debug, Args)]
#[command(
    override_usage = "hedgerow read-tree [-m [--trivial] [--aggressive] | --reset] [-u | -i] \
    [OPTIONS] TREE-ISH...\n       hedgerow read-tree --prefix=DIRECTORY [-u | -i] [OPTIONS] TREE-ISH...\n       \
    hedgerow read-tree --empty"
)]
pub struct ReadTree {
    /// Empty the index
    #[arg(long)]
    pub empty: bool,
    /// Merge one, two or three trees with the index
    #[arg(short = 'm', long = "merge")]
    pub merge: bool,
    /// Like -m, but discard conflicts, local changes and untracked files
    #[arg(long)]
    pub reset: bool,
    /// Read the tree into the index under DIRECTORY
    #[arg(long, value_name = "DIRECTORY")]
    pub prefix: Option<OsString>,
    /// Update the working tree with the result
    #[arg(short = 'u', long = "update")]
    pub update: bool,
    /// Ignore the working tree
    #[arg(short = 'i', long = "index-only")]
    pub index_only: bool,
    /// Merge three trees only if no conflict is left
    #[arg(long)]
    pub trivial: bool,
    /// Resolve deletions in a merge of three trees
    #[arg(long)]
    pub aggressive: bool,
    /// Change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Write the index to FILE
    #[arg(long, value_name = "FILE")]
    pub index_output: Option<OsString>,
    /// Apply the patterns of a sparse checkout (default)
    #[arg(long)]
    pub sparse_checkout: bool,
    /// Do not apply the patterns of a sparse checkout
    #[arg(long)]
    pub no_sparse_checkout: bool,
    /// No effect: ignored files are always overwritten
    #[arg(long, value_name = "GITIGNORE")]
    pub exclude_per_directory: Vec<OsString>,
    #[command(flatten)]
    pub recurse: RecurseSubmodules,
    #[command(flatten)]
    pub writing: Writing,
    /// Trees, or revisions that lead to trees
    #[arg(value_name = "TREE-ISH")]
    pub trees: Vec<OsString>,
}

pub fn run(command: &ReadTree, global: &Global, output: &Output) -> Result<u8, Failure> {
    let started = Instant::now();
    refuse(command)?;
    let recurse_submodules = command.recurse.wish()?;
    let execution = execution::configurable(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    let mode = match (&command.prefix, command.merge, command.reset) {
        (Some(prefix), ..) => ReadTreeMode::Prefix(prefix.as_bytes().into()),
        (None, true, _) => ReadTreeMode::Merge,
        (None, _, true) => ReadTreeMode::Reset,
        (None, false, false) => ReadTreeMode::Plain,
    };
    let trees = command.trees.iter();
    let trees: Vec<ObjectId> = trees
        .map(|word| tree(&repository, word, output))
        .collect::<Result<_, _>>()?;
    if trees.is_empty() && !command.empty && mode == ReadTreeMode::Plain {
        output.warn("read-tree: emptying the index with no arguments is deprecated; use --empty");
    } else if command.empty && !trees.is_empty() {
        let message = "passing trees as arguments contradicts --empty";
        return Err(Failure::fatal(message));
    }
    let (execution, threshold) = workers(&repository, &command.writing, global, execution);
    let options = ReadTreeOptions {
        trees,
        mode,
        update: command.update,
        index_only: command.index_only,
        trivial: command.trivial,
        aggressive: command.aggressive,
        dry_run: command.dry_run,
        recurse_submodules,
        no_sparse_checkout: command.no_sparse_checkout,
        index_output: command.index_output.as_ref().map(Into::into),
        threshold,
        execution,
        ..ReadTreeOptions::default()
    };
    let progress = &options.execution.progress;
    let meter = Meter::start(global, "Updating files", progress, Stage::Files);
    let outcome = read_tree(&repository, &options)?;
    drop(meter);
    let code = match outcome {
        ReadTreeOutcome::Done(done) => {
            warn(&done, output);
            tell(&done, global, started.elapsed(), output)
        }
        ReadTreeOutcome::Incomplete(done) => {
            warn(&done, output);
            tell(&done, global, started.elapsed(), output);
            FATAL
        }
        ReadTreeOutcome::Rejected(rejects) => {
            if !global.quiet {
                rejected(&rejects, output);
            }
            FATAL
        }
        ReadTreeOutcome::NotTrivial => {
            if !global.quiet {
                output.error("Merge requires file-level merging");
            }
            FATAL
        }
        ReadTreeOutcome::Overlap(path) => {
            if !global.quiet {
                let reason = format_args!("Entry '{path}' overlaps with '{path}'.  Cannot bind.");
                output.error(reason);
            }
            FATAL
        }
    };
    statistics::tell(global, &options.execution, output)?;
    Ok(code)
}

/// Refuses words that contradict each other.
fn refuse(command: &ReadTree) -> Result<(), Failure> {
    for pattern in &command.exclude_per_directory {
        if !command.update {
            let message = "--exclude-per-directory is meaningless unless -u";
            return Err(Failure::fatal(message));
        }
        if pattern != ".gitignore" {
            let message = "--exclude-per-directory argument must be .gitignore";
            return Err(Failure::fatal(message));
        }
    }
    let modes = [command.merge, command.reset, command.prefix.is_some()];
    if modes.iter().filter(|is_given| **is_given).count() > 1 {
        return Err(Failure::fatal("Which one? -m, --reset, or --prefix?"));
    }
    let prefix = command.prefix.as_ref();
    if prefix.is_some_and(|prefix| prefix.as_bytes().starts_with(b"/")) {
        let message = "Invalid prefix, prefix cannot start with '/'";
        return Err(Failure::fatal(message));
    }
    Ok(())
}

/// The tree that a word leads to.
fn tree(repository: &Repository, word: &OsStr, output: &Output) -> Result<ObjectId, Failure> {
    let shown = word.as_bytes().as_bstr();
    let paths = IndexPaths::new(repository);
    let index = |path: &bstr::BStr, stage| paths.find(path, stage);
    let found = repository.resolve_if_named(shown, Wanted::Any, Some(&index))?;
    let found =
        found.ok_or_else(|| Failure::fatal(format_args!("Not a valid object name {shown}")))?;
    found.warnings.iter().for_each(|it| output.warn(it));
    match repository.tree_of(&found.id) {
        Ok(Some(id)) => Ok(id),
        _ => {
            let message = format_args!("failed to unpack tree object {shown}");
            Err(Failure::fatal(message))
        }
    }
}
