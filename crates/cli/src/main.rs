//! The command line of hedgerow: parses arguments, prints messages and returns exit codes. The
//! libraries do the work.

mod applets;
mod arguments;
mod as_git;
mod doctor;
mod ending;
mod environment;
mod execution;
mod failure;
mod generate;
mod git_options;
mod global;
mod help;
mod hg_status;
mod image;
mod observed;
mod output;
mod packs;
mod progress;
mod report;
mod shim;
mod spelling;
mod statistics;
mod stats;
mod status;
mod test_faults;
mod tracking;
mod trees;
mod tune;
mod tune_report;
mod unknown;
mod version;
mod walk;
mod words;

use crate::arguments::{Arguments, Command};
use crate::ending::Shape;
use crate::failure::Failure;
use crate::output::Output;
use clap::error::ContextKind;
use std::ffi::OsString;
use std::process::ExitCode;

/// musl's own has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Freed blocks over this size, in bytes, are returned to the system.
const FREED_BLOCK_BYTES: usize = 256 << 10;

fn main() -> ExitCode {
    if let Some(code) = as_git::help() {
        return ExitCode::from(code);
    }
    let called = match as_git::begin() {
        Err(failure) => return ExitCode::from(refuse(failure, &[])),
        Ok(is_git) => is_git,
    };
    ending::keep_panics();
    hedgerow_fs::return_freed_blocks(FREED_BLOCK_BYTES);
    hedgerow_fs::raise_descriptor_limit();
    test_faults::arm();
    let (code, shape) = match start(called) {
        Err(failure) => (refuse(failure, &environment::words()), Shape::Own),
        Ok(Called::Tool(tool, words)) => (tool.run(words), Shape::Own),
        Ok(Called::Hedgerow(words)) => answer(words),
    };
    test_faults::tell();
    ending::end(code, shape == Shape::Git)
}

