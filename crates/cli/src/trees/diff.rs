//! `hedgerow diff-files` and `hedgerow diff-index`: lists of differences, as git's plumbing prints
//! them.

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use crate::trees::diff_shown::{Settings, ShownDifferences};
use bstr::{BString, ByteSlice};
use clap::Args;
use hedgerow::checkout_index::Stage as ConflictStage;
use hedgerow::diff::{pairs_of, show, supply_contents, Detection, FileContents, Formats, Listing};
use hedgerow::repository::{Error, Repository};
use hedgerow::status::{
    ignored_in_submodules, index_differences, tree_differences, DifferenceOptions, Differences,
    IgnoreSubmodules,
};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// List the differences between the index and the working tree
#[derive(Debug, Args)]
pub struct DiffFiles {
    #[command(flatten)]
    pub shown: ShownDifferences,
    /// Tell of a path in conflict only that it is
    #[arg(short = '0', long, overrides_with_all = ["base", "ours", "theirs"])]
    pub unmerged: bool,
    /// Compare files in conflict with their common base
    #[arg(short = '1', long, overrides_with_all = ["ours", "theirs"])]
    pub base: bool,
    /// Compare files in conflict with our side
    #[arg(short = '2', long, overrides_with = "theirs")]
    pub ours: bool,
    /// Compare files in conflict with the other side
    #[arg(short = '3', long)]
    pub theirs: bool,
    /// Compare only these paths
    #[arg(value_name = "PATHSPEC")]
    pub words: Vec<OsString>,
}

/// List the differences between a tree and the working tree or the index
#[derive(Debug, Args)]
pub struct DiffIndex {
    #[command(flatten)]
    pub shown: ShownDifferences,
    /// Compare the index, not the working tree
    #[arg(long)]
    pub cached: bool,
    /// Treat missing files as unchanged
    #[arg(short = 'm', alias = "match-missing")]
    pub match_missing: bool,
    /// A tree, then paths to compare
    #[arg(value_name = "TREE-ISH|PATHSPEC")]
    pub words: Vec<OsString>,
}

pub fn run_files(command: &DiffFiles, global: &Global, output: &Output) -> Result<u8, Failure> {
    let run = Run::start("diff-files", &command.shown, global, output)?;
    let paths = run.paths(&command.words, false)?;
    let side = [
        (command.unmerged, ConflictStage::Merged),
        (command.base, ConflictStage::Base),
        (command.ours, ConflictStage::Ours),
        (command.theirs, ConflictStage::Theirs),
    ];
    let mut options = run.options(paths)?;
    let mut given = side.into_iter().filter(|(is_given, _)| *is_given);
    options.side = given.next().map(|(_, side)| side);
    let found = index_differences(&run.repository, &options)?;
    let is_combined = run.formats.patch && options.side.is_none();
    if let Some(pair) = found
        .list
        .iter()
        .find(|it| it.has_both_sides && is_combined)
    {
        return Err(Failure {
            hint: Some("git has it: git diff-files -p".to_owned()),
            ..Failure::usage(format_args!(
                "'{}' is in conflict; no combined patch here",
                pair.path
            ))
        });
    }
    run.tell(found, true)
}

pub fn run_index(command: &DiffIndex, global: &Global, output: &Output) -> Result<u8, Failure> {
    let run = Run::start("diff-index", &command.shown, global, output)?;
    let words = command
        .words
        .split_first()
        .filter(|(word, _)| *word != "--");
    let Some((word, words)) = words else {
        return Err(Failure::usage(
            "a tree is missing; see 'hedgerow diff-index --help'",
        ));
    };
    let name = word.as_bytes().as_bstr();
    let is_separated = words.iter().any(|word| word == "--");
    let is_file = !is_separated && run.repository.names_file(name)?;
    let tree = match run.repository.resolve_tree(name) {
        Ok(_) if is_file => {
            return Err(Failure::fatal(format_args!(
                "ambiguous argument '{name}': both revision and filename\n{SEPARATE}"
            )));
        }
        Ok(tree) => tree,
        Err(Error::Revision { .. }) if is_file => {
            return Err(Failure::usage(format_args!(
                "a tree is missing before the path '{name}'"
            )));
        }
        Err(Error::Revision { .. }) if !is_separated => {
            return Err(run.ambiguous(word));
        }
        Err(Error::Revision { .. }) => {
            return Err(Failure::fatal(format_args!("bad revision '{name}'")));
        }
        Err(error) => return Err(error.into()),
    };
    let options = DifferenceOptions {
        cached: command.cached,
        match_missing: command.match_missing,
        lists_trees: run.formats.only_lists(),
        ..run.options(run.paths(words, true)?)?
    };
    let found = tree_differences(&run.repository, tree, &options)?;
    run.tell(found, !command.cached)
}

