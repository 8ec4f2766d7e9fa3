//! What the tools say, and how they end.

use crate::walk::closed_pipe_is_fine;
use crate::walk::sink::write;
use clap::error::ErrorKind;
use clap::Parser;
use hedgerow_squashfs::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The exit code of the tools for whatever goes wrong.
pub const FAILED: u8 = 1;

/// What the tools say of their version, behind their name.
pub const VERSION: &str = concat!("(hedgerow) ", env!("CARGO_PKG_VERSION"));

/// Why an image cannot be read, in one sentence that names it.
pub fn unreadable(image: &Path, error: Error) -> String {
    match error {
        Error::Fs(error) => error.to_string(),
        error => format!("cannot read '{}': {error}", image.display()),
    }
}

/// Writes data to standard output; nobody to read the rest of it is no error.
pub fn print(bytes: impl AsRef<[u8]>) -> Result<(), String> {
    let written = write(bytes.as_ref()).or_else(closed_pipe_is_fine);
    written.map_err(|error| hedgerow_fs::Error::new("write", "standard output", error).to_string())
}

/// A tool by its name.
#[derive(Clone, Copy)]
pub struct Console {
    pub name: &'static str,
}

impl Console {
    /// The options of the command line; else what the tool ends with, help being one of these.
    pub fn parse<T: Parser>(self, words: Vec<OsString>) -> Result<T, ExitCode> {
        let own = OsString::from(self.name);
        T::try_parse_from([own].into_iter().chain(words)).map_err(|error| {
            // There is nowhere left to tell that the output is gone.
            let _ = error.print();
            match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
                _ => ExitCode::from(FAILED),
            }
        })
    }

    /// Ends with what went wrong, if anything did.
    pub fn end<E: Display>(self, outcome: Result<(), E>) -> ExitCode {
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                self.complain(error);
                ExitCode::from(FAILED)
            }
        }
    }

    /// A line to standard error. What comes from trees of strangers must not drive the terminal.
    pub fn complain(self, message: impl Display) {
        let control = |character: char| character.is_ascii_control() && character != '\n';
        let message = message.to_string().replace(control, "?");
        let _ = writeln!(std::io::stderr().lock(), "{}: {message}", self.name);
    }

    /// Lines to standard output.
    pub fn say(self, text: impl Display) {
        let _ = writeln!(std::io::stdout().lock(), "{text}");
    }
}
