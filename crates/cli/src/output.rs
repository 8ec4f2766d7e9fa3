//! Where words go: data to standard output, the rest to standard error.

use crate::arguments::{Color, Global};
use crate::failure::Failure;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

pub struct Output {
    quiet: bool,
    verbose: bool,
    color: bool,
}

impl Output {
    pub fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_colored_by_itself(),
        };
        Output {
            quiet: global.quiet,
            verbose: global.verbose > 0,
            color,
        }
    }

    /// For what is told before the options are known.
    pub fn plain() -> Self {
        Output {
            quiet: false,
            verbose: false,
            color: is_colored_by_itself(),
        }
    }

    /// Data, to standard output. A closed pipe is no error: nobody wants the rest.
    pub fn data(&self, bytes: &[u8]) {
        let _ = std::io::stdout().lock().write_all(bytes);
    }

    /// Bytes to standard error for a program that reads them there.
    pub fn raw_error(&self, bytes: &[u8]) {
        let _ = std::io::stderr().lock().write_all(bytes);
    }

    /// A line to standard error, unless quiet.
    pub fn say(&self, line: impl Display) {
        if !self.quiet {
            self.line(line);
        }
    }

    /// A line to standard error for a person who watches: on a terminal, with `--progress`, or if
    /// verbose. Scripts that compare what git says see no more than that.
    pub fn for_people(&self, global: &Global, line: impl Display) {
        let watched = std::io::stderr().is_terminal() || global.progress;
        if !self.quiet && (watched && !global.no_progress || self.verbose) {
            self.line(line);
        }
    }

    pub fn warn(&self, message: impl Display) {
        self.line(format_args!(
            "{} {}",
            self.paint("warning:", "33"),
            shown(message)
        ));
    }

    /// A line to standard error, even if quiet.
    pub fn error_line(&self, line: impl Display) {
        self.line(line);
    }

    pub fn error(&self, message: impl Display) {
        self.line(format_args!(
            "{} {}",
            self.paint("error:", "31"),
            shown(message)
        ));
    }

    /// What ended a command that has other things to tell, too.
    pub fn fatal(&self, message: impl Display) {
        let label = self.paint("fatal:", "31");
        self.line(format_args!("{label} {}", shown(message)));
    }

    /// Tells a failure, if it is one, and turns the outcome into the exit code.
    pub fn end(&self, outcome: Result<u8, Failure>) -> ExitCode {
        match outcome {
            Ok(code) => ExitCode::from(code),
            Err(failure) => {
                let label = self.paint(&format!("{}:", failure.severity), "31");
                self.line(format_args!("{label} {}", shown(failure.message)));
                if let Some(hint) = failure.hint {
                    self.line(format_args!("\n{} {hint}", self.paint("hint:", "36")));
                }
                ExitCode::from(failure.exit_code)
            }
        }
    }

    fn line(&self, line: impl Display) {
        // There is nowhere left to tell that standard error is gone.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }

    fn paint(&self, text: &str, code: &str) -> String {
        match self.color {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

fn is_colored_by_itself() -> bool {
    crate::environment::variable("NO_COLOR").is_none() && std::io::stderr().is_terminal()
}

/// Names come from trees that strangers made, and must not drive the terminal: control
/// characters become question marks, as with git.
fn shown(message: impl Display) -> String {
    let control =
        |character: char| character.is_ascii_control() && character != '\n' && character != '\t';
    message.to_string().replace(control, "?")
}
