//! `hedgerow rev-list`: which commits and objects are reachable.

mod options;
mod output;

use crate::environment;
use crate::execution::tell_workers;
use crate::failure::Failure;
use crate::global::{Global, Workers};
use crate::output::Output;
use clap::Args;
use hedgerow::plumbing::git::object_query::{push_hex, OutputStream};
use hedgerow::plumbing::git::reachability::{bitmaps, supply, Sources};
use hedgerow::plumbing::reach::{count_objects, sum_disk_bytes, RequestedSet, Source, Walk};
use hedgerow_fs::{cpu, StandardOutput};
use options::Options;
use output::{disk_usage, Printer};
use std::ffi::OsString;

/// List reachable commits, and with --objects all reachable objects
///
/// Options and revisions are those of git-rev-list(1). Paths and the options that format or compare
/// commits are refused.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct RevList {
    /// Options and revisions; their order matters
    #[arg(
        value_name = "OPTION|REVISION",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub words: Vec<OsString>,
}

pub fn run(command: &RevList, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    let sources = Sources::read(&repository)?;
    let source = sources.of(&repository);
    let mut options = Options::default();
    options.is_quiet = global.quiet;
    options.json = global.json;
    options.quotes_high = repository.config().bool("core.quotePath")?.unwrap_or(true);
    options.parse(&repository, source, &command.words, output)?;
    options.check()?;
    if let Some(depth) = repository.config().integer("core.maxTreeDepth")? {
        options.request.tree_depth = usize::try_from(depth).unwrap_or(0);
    }
    options.request.threads = cpu::available();
    let why = "one for each processor, whatever -j says";
    tell_workers(global, Workers::PerProcessor.into(), why);
    supply(&repository, &options.request)?;
    let told = repository.objects().warnings().len();
    let allows_bitmaps = options.allow_bitmaps();
    if let Some(bitmaps) = allows_bitmaps.then(|| bitmaps(&repository)).flatten() {
        let set = RequestedSet::find(source, &bitmaps, &options.request, cpu::available());
        print_set(&set.map_err(failure)?, &options, output)?;
    } else if options.want_number() {
        print_number(source, options, output)?;
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

fn print_set(
    set: &RequestedSet<'_, '_>,
    options: &Options,
    output: &Output,
) -> Result<(), Failure> {
    if options.count {
        let count = set.count().map_err(failure)?;
        output.data(format!("{count}\n").as_bytes());
    } else if let Some(for_people) = options.disk_usage {
        let bytes = set.disk_bytes().map_err(failure)?;
        output.data(disk_usage(bytes, for_people).as_bytes());
    } else {
        let mut stream = OutputStream::new(StandardOutput);
        let shown = set.for_each(|id| {
            push_hex(stream.buffer(), id.as_slice());
            stream.buffer().push(b'\n');
            stream.step()
        });
        shown.map_err(failure)?;
        // A closed pipe ends quietly.
        let _ = stream.finish();
    }
    Ok(())
}

fn print_number(source: Source<'_>, options: Options, output: &Output) -> Result<(), Failure> {
    let (is_quiet, count, threads) = (options.is_quiet, options.count, cpu::available());
    let Some(for_people) = options.disk_usage else {
        let found = count_objects(source, options.request, threads).map_err(failure)?;
        if count {
            let shown = if is_quiet { 0 } else { found };
            output.data(format!("{shown}\n").as_bytes());
        }
        return Ok(());
    };
    let bytes = sum_disk_bytes(source, options.request, threads).map_err(failure)?;
    if count {
        output.data(b"0\n");
    }
    output.data(disk_usage(bytes, for_people).as_bytes());
    Ok(())
}

fn failure(error: hedgerow::plumbing::reach::Error) -> Failure {
    Failure::fatal(error)
}
