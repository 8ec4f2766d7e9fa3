//! Options that every command takes.

use clap::{Args, ValueEnum};
use hedgerow::tracing::Trace;
use hedgerow::{Jobs, Log};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Options that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Run as if started in DIR
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub directory: Vec<PathBuf>,
    /// Number of workers; auto chooses by measuring
    #[arg(short, long, global = true, value_name = "N|auto", value_parser = parse_jobs,
          allow_negative_numbers = true)]
    pub jobs: Option<Workers>,
    /// Print only errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more; repeat for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Show progress, if the command has any, even off a terminal, and at the end what was done
    #[arg(long, global = true, overrides_with = "no_progress")]
    pub progress: bool,
    /// Show no progress
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Print the result, if the command can, as one JSON document, and errors likewise, to standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// Print engine statistics, if the command has any; with FILE, write them there as JSON
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub stats: Option<Option<PathBuf>>,
    /// Write when each worker did what to FILE, if the command records it, for Perfetto
    #[arg(long, global = true, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// What records the trace.
    #[arg(skip)]
    pub tracing: Option<Arc<Trace>>,
    /// What HEDGEROW_LOG asks for.
    #[arg(skip)]
    pub log: Log,
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

fn parse_jobs(text: &str) -> Result<Workers, String> {
    if text == "auto" {
        return Ok(Workers::Auto);
    }
    let number: i64 = text
        .parse()
        .map_err(|_| "not a number, and not 'auto'".to_owned())?;
    Ok(Workers::from_number(number))
}

impl Global {
    /// How many workers a command has that no configuration speaks of.
    pub fn jobs(&self) -> Jobs {
        self.jobs.unwrap_or(Workers::Auto).into()
    }
}

impl From<Workers> for Jobs {
    fn from(workers: Workers) -> Jobs {
        match workers {
            Workers::Auto => Jobs::Auto,
            Workers::Count(count) => Jobs::Fixed(count),
            Workers::PerProcessor => {
                let processors = NonZeroUsize::new(hedgerow_fs::cpu::available());
                Jobs::Fixed(processors.unwrap_or(NonZeroUsize::MIN))
            }
        }
    }
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
