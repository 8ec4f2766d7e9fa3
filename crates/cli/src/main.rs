//! The command line of hedgerow: arguments in, words and exit codes out. What is done is done by
//! the libraries.

mod arguments;
mod checkout;
mod failure;
mod messages;
mod output;
mod progress;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match arguments::Arguments::try_parse_from(arguments::words()) {
        Ok(arguments) => arguments,
        Err(error) => return arguments::refuse(&error),
    };
    let output = output::Output::new(&arguments.global);
    match arguments.command {
        arguments::Command::Checkout(command) => {
            let outcome = checkout::run(&command, &arguments.global, &output);
            output.end(outcome)
        }
    }
}
