//! The command line of hedgerow: arguments in, words and exit codes out. What is done is done by
//! the libraries.

mod arguments;
mod checkout;
mod environment;
mod failure;
mod generate;
mod hg_status;
mod humanised;
mod image;
mod messages;
mod output;
mod packs;
mod personas;
mod progress;
mod quote;
mod report;
mod spelling;
mod statistics;
mod stats;
mod status;
mod test_faults;
mod tracking;
mod tune;
mod tune_report;
mod version;
mod walk;
mod words;

use crate::arguments::Command;
use crate::failure::Failure;
use clap::Parser;
use std::process::ExitCode;

/// Blocks over this size go back to the system when they are freed.
const FREED_BLOCK_BYTES: usize = 256 << 10;

fn main() -> ExitCode {
    // A defect is told as an error, in one sentence, by whoever catches it.
    std::panic::set_hook(Box::new(|_| {}));
    hedgerow_fs::return_freed_blocks(FREED_BLOCK_BYTES);
    hedgerow_fs::raise_descriptor_limit();
    test_faults::arm();
    if let Some(code) = personas::run(environment::words()) {
        test_faults::tell();
        return code;
    }
    let words = words::words();
    let arguments = match arguments::Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return words::refuse(&words, &error),
    };
    let output = output::Output::new(&arguments.global);
    let outcome = match &arguments.command {
        _ if arguments.version => {
            version::show(arguments.global.verbose > 0, &output);
            Ok(0)
        }
        Some(Command::Bitmap(command)) => packs::bitmap::run(command, &arguments.global, &output),
        Some(Command::CatFile(command)) => {
            packs::cat_file::run(command, &arguments.global, &output)
        }
        Some(Command::Checkout(command)) => checkout::run(command, &arguments.global, &output),
        Some(Command::Status(command)) => status::run(command, &arguments.global, &output),
        Some(Command::HgStatus(command)) => hg_status::run(command, &arguments.global, &output),
        Some(Command::Image(command)) => image::run(command, &arguments.global, &output),
        Some(Command::Maintenance(command)) => {
            packs::maintenance::run(command, &arguments.global, &output)
        }
        Some(Command::MultiPackIndex(command)) => {
            packs::multi_pack_index::run(command, &arguments.global, &output)
        }
        Some(Command::PackObjects(command)) => {
            packs::pack_objects::run(command, &arguments.global, &output)
        }
        Some(Command::Repack(command)) => packs::repack::run(command, &arguments.global, &output),
        Some(Command::IndexPack(command)) => {
            packs::index_pack::run(command, &arguments.global, &output)
        }
        Some(Command::VerifyPack(command)) => {
            packs::verify_pack::run(command, &arguments.global, &output)
        }
        Some(Command::ReverseIndex(command)) => {
            packs::reverse_index::run(command, &arguments.global, &output)
        }
        Some(Command::RevList(command)) => {
            packs::rev_list::run(command, &arguments.global, &output)
        }
        Some(Command::Stats(command)) => stats::run(command, &arguments.global, &output),
        Some(Command::Tune(command)) => tune::run(command, &arguments.global, &output),
        Some(Command::UploadPackHook(command)) => {
            packs::upload_pack_hook::run(command, &arguments.global, &output)
        }
        Some(Command::Walk(command)) => walk::run(command, &arguments.global, &output),
        Some(Command::Generate(what)) => generate::run(what, &output),
        None => Err(Failure::usage(
            "a command is missing; see 'hedgerow --help'",
        )),
    };
    let code = output.end(outcome);
    test_faults::tell();
    code
}