/// How paths and revisions are told apart.
const SEPARATE: &str = "Use '--' to separate paths from revisions, like this:
'git <command> [<revision>...] -- [<file>...]'";

/// State shared by the steps of a command.
struct Run<'a> {
    name: &'static str,
    shown: &'a ShownDifferences,
    global: &'a Global,
    output: &'a Output,
    repository: Repository,
    execution: hedgerow::Execution,
    formats: Formats,
}

impl<'a> Run<'a> {
    fn start(
        name: &'static str,
        shown: &'a ShownDifferences,
        global: &'a Global,
        output: &'a Output,
    ) -> Result<Self, Failure> {
        let formats = shown.formats()?.unwrap_or(Formats {
            listing: Some(Listing::Raw),
            ..Formats::default()
        });
        let execution = execution::interruptible(global)?;
        let repository = environment::repository(&environment::of_git(global)?, output)?;
        Ok(Run {
            name,
            shown,
            global,
            output,
            repository,
            execution,
            formats: if global.quiet {
                Formats::default()
            } else {
                formats
            },
        })
    }

    fn options(&self, pathspecs: Vec<BString>) -> Result<DifferenceOptions, Failure> {
        let when = self.shown.ignore_submodules.as_ref();
        let when: Option<IgnoreSubmodules> = when
            .map(|when| ignored_in_submodules(when.as_bytes().as_bstr()))
            .transpose()?;
        Ok(DifferenceOptions {
            ignore_submodules: when,
            pathspecs,
            execution: self.execution.clone(),
            ..DifferenceOptions::default()
        })
    }

    /// The pathspecs among the words. Before a `--`, each must be there or have a wildcard.
    fn paths(&self, words: &[OsString], after_tree: bool) -> Result<Vec<BString>, Failure> {
        let separator = words.iter().position(|word| word == "--");
        let (before, after) = match separator {
            Some(at) => (&words[..at], &words[at + 1..]),
            None => (words, &[][..]),
        };
        if let (Some(_), [word, ..]) = (separator, before) {
            let word = word.as_bytes().as_bstr();
            return Err(if after_tree {
                Failure::usage(format_args!("more than one tree: '{word}'"))
            } else {
                Failure::usage(format_args!("no revision is taken here: '{word}'"))
            });
        }
        for (number, word) in before.iter().enumerate() {
            if self.repository.names_pathspec(word.as_bytes().as_bstr())? {
                continue;
            }
            return Err(if number == 0 {
                self.ambiguous(word)
            } else {
                Failure::fatal(format_args!(
                    "{}: no such path in the working tree.\nUse 'git <command> -- <path>...' to \
                     specify paths that do not exist locally.",
                    word.as_bytes().as_bstr()
                ))
            });
        }
        let paths = before.iter().chain(after);
        Ok(paths.map(|word| word.as_bytes().into()).collect())
    }

    fn ambiguous(&self, word: &OsString) -> Failure {
        let word = word.as_bytes().as_bstr();
        Failure::fatal(format_args!(
            "ambiguous argument '{word}': unknown revision or path not in the working \
             tree.\n{SEPARATE}"
        ))
    }

    /// Shows what was found; `in_files`: contents may be in the working tree.
    fn tell(&self, found: Differences, in_files: bool) -> Result<u8, Failure> {
        found.warnings.iter().for_each(|it| self.output.warn(it));
        found.failures.iter().for_each(|it| self.output.error(it));
        let (repository, execution) = (&self.repository, &self.execution);
        let settings = Settings::Plumbing;
        let mut options =
            self.shown
                .options(repository, self.formats, settings, self.global, execution)?;
        if self.global.quiet {
            options.renames.detection = Detection::Off;
        }
        let pairs = pairs_of(&found.list);
        supply_contents(repository, &pairs, &options)?;
        let reads = self.formats.reads_contents() || options.renames.detection != Detection::Off;
        let contents = if in_files && reads {
            FileContents::of_working_tree(repository, &found.list, execution)?
        } else {
            FileContents::of_objects(repository)
        };
        let mut sink = |text: &[u8]| self.output.data(text);
        let differs = show(repository, pairs, &contents, &options, &mut sink)?;
        statistics::tell(self.global, execution, self.output)?;
        let tells = self.shown.exit_code || self.global.quiet;
        if !found.failures.is_empty() {
            return Err(Failure::fatal(format_args!(
                "'hedgerow {}' could not examine all files",
                self.name
            )));
        }
        Ok(if tells && differs { REFUSED } else { 0 })
    }
}
