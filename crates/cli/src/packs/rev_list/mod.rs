//! `hedgerow rev-list`: which commits and objects are reachable.

mod by_bitmap;
mod options;
mod output;
mod sets;

use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use clap::Args;
use hedgerow::plumbing::git::reachability::{bitmaps, Sources};
use hedgerow::plumbing::reach::Walk;
use hedgerow::Repository;
use options::Options;
use output::Printer;
use std::ffi::OsString;

/// List reachable commits, and with --objects all reachable objects
///
/// Options and revisions are those of git-rev-list(1). Paths and the options that format or compare
/// commits are refused.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct RevList {
    /// Options and revisions, in the order that gives them their meaning
    #[arg(
        value_name = "OPTION|REVISION",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub words: Vec<OsString>,
}

pub fn run(command: &RevList, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let warnings = repository.objects().warnings();
    warnings.iter().for_each(|warning| output.warn(warning));
    let sources = Sources::read(&repository)?;
    let source = sources.of(&repository);
    let mut options = Options::default();
    options.is_quiet = global.quiet;
    options.quotes_high = repository.config().bool("core.quotePath")?.unwrap_or(true);
    options.parse(&repository, source, &command.words, output)?;
    options.check()?;
    if let Some(depth) = repository.config().integer("core.maxTreeDepth")? {
        options.request.tree_depth = usize::try_from(depth).unwrap_or(0);
    }
    let told = repository.objects().warnings().len();
    let bitmaps = if by_bitmap::can_answer(&options) {
        bitmaps(&repository)
    } else {
        None
    };
    if let Some(bitmaps) = bitmaps {
        by_bitmap::answer(source, &bitmaps, &options, output)?;
    } else if sets::can_answer(&options) {
        sets::answer(source, options, output)?;
    } else {
        let walk = Walk::new(source, options.request.clone()).map_err(failure)?;
        let mut printer = Printer::new(source, &options);
        let remainder = walk.list(&mut printer).map_err(failure)?;
        printer.finish(&remainder)?;
    }
    let warnings = repository.objects().warnings();
    warnings
        .iter()
        .skip(told)
        .for_each(|warning| output.warn(warning));
    Ok(0)
}

fn failure(error: hedgerow::plumbing::reach::Error) -> Failure {
    Failure::fatal(error)
}
