//! `hedgerow sparse-checkout`, as git-sparse-checkout(1).

mod lines;
mod options;

pub use options::options;

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::trees::pathspec_file::standard_input;
use crate::trees::writing::{workers, Writing};
use bstr::{BString, ByteSlice};
use clap::{Args, Subcommand};
use hedgerow::display::quoted;
use hedgerow::repository::Error;
use hedgerow::sparse::{
    add, clean, current_rules, disable, init, reapply, set, Changed, CleanOptions, Modes,
    SparseOptions, SparseRules,
};
use hedgerow::{Repository, Stage};
use lines::{lines, unquoted_lines};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Git's exit code where files could not be written; the rules are as before.
const UNCHANGED: u8 = 254;

/// Reduce the working tree to a part of the tracked files
#[derive(Debug, Args)]
pub struct SparseCheckout {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Add directories or patterns to the rules
    Add(Set),
    /// Print the paths on standard input that the rules include
    CheckRules(CheckRules),
    /// Remove what is left of directories outside the cone
    Clean(Clean),
    /// Restore all files
    Disable(Unused),
    /// Turn the sparse checkout on
    Init(Again),
    /// List the directories or patterns
    List(Unused),
    /// Apply the rules to the working tree again
    Reapply(Again),
    /// Replace the rules
    Set(Set),
}

