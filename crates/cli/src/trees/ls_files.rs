//! `hedgerow ls-files`: lists files as git does.

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use crate::trees::messages;
use crate::trees::object_names::digits;
use bstr::{BString, ByteSlice};
use clap::Args;
use hedgerow::diff::Digits;
use hedgerow::display::PathStyle;
use hedgerow::listing::{list, shows_line_ends, LineEndReader, Lines, Options};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// List files in the index and the working tree
///
/// Lists the files in the index unless options select others.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct LsFiles {
    /// List the files in the index
    #[arg(short, long)]
    pub cached: bool,
    /// List tracked files that are missing
    #[arg(short, long)]
    pub deleted: bool,
    /// List modified files
    #[arg(short, long)]
    pub modified: bool,
    /// List untracked files
    #[arg(short, long)]
    pub others: bool,
    /// List only ignored files; needs -o or -c, and patterns
    #[arg(short, long)]
    pub ignored: bool,
    /// Show modes, object ids and stages
    #[arg(short, long)]
    pub stage: bool,
    /// List untracked files that are in the way of tracked files
    #[arg(short, long)]
    pub killed: bool,
    /// List unmerged files with their stages
    #[arg(short, long)]
    pub unmerged: bool,
    /// List the sides of resolved conflicts
    #[arg(long)]
    pub resolve_undo: bool,
    /// List an untracked directory as one path
    #[arg(long = "directory")]
    pub directories: bool,
    /// Do not list empty untracked directories
    #[arg(long)]
    pub no_empty_directory: bool,
    /// Show a status letter for each file
    #[arg(short = 't', alias = "tags")]
    pub tags: bool,
    /// (-v) Show it in lower case if the file is assumed unchanged
    #[arg(long)]
    pub mark_assumed: bool,
    /// Show it in lower case if a file system monitor vouches for the file
    #[arg(short = 'f', alias = "mark-monitored")]
    pub mark_monitored: bool,
    /// End paths with NUL instead of a newline, and do not quote them
    #[arg(short = 'z', alias = "null")]
    pub null: bool,
    /// Ignore files that match PATTERN
    #[arg(short = 'x', long, value_name = "PATTERN", action = clap::ArgAction::Append)]
    pub exclude: Vec<OsString>,
    /// Read ignore patterns from FILE
    #[arg(short = 'X', long, value_name = "FILE", action = clap::ArgAction::Append)]
    pub exclude_from: Vec<PathBuf>,
    /// Read ignore patterns from the file with this name in each directory
    #[arg(long, value_name = "NAME")]
    pub exclude_per_directory: Option<OsString>,
    /// Use git's standard ignore files
    #[arg(long)]
    pub exclude_standard: bool,
    /// Show paths from the top of the working tree
    #[arg(long)]
    pub full_name: bool,
    /// Fail if a pathspec matches nothing
    #[arg(long)]
    pub error_unmatch: bool,
    /// Show at least N digits of object ids
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub abbrev: Option<Option<OsString>>,
    /// List each path once
    #[arg(long)]
    pub deduplicate: bool,
    /// List directories of a sparse index in place of their files
    #[arg(long)]
    pub sparse: bool,
    /// Show how the lines of each file end, in index and working tree, and the attributes about it
    #[arg(long)]
    pub eol: bool,
    /// Show each file of the index in FORMAT: %(objectmode), %(objecttype), %(objectname),
    /// %(objectsize), %(stage), %(eolinfo:index), %(eolinfo:worktree), %(eolattr), %(path), %n, %xNN
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<OsString>,
    /// List only these paths
    #[arg(value_name = "PATHSPEC")]
    pub paths: Vec<OsString>,
}

pub fn run(command: &LsFiles, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    let shows_tags = command.tags;
    let contradicts = command.stage
        || command.others
        || command.killed
        || command.resolve_undo
        || command.deduplicate
        || command.eol
        || shows_tags;
    if command.format.is_some() && contradicts {
        return Err(Failure::usage(
            "--format cannot be used with -s, -o, -k, -t, --resolve-undo, --deduplicate, --eol",
        ));
    }
    let has_form = command.null || shows_tags || command.mark_assumed || command.mark_monitored;
    if global.json && (has_form || command.format.is_some() || command.abbrev.is_some()) {
        let words = "--json has lines of its own: it takes no -z, -t, -v, -f, --format, --abbrev";
        return Err(Failure::usage(words));
    }
    let digits = match &command.abbrev {
        None => Digits::All,
        Some(value) => digits(value.as_deref())?,
    };
    let options = options(command, execution);
    let format = command
        .format
        .as_ref()
        .map(|text| text.as_bytes().as_bstr());
    let listed = list(&repository, &options)?;
    listed.warnings.iter().for_each(|text| output.warn(text));
    listed.failures.iter().for_each(|text| output.error(text));
    let shows_ends = format.map_or(command.eol, shows_line_ends);
    let line_ends = if shows_ends {
        let (reader, warnings) = LineEndReader::new(&repository, &listed, &options.execution)?;
        warnings.iter().for_each(|text| output.warn(text));
        Some(reader)
    } else {
        None
    };
    let prefix = repository.prefix();
    let lines = Lines {
        repository: &repository,
        style: PathStyle {
            prefix: if command.full_name { b"" } else { prefix },
            high: repository.settings().quote_path,
        },
        null: command.null,
        tags: shows_tags || command.mark_assumed || command.mark_monitored,
        mark_assumed: command.mark_assumed,
        mark_monitored: command.mark_monitored,
        stage: command.stage || command.unmerged,
        line_ends,
        digits,
    };
    output.data(&if global.json {
        lines.documents(&listed)
    } else {
        lines.text(&listed, format)?
    });
    statistics::tell(global, &options.execution, output)?;
    if listed.unmatched.is_empty() {
        return Ok(if listed.failures.is_empty() {
            0
        } else {
            REFUSED
        });
    }
    for spec in &listed.unmatched {
        output.error(messages::unknown(spec.as_bstr()));
    }
    output.error_line("Did you forget to 'git add'?");
    Ok(REFUSED)
}

fn options(command: &LsFiles, execution: hedgerow::Execution) -> Options {
    let words = |words: &[OsString]| -> Vec<BString> {
        let words = words.iter().map(|word| word.as_bytes().into());
        words.collect()
    };
    let name = command.exclude_per_directory.as_ref();
    Options {
        cached: command.cached,
        deleted: command.deleted,
        modified: command.modified,
        others: command.others,
        killed: command.killed,
        stage: command.stage,
        unmerged: command.unmerged,
        resolve_undo: command.resolve_undo,
        ignored: command.ignored,
        directory: command.directories,
        no_empty_directory: command.no_empty_directory,
        deduplicate: command.deduplicate && !command.tags && !command.stage && !command.unmerged,
        sparse: command.sparse,
        asks_monitor: command.mark_monitored,
        error_unmatch: command.error_unmatch,
        excludes: words(&command.exclude),
        exclude_from: command.exclude_from.clone(),
        exclude_per_directory: name.map(|name| name.as_bytes().into()),
        exclude_standard: command.exclude_standard,
        pathspecs: words(&command.paths),
        execution,
    }
}