/// As what the program was called, with the words of its command line.
enum Called {
    Tool(&'static applets::Tool, Vec<OsString>),
    Hedgerow(Vec<OsString>),
}

/// Finds out what is asked for, and takes care of signals. Git's global options are obeyed before
/// there is a second thread; where the program `is_git`, that was done.
fn start(is_git: bool) -> Result<Called, Failure> {
    let called = match applets::find(environment::words()) {
        Some((tool, words)) => Called::Tool(tool, words),
        None => {
            if !is_git {
                words::obey_git_globals()?;
            }
            Called::Hedgerow(environment::words())
        }
    };
    hedgerow_fs::remove_names_at_signals().map_err(Failure::fatal)?;
    Ok(called)
}

/// Prints the help that the words ask for, or runs the command.
fn answer(words: Vec<OsString>) -> (u8, Shape) {
    let Some(text) = help::asked(&words) else {
        let refused = |failure| (refuse(failure, &environment::words()), Shape::Own);
        return words::spelled(words).map_or_else(refused, run);
    };
    let command = words::command(&words).and_then(|at| words[at].to_str());
    let shape = Shape::of(command);
    let output = Output::plain(&words);
    let shown = || {
        output.data(text.as_bytes());
        Ok(0)
    };
    let outcome = ending::outcome(shown, |message| shape.failure(message));
    (output.end(outcome), shape)
}

/// Reports an error in the words before they are parsed as options.
fn refuse(failure: Failure, words: &[OsString]) -> u8 {
    let outcome = ending::outcome(|| Err(failure), Failure::fatal);
    Output::plain(words).end(as_git::kept_or_handed_over(outcome))
}

fn run(words: Vec<OsString>) -> (u8, Shape) {
    let command = words::command(&words).and_then(|at| words[at].to_str());
    let shape = Shape::of(command);
    // clap suggests putting `--` before a mistyped option; what follows would then be paths to
    // overwrite.
    let mut parsed = Arguments::parse_only(&words, command).map_err(|mut error| {
        error.remove(ContextKind::Suggested);
        error
    });
    let prepared = match &mut parsed {
        Ok(arguments) => observed::prepare(&mut arguments.options.global),
        Err(_) => Ok(()),
    };
    let output = match &parsed {
        Ok(arguments) => Output::new(&arguments.options.global),
        Err(_) => Output::plain(&words),
    };
    let run = || match &parsed {
        Ok(arguments) => match prepared {
            Ok(()) => obey(arguments, shape, &output).map_err(|failure| shape.own(failure)),
            Err(reason) => Err(shape.failure(reason)),
        },
        Err(error) if as_git::is_active() => Err(Failure::usage(words::sentence(error))),
        Err(error) if unknown::is_command(error, command) => Err(unknown::failure(error)),
        Err(error) if words::is_help(error, &words) => {
            let is_answer = ending::show(error, words::color(&words));
            Ok(if is_answer { 0 } else { shape.usage() })
        }
        Err(error) => Err(Failure {
            hint: Some(words::hint(error, &words)),
            ..shape.misuse(words::sentence(error))
        }),
    };
    let outcome = ending::outcome(run, |message| shape.failure(message));
    let code = output.end(as_git::kept_or_handed_over(outcome));
    let code = ending::with_left_locks(code, &output);
    output.conclude(code, shape);
    (code, shape)
}

fn obey(arguments: &Arguments, shape: Shape, output: &Output) -> Result<u8, Failure> {
    let global = &arguments.options.global;
    let started = environment::check_start(global);
    started.map_err(|error| shape.failure(error.to_string()))?;
    let takes_json = arguments.command.as_ref().is_some_and(Command::takes_json);
    if global.json && (arguments.options.version || !takes_json) {
        let hint = arguments.command.as_ref().and_then(Command::json_hint);
        return Err(Failure {
            hint: hint.map(str::to_owned),
            ..without(arguments, shape, "prints no JSON")
        });
    }
    let takes_stats = arguments.command.as_ref().is_some_and(Command::takes_stats);
    if global.stats.is_some() && !takes_stats {
        return Err(without(arguments, shape, "records no statistics (--stats)"));
    }
    let takes_trace = arguments.command.as_ref().is_some_and(Command::takes_trace);
    if global.trace.is_some() && !takes_trace {
        return Err(without(arguments, shape, "records no trace (--trace)"));
    }
    statistics::check(global).map_err(|failure| shape.failure(failure.message))?;
    if arguments.options.version {
        output.data(version::text(global.verbose > 0).as_bytes());
        return Ok(0);
    }
    observed::traced(global, output, || dispatch(arguments, output))
}

/// The refusal of an option that the command lacks, by the command's name.
fn without(arguments: &Arguments, shape: Shape, what: &str) -> Failure {
    let words = environment::words();
    match words::command(&words).filter(|_| !arguments.options.version) {
        Some(at) => shape.misuse(format_args!(
            "'hedgerow {}' {what}",
            words::names(&words[at..])
        )),
        None => shape.misuse(format_args!("this command {what}")),
    }
}

/// Runs the command.
fn dispatch(arguments: &Arguments, output: &Output) -> Result<u8, Failure> {
    let global = &arguments.options.global;
    match &arguments.command {
        Some(Command::Archive(command)) => trees::archive::run(command, global, output),
        Some(Command::Bitmap(command)) => packs::bitmap::run(command, global, output),
        Some(Command::CatFile(command)) => packs::cat_file::run(command, global, output),
        Some(Command::Checkout(command)) => trees::checkout::run(command, global, output),
        Some(Command::Clean(command)) => trees::clean::run(command, global, output),
        Some(Command::Clone(command)) => trees::clone::run(command, global, output),
        Some(Command::Doctor(command)) => doctor::run(command, global, output),
        Some(Command::DiffFiles(command)) => trees::diff::run_files(command, global, output),
        Some(Command::DiffIndex(command)) => trees::diff::run_index(command, global, output),
        Some(Command::Fetch(_)) => trees::fetch::run(global),
        Some(Command::LsFiles(command)) => trees::ls_files::run(command, global, output),
        Some(Command::Status(command)) => status::run(command, global, output),
        Some(Command::HgStatus(command)) => hg_status::run(command, global, output),
        Some(Command::Image(command)) => image::run(command, global, output),
        Some(Command::Maintenance(command)) => packs::maintenance::run(command, global, output),
        Some(Command::Merge(command)) => trees::merge::run(command, global, output),
        Some(Command::Mount(command)) => trees::mounts::run_mount(command, global, output),
        Some(Command::Unmount(command)) => trees::mounts::run_unmount(command, global),
        Some(Command::ImageStore(command)) => trees::mounts::run_store(command, global, output),
        Some(Command::MultiPackIndex(command)) => {
            packs::multi_pack_index::run(command, global, output)
        }
        Some(Command::PackObjects(command)) => packs::pack_objects::run(command, global, output),
        Some(Command::Repack(command)) => packs::repack::run(command, global, output),
        Some(Command::CheckoutIndex(command)) => {
            trees::checkout_index::run(command, global, output)
        }
        Some(Command::ReadTree(command)) => trees::read_tree::run(command, global, output),
        Some(Command::Reset(command)) => trees::reset::run(command, global, output),
        Some(Command::IndexPack(command)) => packs::index_pack::run(command, global, output),
        Some(Command::VerifyPack(command)) => packs::verify_pack::run(command, global, output),
        Some(Command::ReverseIndex(command)) => packs::reverse_index::run(command, global, output),
        Some(Command::RevList(command)) => packs::rev_list::run(command, global, output),
        Some(Command::Restore(command)) => trees::restore::run(command, global, output),
        Some(Command::Stash(command)) => trees::stash::run(command, global, output),
        Some(Command::Submodule(command)) => trees::submodule::run(command, global, output),
        Some(Command::Shim(command)) => shim::run(command, global, output),
        Some(Command::Switch(command)) => trees::switch::run(command, global, output),
        Some(Command::Stats(command)) => stats::run(command, global, output),
        Some(Command::Tune(command)) => tune::run(command, global, output),
        Some(Command::UploadPackHook(command)) => {
            packs::upload_pack_hook::run(command, global, output)
        }
        Some(Command::Walk(command)) => walk::run(command, global, output),
        Some(Command::SparseCheckout(command)) => {
            trees::sparse_checkout::run(command, global, output)
        }
        Some(Command::Worktree(command)) => trees::worktree::run(command, global, output),
        Some(Command::Generate(what)) => generate::run(what, global, output),
        None => Err(Failure::usage(
            "a command is missing; see 'hedgerow --help'",
        )),
    }
}
