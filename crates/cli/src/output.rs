//! Output: data goes to standard output, everything else to standard error.

use crate::as_git;
use crate::ending::Shape;
use crate::failure::{Failure, PARTIAL, REFUSED, RESTORED_IN_PART};
use crate::global::{Color, Global};
use crate::{environment, words};
use hedgerow::display::with_bytes_of_words;
use hedgerow_fs::StandardOutput;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

#[derive(Default)]
pub struct Output {
    quiet: bool,
    verbose: bool,
    color: bool,
    /// Whether errors and warnings are JSON documents, a line each.
    json: bool,
    /// Whether the document about the end of the command was written.
    has_ended: AtomicBool,
    /// The last error that was told, with JSON: the document about the end repeats it.
    last_error: Mutex<Option<String>>,
}

impl Output {
    pub fn new(global: &Global) -> Self {
        Output {
            quiet: global.quiet,
            verbose: global.verbose > 0,
            color: colors_errors(global.color),
            json: global.json,
            ..Output::default()
        }
    }

    /// For messages before the options are parsed, or if they cannot be.
    pub fn plain(words: &[OsString]) -> Self {
        Output {
            color: colors_errors(words::color(words)),
            json: words::wants_json(words),
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
            self.note(line);
        }
    }

    /// The same, for a line that must not be lost.
    pub fn hand_over(&self, line: impl Display) -> std::io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        self.write(line)
    }

    /// A line to standard error for a person watching, which git does not have. Scripts that compare the
    /// output with git's do not see it.
    pub fn for_people(&self, global: &Global, line: impl Display) {
        if !as_git::is_active() {
            self.with_progress(global, line);
        }
    }

    /// A line to standard error that belongs to the progress: on a terminal, with `--progress`, or if
    /// verbose.
    pub fn with_progress(&self, global: &Global, line: impl Display) {
        let watched = std::io::stderr().is_terminal() || global.progress;
        if !self.quiet && (watched && !global.no_progress || self.verbose) {
            self.note(line);
        }
    }

    pub fn warn(&self, message: impl Display) {
        self.tell("warning", "33", &message, None, None);
    }

    /// A line to standard error, even if quiet.
    pub fn error_line(&self, line: impl Display) {
        self.note(line);
    }

    pub fn error(&self, message: impl Display) {
        self.tell("error", "31", &message, None, None);
    }

    /// Git's advice, a line each.
    pub fn advise(&self, advice: &str) {
        if self.json {
            return self.note(advice.trim_end());
        }
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
                let unknown = failure.unknown.iter();
                unknown.for_each(|role| self.note(role.preface()));
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

    /// With JSON, a command that ends with another code than 0 says so in its last document.
    pub fn conclude(&self, code: u8, shape: Shape) {
        if self.json && code != 0 && !self.has_ended.load(Ordering::Relaxed) {
            let last = self.last_error.lock().ok().and_then(|mut last| last.take());
            let words = last.unwrap_or_else(|| end_words(code, shape).to_owned());
            self.tell("error", "31", &words, None, Some(code));
        }
    }

    /// A line that is neither an error nor a warning; a document with JSON.
    fn note(&self, line: impl Display) {
        if self.json {
            self.tell("info", "", &line, None, None);
        } else {
            self.line(line);
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
        if exit_code.is_some() {
            self.has_ended.store(true, Ordering::Relaxed);
        }
        if self.json {
            let document = serde_json::json!({
                "schema": "hedgerow.message.v1", "severity": severity,
                "message": message.to_string(), "hint": hint, "exit_code": exit_code,
            });
            if let (Ok(mut last), "error" | "fatal") = (self.last_error.lock(), severity) {
                *last = Some(message.to_string());
            }
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
        let _ = self.write(line);
    }

    fn write(&self, line: impl Display) -> std::io::Result<()> {
        let line = line.to_string() + "\n";
        let line = if self.json {
            line.into_bytes()
        } else {
            with_bytes_of_words(&line, environment::words)
        };
        std::io::stderr().lock().write_all(&line)
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether errors are colored.
pub fn colors_errors(wanted: Color) -> bool {
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => crate::environment::errors_take_colors(),
    }
}

/// Why a command ended with this code, in one sentence: what it was about was told before.
fn end_words(code: u8, shape: Shape) -> &'static str {
    match (code, shape) {
        (PARTIAL | RESTORED_IN_PART, _) => "some entries failed; each was reported",
        (REFUSED, Shape::Own) => "there are differences or errors; the result names them",
        (REFUSED, Shape::Git) => {
            "the command was refused, or something failed; the result or the messages before say what"
        }
        _ => "the command failed; the messages before say why",
    }
}

/// Names come from untrusted trees and must not control the terminal: control characters become
/// question marks, as in git.
pub fn shown(message: impl Display) -> String {
    let control =
        |character: char| character.is_ascii_control() && character != '\n' && character != '\t';
    message.to_string().replace(control, "?")
}