/// Words after a subcommand that takes none: git passes over them.
#[derive(Debug, Args)]
pub struct Unused {
    #[arg(hide = true)]
    pub unused: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct Again {
    #[command(flatten)]
    pub mode: Mode,
    #[command(flatten)]
    pub unused: Unused,
}

#[derive(Debug, Args)]
pub struct Mode {
    /// The rules are directories
    #[arg(long)]
    pub cone: bool,
    /// The rules are patterns
    #[arg(long)]
    pub no_cone: bool,
    /// Store each directory outside the cone as one entry of the index
    #[arg(long)]
    pub sparse_index: bool,
    /// Store files, not directories, in the index
    #[arg(long)]
    pub no_sparse_index: bool,
}

#[derive(Debug, Args)]
pub struct Set {
    #[command(flatten)]
    pub mode: Mode,
    /// Do not check the arguments
    #[arg(long)]
    pub skip_checks: bool,
    /// Read the rules from standard input, one per line
    #[arg(long)]
    pub stdin: bool,
    /// Directories, or patterns
    #[arg(value_name = "DIRECTORY|PATTERN")]
    pub words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct Clean {
    /// Only print what would be removed
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Remove, although clean.requireForce is on
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub unused: Unused,
}

#[derive(Debug, Args)]
pub struct CheckRules {
    /// Paths in the input and the output end with NUL
    #[arg(short = 'z', long = "null")]
    pub null: bool,
    #[command(flatten)]
    pub mode: Mode,
    /// Take the rules from FILE
    #[arg(long, value_name = "FILE")]
    pub rules_file: Option<PathBuf>,
    #[command(flatten)]
    pub unused: Unused,
}

pub fn run(command: &SparseCheckout, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::configurable(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    if !matches!(command.action, Action::CheckRules(_)) {
        repository.require_work_tree()?;
    }
    let (execution, threshold) = workers(&repository, &Writing::default(), global, execution);
    let options = SparseOptions {
        threshold,
        execution,
        ..SparseOptions::default()
    };
    let progress = &options.execution.progress;
    let meter = Meter::start(global, "Updating files", progress, Stage::Files);
    let changed = match &command.action {
        Action::List(_) => return list(&repository, output),
        Action::CheckRules(command) => return check_rules(command, &repository, global, output),
        Action::Clean(command) => return run_clean(command, &repository, global, output),
        Action::Init(command) => init(&repository, &command.mode.options(&options))?,
        Action::Reapply(command) => reapply(&repository, &command.mode.options(&options))?,
        Action::Disable(_) => disable(&repository, &options)?,
        Action::Set(command) => set(&repository, &command.words(), &command.options(&options)?)?,
        Action::Add(command) => add(&repository, &command.words(), &command.options(&options)?)?,
    };
    drop(meter);
    let code = tell(&changed, output);
    if changed.done.unwritten > 0 && matches!(command.action, Action::Disable(_)) {
        return Err(Failure::fatal("error while refreshing working directory"));
    }
    Ok(code)
}

/// Prints warnings and failures; returns the exit code.
fn tell(changed: &Changed, output: &Output) -> u8 {
    changed.warnings.iter().for_each(|it| output.warn(it));
    let done = &changed.done;
    done.remarks.iter().for_each(|it| output.error(it));
    done.warnings.iter().for_each(|it| output.warn(it));
    if !done.collided.is_empty() {
        output.warn(super::messages::collided(&done.collided));
    }
    let failures = done.failures.iter();
    failures.for_each(|failure| output.error(&failure.reason));
    match done.failures.as_slice() {
        [] => 0,
        _ if done.unwritten > 0 => UNCHANGED,
        _ => REFUSED,
    }
}

impl Mode {
    fn modes(&self) -> Modes {
        let wish = |yes: bool, no: bool| (yes || no).then_some(yes);
        Modes {
            cone: wish(self.cone, self.no_cone),
            sparse_index: wish(self.sparse_index, self.no_sparse_index),
        }
    }

    fn options(&self, options: &SparseOptions) -> SparseOptions {
        SparseOptions {
            modes: self.modes(),
            ..options.clone()
        }
    }
}

impl Set {
    fn options(&self, options: &SparseOptions) -> Result<SparseOptions, Failure> {
        let input = self.stdin.then(standard_input).transpose()?;
        Ok(SparseOptions {
            skip_checks: self.skip_checks,
            lines: input.map(|content| lines(&content, b'\n')),
            ..self.mode.options(options)
        })
    }

    fn words(&self) -> Vec<BString> {
        let words = self.words.iter();
        words.map(|word| word.as_bytes().into()).collect()
    }
}

fn list(repository: &Repository, output: &Output) -> Result<u8, Failure> {
    if !repository.settings().sparse_checkout {
        return Err(Failure::fatal("this worktree is not sparse"));
    }
    let Some((rules, warnings)) = current_rules(repository)? else {
        output.warn("this worktree is not sparse (sparse-checkout file may not exist)");
        return Ok(0);
    };
    warnings.iter().for_each(|warning| output.warn(warning));
    match &rules {
        SparseRules::Patterns(_) => output.data(&rules.to_content()),
        SparseRules::Cone(cone) => {
            let high = repository.settings().quote_path;
            for path in &cone.recursive {
                let path = path.strip_prefix(b"/").unwrap_or(path);
                output.data(&[&quoted(path, high)[..], b"\n"].concat());
            }
        }
    }
    Ok(0)
}

fn check_rules(
    command: &CheckRules,
    repository: &Repository,
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    let settings = repository.settings();
    let known = settings
        .sparse_checkout
        .then_some(settings.sparse_checkout_cone);
    let asked = command.mode.modes().cone;
    let rules = if let Some(file) = &command.rules_file {
        let path = environment::from_directory(global, file);
        let content = hedgerow_fs::read_file(&path, u64::MAX).map_err(Failure::fatal)?;
        let content = content.ok_or_else(|| {
            let shown = file.display();
            Failure::fatal(format_args!(
                "could not open '{shown}' for reading: No such file or directory"
            ))
        })?;
        let words = unquoted_lines(&content, b'\n')?;
        SparseRules::of_words(&words, asked.unwrap_or(true))?
    } else {
        let is_cone = asked.or(known).unwrap_or(true);
        let found = current_rules(repository)?;
        let (rules, warnings) = found.ok_or_else(|| Error::Setup {
            reason: "unable to load existing sparse-checkout patterns".into(),
        })?;
        let (rules, warnings) = if is_cone == settings.sparse_checkout_cone {
            (rules, warnings)
        } else {
            SparseRules::parse(&rules.to_content(), is_cone)
        };
        warnings.iter().for_each(|warning| output.warn(warning));
        rules
    };
    let end = if command.null { 0 } else { b'\n' };
    for path in unquoted_lines(&standard_input()?, end)? {
        if !rules.includes(path.as_bstr(), settings.ignore_case) {
            continue;
        }
        let shown = if command.null {
            path.to_vec()
        } else {
            quoted(&path, settings.quote_path)
        };
        output.data(&[&shown[..], &[end]].concat());
    }
    Ok(0)
}

fn run_clean(
    command: &Clean,
    repository: &Repository,
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    if global.verbose > 0 {
        return Err(Failure::usage(
            "'hedgerow sparse-checkout clean' has no option --verbose; nothing was touched",
        ));
    }
    let options = CleanOptions {
        force: command.force,
        dry_run: command.dry_run,
    };
    let what = if command.dry_run {
        "Would remove"
    } else {
        "Removing"
    };
    let warnings = clean(repository, options, &mut |directory| {
        output.data(format!("{what} {directory}\n").as_bytes());
    })?;
    warnings.iter().for_each(|warning| output.warn(warning));
    Ok(0)
}
