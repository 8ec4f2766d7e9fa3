use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Moves whole file trees between Git packs, working trees, tar streams and SquashFS images.
#[derive(Debug, Parser)]
#[command(
    name = "hedgerow",
    arg_required_else_help = true,
    disable_version_flag = true
)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,
    /// Print the version; with --verbose, also what the program is made from
    #[arg(short = 'V', long)]
    pub version: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Run as if started in DIR
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub directory: Vec<PathBuf>,
    /// How many workers; auto measures and chooses by itself
    #[arg(short, long, global = true, value_name = "N|auto", value_parser = parse_jobs)]
    pub jobs: Option<Workers>,
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Show progress even if standard error is not a terminal
    #[arg(long, global = true, overrides_with = "no_progress")]
    pub progress: bool,
    /// Show no progress
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Print the result as one JSON document
    #[arg(long, global = true)]
    pub json: bool,
    /// Tell what the engine did; with FILE, write it there as JSON
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub stats: Option<Option<PathBuf>>,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// A number of workers as the user gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// Choose by measuring.
    Auto,
    /// This many.
    Count(NonZeroUsize),
    /// One for each processor.
    PerProcessor,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Checkout(Checkout),
    /// Print completions or manual pages
    #[command(subcommand, hide = true)]
    Generate(Generate),
}

#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Print the completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print a manual page
    Man {
        /// The command; without one, hedgerow itself
        command: Option<String>,
    },
}

/// Check out a branch, a commit, or paths of one, into the working tree
#[derive(Debug, Args)]
pub struct Checkout {
    /// Overwrite local changes and untracked files; leave out paths in conflict
    #[arg(short, long)]
    pub force: bool,
    /// Point HEAD at the commit even if a branch is named
    #[arg(long)]
    pub detach: bool,
    /// How many workers; 0 or less means one for each processor (checkout.workers)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub workers: Option<i64>,
    /// Write fewer files than this one after the other (checkout.thresholdForParallelism)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threshold: Option<i64>,
    /// A branch or a revision, then paths; -- between them where it is unclear
    #[arg(value_name = "REVISION|PATHSPEC")]
    pub words: Vec<OsString>,
    /// Paths to check out; HEAD stays
    #[arg(last = true, value_name = "PATHSPEC")]
    pub paths: Vec<OsString>,
}

fn parse_jobs(text: &str) -> Result<Workers, String> {
    if text == "auto" {
        return Ok(Workers::Auto);
    }
    let number: i64 = text
        .parse()
        .map_err(|_| "not a number, and not 'auto'".to_owned())?;
    Ok(Workers::from_number(number))
}

impl Workers {
    /// As git reads `checkout.workers`: below 1 means one for each processor.
    pub fn from_number(number: i64) -> Workers {
        match usize::try_from(number).ok().and_then(NonZeroUsize::new) {
            Some(count) => Workers::Count(count),
            None => Workers::PerProcessor,
        }
    }
}

/// The words of the command line. Git calls `git-hedgerow` for `git hedgerow`.
pub fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os()
}

/// Tells what is wrong with the arguments: 129 as git's commands do, or shows the help.
pub fn refuse(error: &clap::Error) -> ExitCode {
    // A closed pipe ends quietly.
    let _ = error.print();
    match error.use_stderr() {
        true => ExitCode::from(129),
        false => ExitCode::SUCCESS,
    }
}
