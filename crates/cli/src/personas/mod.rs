//! The tools of squashfs-tools-ng, by their names and with their options: what is called `tar2sqfs`
//! behaves as that.

mod gensquashfs;
mod image_options;

use crate::failure::Failure;
use crate::output::Output;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Takes the words behind the name.
type Persona = fn(Vec<OsString>) -> ExitCode;

const PERSONAS: [(&str, Persona); 1] = [("gensquashfs", gensquashfs::run)];

/// Does what the program is to do that the first of `words` names, if it is one of the tools.
pub fn run(mut words: Vec<OsString>) -> Option<ExitCode> {
    let own = words.first()?;
    let name = Path::new(own).file_name()?;
    let (_, persona) = PERSONAS.iter().find(|(known, _)| *known == name)?;
    words.remove(0);
    Some(persona(words))
}

/// The exit code of these tools for whatever goes wrong.
const FAILED: u8 = 1;

/// Turns what clap says about the words, or prints instead of them, into an exit code.
fn refuse(error: &clap::Error) -> ExitCode {
    // There is nowhere left to tell that it cannot be printed.
    let _ = error.print();
    match error.use_stderr() {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    }
}

/// Prints what the program is, as `-V` asks.
fn show_version(name: &str, output: &Output) {
    let version = env!("CARGO_PKG_VERSION");
    output.data(format!("{name} (hedgerow {version})\n").as_bytes());
}

/// A failure with the exit code of these tools.
fn failed(failure: Failure) -> Failure {
    Failure {
        severity: "error",
        exit_code: match failure.exit_code {
            crate::failure::INTERRUPTED => failure.exit_code,
            _ => FAILED,
        },
        ..failure
    }
}
