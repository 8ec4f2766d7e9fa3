//! `hedgerow diff-files` and `hedgerow diff-index`: lists of differences, as git's plumbing prints
//! them.

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use crate::trees::object_names::Digits;
use bstr::{BString, ByteSlice};
use clap::Args;
use hedgerow::display::quoted;
use hedgerow::repository::{Error, Repository};
use hedgerow::status::{
    ignored_in_submodules, index_differences, tree_differences, Difference, DifferenceOptions,
    DifferenceSide, Differences, IgnoreSubmodules,
};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// List the differences between the index and the working tree
#[derive(Debug, Args)]
pub struct DiffFiles {
    #[command(flatten)]
    pub shown: ShownDifferences,
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

/// What is shown of differences.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct ShownDifferences {
    /// Exit with 1 if there are differences
    #[arg(long)]
    pub exit_code: bool,
    /// Show only paths
    #[arg(long)]
    pub name_only: bool,
    /// Show paths, and a letter for the kind of each difference
    #[arg(long)]
    pub name_status: bool,
    /// Show modes, objects, kinds and paths (default)
    #[arg(long)]
    pub raw: bool,
    /// End paths with NUL instead of a newline, and do not quote them
    #[arg(short = 'z', alias = "null")]
    pub null: bool,
    /// Swap the sides
    #[arg(short = 'R', alias = "reverse")]
    pub reverse: bool,
    /// Show only differences of these kinds (A, D, M, T, U); lower case excludes them
    #[arg(long, value_name = "KINDS")]
    pub diff_filter: Option<OsString>,
    /// Show at least N digits of object ids
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub abbrev: Option<Option<OsString>>,
    /// Show full object ids
    #[arg(long)]
    pub no_abbrev: bool,
    /// Which submodule changes to ignore: none, untracked, dirty or all; without WHEN, all
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "all")]
    pub ignore_submodules: Option<OsString>,
}

pub fn run_files(command: &DiffFiles, global: &Global, output: &Output) -> Result<u8, Failure> {
    let run = Run::start("diff-files", &command.shown, global, output)?;
    let paths = run.paths(&command.words, false)?;
    let options = run.options(paths)?;
    let found = index_differences(&run.repository, &options)?;
    run.tell(found, &options)
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
    let tree = match run.repository.resolve_tree(name) {
        Ok(tree) => tree,
        Err(Error::Revision { .. }) if !words.iter().any(|word| word == "--") => {
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
        ..run.options(run.paths(words, true)?)?
    };
    let found = tree_differences(&run.repository, tree, &options)?;
    run.tell(found, &options)
}

/// State shared by the steps of a command.
struct Run<'a> {
    name: &'static str,
    shown: &'a ShownDifferences,
    global: &'a Global,
    output: &'a Output,
    repository: Repository,
    execution: hedgerow::Execution,
    filter: Filter,
    digits: Digits,
}

