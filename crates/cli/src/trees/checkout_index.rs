//! `hedgerow checkout-index`: git-checkout-index(1).

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::git_options::{GitOption, GitOptions};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::trees::pathspec_file;
use crate::trees::writing::{tell, warn, workers, Writing};
use bstr::BString;
use clap::Args;
use hedgerow::checkout_index::{
    checkout_index, CheckedOut, CheckoutIndexOptions, Selection, Stage as ConflictStage,
};
use hedgerow::display::PathStyle;
use hedgerow::repository::Repository;
use hedgerow::Stage;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

pub const OPTIONS: GitOptions = GitOptions {
    command: "checkout-index",
    keeps_separator: false,
    options: &[
        GitOption::switch(Some(b'a'), "all"),
        GitOption::switch(None, "ignore-skip-worktree-bits"),
        GitOption::switch(Some(b'f'), "force"),
        GitOption::switch(Some(b'n'), "no-create"),
        GitOption::switch(Some(b'u'), "index"),
        GitOption::letter(b'z', "null"),
        GitOption::switch(None, "stdin"),
        GitOption::switch(None, "temp").or_not(),
        GitOption::switch(None, "prefix").with_value(),
        GitOption::switch(None, "stage")
            .never_negated()
            .with_checked_value(|word| stage(word).map(drop)),
    ],
};

/// Copy files from the index to the working tree or elsewhere
#[derive(Debug, Args)]
#[command(override_usage = "hedgerow checkout-index [OPTIONS] [--] [FILE]...")]
pub struct CheckoutIndex {
    /// Copy all files of the index that are below the current directory
    #[arg(short, long)]
    pub all: bool,
    /// Copy files outside the sparse checkout, too
    #[arg(long)]
    pub ignore_skip_worktree_bits: bool,
    /// Overwrite existing files
    #[arg(short, long)]
    pub force: bool,
    /// Write only files that exist already
    #[arg(short, long)]
    pub no_create: bool,
    /// Update the stat data of the files in the index
    #[arg(short = 'u', long)]
    pub index: bool,
    /// Paths on standard input and in the output end with NUL
    #[arg(short = 'z', long = "null")]
    pub null: bool,
    /// Read paths from standard input
    #[arg(long)]
    pub stdin: bool,
    /// Write to temporary files, and print their names
    #[arg(long)]
    pub temp: bool,
    /// Do not write to temporary files
    #[arg(long)]
    pub no_temp: bool,
    /// Prepend STRING to all paths; usually a directory with a slash at its end
    #[arg(long, value_name = "STRING")]
    pub prefix: Option<OsString>,
    /// Copy this stage of unmerged files: 1, 2, 3, or all (to temporary files)
    #[arg(long, value_name = "1|2|3|all")]
    pub stage: Option<OsString>,
    #[command(flatten)]
    pub writing: Writing,
    /// Files of the index
    #[arg(value_name = "FILE")]
    pub files: Vec<OsString>,
}

pub fn run(command: &CheckoutIndex, global: &Global, output: &Output) -> Result<u8, Failure> {
    let started = Instant::now();
    let execution = execution::configurable(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    repository.require_work_tree()?;
    let stage = command.stage.as_deref().map(stage).transpose()?;
    let stage = stage.unwrap_or(Some(ConflictStage::Merged));
    let temporary = command.temp || stage.is_none() && !command.no_temp;
    if !temporary && stage.is_none() {
        return Err(Failure::fatal(
            "options '--stage=all' and '--no-temp' cannot be used together",
        ));
    }
    let (execution, threshold) = workers(&repository, &command.writing, global, execution);
    let prefix = command.prefix.as_ref();
    let options = CheckoutIndexOptions {
        selection: selection(command)?,
        stage,
        temporary,
        force: command.force,
        no_create: command.no_create,
        update_index: command.index,
        prefix: prefix.map(|it| it.as_bytes().into()).unwrap_or_default(),
        with_skipped: command.ignore_skip_worktree_bits,
        threshold,
        execution,
    };
    let progress = &options.execution.progress;
    let meter = Meter::of_our_own(global, "Updating files", progress, Stage::Files);
    let copied = checkout_index(&repository, &options)?;
    drop(meter);
    tell_temporary(&copied, &repository, command, output);
    let is_told = |remark: &&String| !global.quiet || remark.starts_with("error: ");
    let remarks = copied.remarks.iter().filter(is_told);
    remarks.for_each(|remark| output.error_line(remark));
    warn(&copied.done, output);
    let code = tell(&copied.done, global, started.elapsed(), output);
    statistics::tell(global, &options.execution, output)?;
    Ok(if copied.remarks.is_empty() {
        code
    } else {
        code.max(REFUSED)
    })
}

/// The value of `--stage`; `None` for all.
fn stage(word: &OsStr) -> Result<Option<ConflictStage>, Failure> {
    match word.as_bytes() {
        b"all" => Ok(None),
        [b'1', ..] => Ok(Some(ConflictStage::Base)),
        [b'2', ..] => Ok(Some(ConflictStage::Ours)),
        [b'3', ..] => Ok(Some(ConflictStage::Theirs)),
        _ => Err(Failure::fatal("stage should be between 1 and 3 or all")),
    }
}

fn selection(command: &CheckoutIndex) -> Result<Selection, Failure> {
    let mixed = |words: &str| {
        let message = format!("git checkout-index: don't mix {words}");
        Err(Failure::fatal(message))
    };
    match (command.all, command.stdin, command.files.is_empty()) {
        (true, _, false) => mixed("'--all' and explicit filenames"),
        (_, true, false) => mixed("'--stdin' and explicit filenames"),
        (true, true, true) => mixed("'--all' and '--stdin'"),
        (true, false, true) => Ok(Selection::All),
        (false, true, true) => {
            let content = pathspec_file::standard_input()?;
            let paths = pathspec_file::paths(&content, command.null)?;
            Ok(Selection::Paths(paths))
        }
        (false, false, _) => {
            let files = command.files.iter().map(|file| file.as_bytes().into());
            Ok(Selection::Paths(files.collect()))
        }
    }
}

/// Prints the names of temporary files, and the paths that they are for.
fn tell_temporary(
    copied: &CheckedOut,
    repository: &Repository,
    command: &CheckoutIndex,
    output: &Output,
) {
    let style = PathStyle {
        prefix: repository.prefix(),
        high: repository.settings().quote_path,
    };
    let none = BString::from(".");
    for temporary in &copied.temporary {
        let files = temporary.files.iter();
        let files = files.map(|file| file.as_ref().unwrap_or(&none).as_slice());
        let mut line = files.collect::<Vec<_>>().join(&b" "[..]);
        line.push(b'\t');
        if command.null {
            line.extend_from_slice(&style.relative(&temporary.path));
            line.push(0);
        } else {
            line.extend_from_slice(&style.path(&temporary.path));
            line.push(b'\n');
        }
        output.data(&line);
    }
}
