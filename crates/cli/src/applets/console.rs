//! Output and exit codes of the tools.

use crate::environment;
use crate::global::Color;
use crate::output::shown;
use crate::walk::closed_pipe_is_fine;
use crate::walk::sink::write;
use clap::{ArgMatches, Parser};
use hedgerow::image::Error;
use hedgerow_fs::StandardOutput;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

/// The version that the tools print after their name.
pub const VERSION: &str = concat!("(hedgerow) ", env!("CARGO_PKG_VERSION"));

/// The message for an image that cannot be read, with the name that the user gave.
pub fn unreadable(image: &Path, error: Error) -> String {
    match error {
        Error::Fs(error) => error.to_string(),
        error => format!("cannot read '{}': {error}", image.display()),
    }
}

/// Writes data to standard output; a closed pipe is not an error.
pub fn print(bytes: impl AsRef<[u8]>) -> Result<(), String> {
    let written = write(bytes.as_ref()).or_else(closed_pipe_is_fine);
    written.map_err(|error| hedgerow_fs::Error::new("write", "standard output", error).to_string())
}

/// The same for names: on a terminal, their control characters become question marks.
pub fn print_names(text: impl Into<Vec<u8>>) -> Result<(), String> {
    let mut text = text.into();
    if StandardOutput::is_terminal() {
        let control = |byte: &&mut u8| byte.is_ascii_control() && !b"\n\t".contains(*byte);
        text.iter_mut()
            .filter(control)
            .for_each(|byte| *byte = b'?');
    }
    print(text)
}

/// A tool with its name and exit code.
#[derive(Clone, Copy)]
pub struct Console {
    pub name: &'static str,
    /// The exit code for any failure.
    pub failed: u8,
}

impl Console {
    /// Parses the command line; on an error or a request for help, returns the exit code.
    pub fn parse<T: Parser>(self, words: Vec<OsString>) -> Result<T, u8> {
        self.parse_in_order(words).map(|(parsed, _)| parsed)
    }

    /// Like [`parse`](Self::parse); returns also where the options are.
    pub fn parse_in_order<T: Parser>(self, words: Vec<OsString>) -> Result<(T, ArgMatches), u8> {
        let own = OsString::from(self.name);
        let command = environment::with_width(T::command());
        let matches = command.try_get_matches_from([own].into_iter().chain(words));
        let parsed = matches.and_then(|matches| Ok((T::from_arg_matches(&matches)?, matches)));
        parsed.map_err(|error| {
            if crate::ending::show(&error, Color::Auto) {
                0
            } else {
                self.failed
            }
        })
    }

    /// A line to standard error. Names from untrusted trees must not control the terminal.
    pub fn complain(self, message: impl Display) {
        let message = shown(message);
        let _ = writeln!(std::io::stderr().lock(), "{}: {message}", self.name);
    }

    /// Lines to standard output.
    pub fn say(self, text: impl Display) {
        // A failed write is reported at the end.
        let _ = StandardOutput.write_all(format!("{text}\n").as_bytes());
    }
}
