//! Output: data goes to standard output, everything else to standard error.

use crate::failure::Failure;
use crate::global::{Color, Global};
use hedgerow_fs::StandardOutput;
use std::fmt::Display;
use std::io::{IsTerminal, Write};

#[derive(Default)]
pub struct Output {
    quiet: bool,
    verbose: bool,
    color: bool,
    /// Whether errors and warnings are JSON documents, a line each.
    json: bool,
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
            json: global.json,
        }
    }

    /// For messages before the options are parsed.
    pub fn plain(json: bool) -> Self {
        Output {
            color: is_colored_by_itself(),
            json,
            ..Output::default()
        }
    }

    /// Data, to standard output. A failed write is remembered and reported at the end.
    pub fn data(&self, bytes: &[u8]) {
        let _ = StandardOutput.write_all(bytes);
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

    /// A line to standard error for a person watching: on a terminal, with `--progress`, or if
    /// verbose. Scripts that compare the output with git's do not see it.
    pub fn for_people(&self, global: &Global, line: impl Display) {
        let watched = std::io::stderr().is_terminal() || global.progress;
        if !self.quiet && (watched && !global.no_progress || self.verbose) {
            self.line(line);
        }
    }

    pub fn warn(&self, message: impl Display) {
        self.tell("warning", "33", &message, None, None);
    }

    /// A line to standard error, even if quiet.
    pub fn error_line(&self, line: impl Display) {
        self.line(line);
    }

    pub fn error(&self, message: impl Display) {
        self.tell("error", "31", &message, None, None);
    }

    /// Git's advice, a line each.
    pub fn advise(&self, advice: &str) {
        let lines = advice.lines();
        lines.for_each(|line| self.line(format!("hint: {line}").trim_end()));
    }

    /// The error that ends a command which also reports other errors.
    pub fn fatal(&self, message: impl Display) {
        self.tell("fatal", "31", &message, None, None);
    }

    /// Reports a failure, if there is one, and turns the outcome into the exit code.
    pub fn end(&self, outcome: Result<u8, Failure>) -> u8 {
        match outcome {
            Ok(code) => code,
            Err(failure) => {
                failure.before.iter().for_each(|reason| self.error(reason));
                let (hint, code) = (failure.hint.as_deref(), failure.exit_code);
                self.tell(failure.severity, "31", &failure.message, hint, Some(code));
                if let Some(advice) = failure.advice.filter(|_| !self.json) {
                    self.advise(&advice);
                }
                code
            }
        }
    }

    fn tell(
        &self,
        severity: &str,
        color: &str,
        message: &dyn Display,
        hint: Option<&str>,
        exit_code: Option<u8>,
    ) {
        if self.json {
            let document = serde_json::json!({
                "schema": "hedgerow.message.v1", "severity": severity,
                "message": message.to_string(), "hint": hint, "exit_code": exit_code,
            });
            return self.line(document);
        }
        let label = self.paint(&format!("{severity}:"), color);
        self.line(format_args!("{label} {}", shown(message)));
        if let Some(hint) = hint {
            self.line(format_args!("\n{} {hint}", self.paint("hint:", "36")));
        }
    }

    fn line(&self, line: impl Display) {
        // If standard error is gone, there is nowhere left to report it.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

fn is_colored_by_itself() -> bool {
    crate::environment::errors_take_colors()
}

/// Names come from untrusted trees and must not control the terminal: control characters become
/// question marks, as in git.
fn shown(message: impl Display) -> String {
    let control =
        |character: char| character.is_ascii_control() && character != '\n' && character != '\t';
    message.to_string().replace(control, "?")
}