impl<'a> Run<'a> {
    fn start(
        name: &'static str,
        shown: &'a ShownDifferences,
        global: &'a Global,
        output: &'a Output,
    ) -> Result<Self, Failure> {
        if shown.name_only && shown.name_status {
            return Err(Failure::fatal(
                "options '--name-only', '--name-status', '--check', and '-s' cannot be used together",
            ));
        }
        if shown.raw && (shown.name_only || shown.name_status) {
            return Err(Failure {
                hint: Some(format!("use git: git {name} --raw --name-status")),
                ..Failure::usage("--raw cannot be used with --name-only or --name-status here")
            });
        }
        let execution = execution::interruptible(global)?;
        let repository = Repository::discover(&environment::of_git(global)?)?;
        repository.require_work_tree()?;
        let warnings = repository.objects().warnings();
        warnings.iter().for_each(|warning| output.warn(warning));
        let digits = match &shown.abbrev {
            Some(value) if !shown.no_abbrev => Digits::parse(value.as_deref())?,
            _ => Digits::All,
        };
        Ok(Run {
            name,
            shown,
            global,
            output,
            repository,
            execution,
            filter: Filter::parse(shown.diff_filter.as_ref())?,
            digits,
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
            let is_pattern = word.as_bytes().iter().any(|byte| b"*?[:".contains(byte));
            let path = environment::from_directory(self.global, word.as_ref());
            if is_pattern || hedgerow_fs::is_there(&path).unwrap_or(false) {
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
            "ambiguous argument '{word}': unknown revision or path not in the working tree.\nUse \
             '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- \
             [<file>...]'"
        ))
    }

    fn tell(&self, found: Differences, options: &DifferenceOptions) -> Result<u8, Failure> {
        let failures = found.failures.iter();
        failures.for_each(|failure| self.output.error(failure));
        let mut list = found.list;
        if self.shown.reverse {
            // Git leaves the two sides of a path in conflict as they are.
            for pair in list.iter_mut().filter(|pair| !pair.is_unmerged) {
                std::mem::swap(&mut pair.old, &mut pair.new);
            }
        }
        self.filter.apply(&mut list);
        let mut text = Vec::new();
        if !self.global.quiet {
            for pair in &list {
                self.line(pair, &mut text)?;
            }
        }
        self.output.data(&text);
        statistics::tell(self.global, &options.execution, self.output)?;
        let tells = self.shown.exit_code || self.global.quiet;
        if !found.failures.is_empty() {
            return Err(Failure::fatal(format_args!(
                "'hedgerow {}' could not examine all files",
                self.name
            )));
        }
        Ok(if tells && !list.is_empty() {
            REFUSED
        } else {
            0
        })
    }

    fn line(&self, pair: &Difference, text: &mut Vec<u8>) -> Result<(), Error> {
        let between = if self.shown.null { b'\0' } else { b'\t' };
        if !self.shown.name_only && !self.shown.name_status {
            let mode = |side: Option<DifferenceSide>| side.map_or(0, |side| side.mode.to_u32());
            let (old, new) = (mode(pair.old), mode(pair.new));
            let ids = [self.id(pair.old)?, self.id(pair.new)?];
            let [old_id, new_id] = ids;
            text.extend_from_slice(format!(":{old:06o} {new:06o} {old_id} {new_id} ").as_bytes());
        }
        if !self.shown.name_only {
            text.extend_from_slice(&[letter(pair), between]);
        }
        if self.shown.null {
            text.extend_from_slice(&pair.path);
            text.push(0);
        } else {
            let high = self.repository.settings().quote_path;
            text.extend_from_slice(&quoted(&pair.path, high));
            text.push(b'\n');
        }
        Ok(())
    }

    /// The name of a side's object; zeros if it has none, or if it is not known.
    fn id(&self, side: Option<DifferenceSide>) -> Result<String, Error> {
        match side.and_then(|side| side.id) {
            Some(id) => self.digits.show(&self.repository, &id),
            None => self
                .digits
                .show(&self.repository, &self.repository.null_id()),
        }
    }
}

fn letter(pair: &Difference) -> u8 {
    let kind = pair.kind();
    kind.map_or(b'U', |kind| kind.letter() as u8)
}

/// `--diff-filter`.
#[derive(Debug, Default)]
struct Filter {
    shown: Vec<u8>,
    hidden: Vec<u8>,
    /// All or none: if one is shown, all are.
    all: bool,
}

impl Filter {
    fn parse(kinds: Option<&OsString>) -> Result<Self, Failure> {
        let mut filter = Filter::default();
        let kinds = kinds.map(|kinds| kinds.as_bytes()).unwrap_or_default();
        for letter in kinds {
            match letter {
                b'*' => filter.all = true,
                b'A' | b'C' | b'D' | b'M' | b'R' | b'T' | b'U' | b'X' | b'B' => {
                    filter.shown.push(*letter);
                }
                b'a' | b'c' | b'd' | b'm' | b'r' | b't' | b'u' | b'x' | b'b' => {
                    filter.hidden.push(letter.to_ascii_uppercase());
                }
                other => {
                    return Err(Failure::usage(format_args!(
                        "unknown change class '{}' in --diff-filter={}",
                        char::from(*other),
                        kinds.as_bstr()
                    )));
                }
            }
        }
        Ok(filter)
    }

    fn apply(&self, list: &mut Vec<Difference>) {
        let is_shown = |pair: &Difference| {
            let letter = letter(pair);
            let is_asked = self.shown.is_empty() && !self.all || self.shown.contains(&letter);
            let is_asked = is_asked || !self.hidden.is_empty() && self.shown.is_empty();
            is_asked && !self.hidden.contains(&letter)
        };
        if !self.all {
            list.retain(is_shown);
        } else if !list.iter().any(is_shown) {
            list.clear();
        }
    }
}
