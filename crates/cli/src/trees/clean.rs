//! `hedgerow clean`: removes untracked files, and lists them as git does.

use crate::environment;
use crate::execution;
use crate::failure::{Failure, INTERRUPTED, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::report::Path;
use crate::statistics;
use bstr::{BString, ByteSlice};
use clap::Args;
use hedgerow::clean::{clean, CleanEvent, Cleaned, CleanedItem, Ignored, Options};
use hedgerow::display::PathStyle;
use hedgerow::repository::Repository;
use serde::Serialize;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Remove untracked files from the working tree
#[derive(Debug, Args)]
pub struct Clean {
    /// Remove files; twice: also untracked repositories
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub force: u8,
    /// Only list what would be removed
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Remove untracked directories, too
    #[arg(short = 'd', alias = "directories")]
    pub directories: bool,
    /// Keep files that match PATTERN, besides ignored ones
    #[arg(short, long, value_name = "PATTERN")]
    pub exclude: Vec<OsString>,
    /// Remove ignored files, too
    #[arg(short = 'x', alias = "with-ignored")]
    pub with_ignored: bool,
    /// Remove only ignored files
    #[arg(short = 'X', alias = "only-ignored")]
    pub only_ignored: bool,
    /// Clean only these paths [default: the current directory]
    #[arg(value_name = "PATHSPEC")]
    pub paths: Vec<OsString>,
}

pub fn run(command: &Clean, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    repository.require_work_tree()?;
    let words = |words: &[OsString]| -> Vec<BString> {
        let words = words.iter().map(|word| word.as_bytes().into());
        words.collect()
    };
    let options = Options {
        force: command.force,
        dry_run: command.dry_run,
        directories: command.directories,
        ignored: ignored(command, &repository)?,
        excludes: words(&command.exclude),
        pathspecs: words(&command.paths),
        current_directory: environment::start_directory(&[]),
        execution,
    };
    let cleaned = clean(&repository, &options)?;
    cleaned.warnings.iter().for_each(|text| output.warn(text));
    cleaned.failures.iter().for_each(|text| output.error(text));
    let shown = Shown {
        style: PathStyle {
            prefix: repository.prefix(),
            high: repository.settings().quote_path,
        },
        dry_run: command.dry_run,
        quiet: global.quiet,
    };
    let mut text = Vec::new();
    let mut failed = !cleaned.failures.is_empty();
    for item in &cleaned.items {
        for event in &item.events {
            if let Some(warning) = shown.warning(item, event) {
                output.warn(warning.as_bstr());
                failed = true;
            }
            shown.event(item, event, &mut text);
        }
        if item.is_gone && !global.quiet {
            shown.line(shown.removed(), &shown.style.path(&item.path), &mut text);
        }
    }
    if global.json {
        output.data(
            Document::new(&cleaned, command.dry_run)
                .to_json()
                .as_bytes(),
        );
    } else {
        output.data(&text);
    }
    statistics::tell(global, &options.execution, output)?;
    if cleaned.interrupted {
        return Err(Failure {
            severity: "error",
            exit_code: INTERRUPTED,
            ..Failure::fatal("interrupted")
        });
    }
    Ok(if failed { REFUSED } else { 0 })
}

fn ignored(command: &Clean, repository: &Repository) -> Result<Ignored, Failure> {
    let is_asked = command.force > 0 || command.dry_run;
    // Without force, git first says that it is needed.
    let is_run = is_asked || repository.config().bool("clean.requireForce")? == Some(false);
    match (command.with_ignored, command.only_ignored) {
        (true, true) if is_run => Err(Failure::fatal(
            "options '-x' and '-X' cannot be used together",
        )),
        (true, _) => Ok(Ignored::Removed),
        (false, true) => Ok(Ignored::Only),
        (false, false) => Ok(Ignored::Kept),
    }
}

/// How lines are shown.
struct Shown<'a> {
    style: PathStyle<'a>,
    dry_run: bool,
    quiet: bool,
}

impl Shown<'_> {
    fn removed(&self) -> &'static str {
        if self.dry_run {
            "Would remove"
        } else {
            "Removing"
        }
    }

    /// The line for standard output, if there is one.
    fn event(&self, item: &CleanedItem, event: &CleanEvent, text: &mut Vec<u8>) {
        match event {
            CleanEvent::Removed(path) if !self.quiet => {
                self.line(self.removed(), &self.path(item, path), text);
            }
            CleanEvent::Repository(path) if !self.quiet => {
                let words = if self.dry_run {
                    "Would skip repository"
                } else {
                    "Skipping repository"
                };
                self.line(words, &self.path(item, path), text);
            }
            CleanEvent::CurrentDirectory(_) if self.dry_run => {
                text.extend_from_slice(b"Would refuse to remove current working directory\n");
            }
            CleanEvent::CurrentDirectory(_) => {
                text.extend_from_slice(b"Refusing to remove current working directory\n");
            }
            _ => {}
        }
    }

    /// The warning on standard error, if there is one.
    fn warning(&self, item: &CleanedItem, event: &CleanEvent) -> Option<BString> {
        let (words, path, reason) = match event {
            CleanEvent::Failed(path, reason) => {
                ("failed to remove ", self.path(item, path), reason)
            }
            CleanEvent::Unknown(path, reason) => {
                // Git ends the line before the reason.
                let path = [path.as_slice(), b"\n"].concat();
                ("could not lstat ", path, reason)
            }
            _ => return None,
        };
        let parts = [words.as_bytes(), &path, b": ", reason.as_bytes()];
        Some(parts.concat().into())
    }

    /// The path of something in an item, or of the item itself.
    fn path(&self, item: &CleanedItem, path: &BString) -> Vec<u8> {
        let rest = path.strip_prefix(item.path.as_slice()).unwrap_or_default();
        self.style.path_in(&item.path, rest)
    }

    fn line(&self, words: &str, path: &[u8], text: &mut Vec<u8>) {
        text.extend_from_slice(words.as_bytes());
        text.push(b' ');
        text.extend_from_slice(path);
        text.push(b'\n');
    }
}

/// The JSON document that `hedgerow clean --json` prints. Fields are only ever added. Paths start at
/// the top of the working tree; those of directories that were removed as a whole have a slash at
/// their ends.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// The name and version of this schema.
    schema: &'static str,
    /// `done`, `partial` (something could not be removed) or `interrupted`.
    status: &'static str,
    /// Nothing was removed: the lists say what would be.
    dry_run: bool,
    removed: Vec<Path<'a>>,
    /// Other repositories, which were kept.
    repositories: Vec<Path<'a>>,
    /// The current directory, if it was kept.
    current_directory: Option<Path<'a>>,
    failures: Vec<Failed<'a>>,
    warnings: &'a [String],
    /// Where the file system gave no answer.
    errors: &'a [String],
}

#[derive(Debug, Serialize)]
struct Failed<'a> {
    path: Path<'a>,
    reason: &'a str,
}

impl<'a> Document<'a> {
    fn new(cleaned: &'a Cleaned, dry_run: bool) -> Self {
        let mut document = Document {
            schema: "hedgerow.clean.v1",
            status: "done",
            dry_run,
            removed: Vec::new(),
            repositories: Vec::new(),
            current_directory: None,
            failures: Vec::new(),
            warnings: &cleaned.warnings,
            errors: &cleaned.failures,
        };
        for item in &cleaned.items {
            item.events.iter().for_each(|event| document.add(event));
            if item.is_gone {
                document.removed.push(Path::from(&item.path));
            }
        }
        if !document.failures.is_empty() || !document.errors.is_empty() {
            document.status = "partial";
        }
        if cleaned.interrupted {
            document.status = "interrupted";
        }
        document
    }

    fn add(&mut self, event: &'a CleanEvent) {
        match event {
            CleanEvent::Removed(path) => self.removed.push(Path::from(path)),
            CleanEvent::Repository(path) => self.repositories.push(Path::from(path)),
            CleanEvent::CurrentDirectory(path) => self.current_directory = Some(Path::from(path)),
            CleanEvent::Failed(path, reason) | CleanEvent::Unknown(path, reason) => {
                let path = Path::from(path);
                self.failures.push(Failed { path, reason });
            }
        }
    }

    /// The document, with a newline at its end.
    fn to_json(&self) -> String {
        // This cannot fail: there are no maps with odd keys and no custom serializers.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
