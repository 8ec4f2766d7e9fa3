//! How the program ends: no failure is silent. Lost output and a panic are errors like others, and
//! an interrupted program dies by the signal.

use crate::failure::{Failure, FATAL, REFUSED, USAGE};
use crate::global::Color;
use crate::output::{colors_errors, Output};
use crate::walk::NOT_STARTED;
use hedgerow::numbers::in_plain_words;
use hedgerow_fs::StandardOutput;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Commands that git does not have: they use exit codes of their own.
const OWN_COMMANDS: &str = "doctor generate image image-store mount shim stats tune unmount walk";

/// Message and location of the first panic.
static DEFECT: OnceLock<String> = OnceLock::new();

/// The convention for a command's exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 128 for fatal errors, 129 for wrong usage.
    Git,
    /// 2 for both.
    Own,
}

impl Shape {
    /// The convention of the command with this name.
    pub fn of(command: Option<&str>) -> Self {
        match command {
            Some(name) if OWN_COMMANDS.split(' ').any(|own| own == name) => Shape::Own,
            _ => Shape::Git,
        }
    }

    /// A failure because the command cannot go on.
    pub fn failure(self, message: String) -> Failure {
        match self {
            Shape::Git => Failure::fatal(message),
            Shape::Own => self.own(Failure::fatal(message)),
        }
    }

    /// The failure with the codes of this convention: what commands share fails as git does.
    pub fn own(self, failure: Failure) -> Failure {
        match (self, failure.exit_code) {
            (Shape::Own, FATAL | USAGE) => Failure {
                severity: "error",
                exit_code: NOT_STARTED,
                ..failure
            },
            _ => failure,
        }
    }

    /// A failure because of wrong arguments.
    pub fn misuse(self, message: impl std::fmt::Display) -> Failure {
        Failure {
            exit_code: self.usage(),
            ..Failure::usage(message)
        }
    }

    /// The exit code for wrong usage.
    pub fn usage(self) -> u8 {
        match self {
            Shape::Git => USAGE,
            Shape::Own => NOT_STARTED,
        }
    }
}

/// From now on a panic is not printed, but kept for [`outcome`] to report.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let words = payload.downcast_ref::<&str>().copied();
        let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = panic.location().map_or_else(String::new, |place| {
            format!(" at {}:{}", place.file(), place.line())
        });
        DEFECT.get_or_init(|| format!("{}{place}", words.unwrap_or("panic")));
    }));
}

/// The outcome of `run`. A panic or lost output is a failure; `failed` makes an error from its
/// message.
pub fn outcome<E>(
    run: impl FnOnce() -> Result<u8, E>,
    failed: impl Fn(String) -> E,
) -> Result<u8, E> {
    let ran = catch_unwind(AssertUnwindSafe(run));
    let code = ran.unwrap_or_else(|_| {
        let defect = DEFECT.get().map_or("unknown", String::as_str);
        Err(failed(format!(
            "hedgerow failed because of a bug: {defect}"
        )))
    })?;
    match StandardOutput::finish() {
        // After an interruption, lost output is not reported.
        Err(error) if hedgerow_fs::caught_signal().is_none() => Err(failed(error.to_string())),
        _ => Ok(code),
    }
}

/// Tells of locks that could not be removed: they keep everybody out. Then `code` is that of a failure.
pub fn with_left_locks(code: u8, output: &Output) -> u8 {
    let left = hedgerow_fs::left_locks();
    left.iter().for_each(|error| output.error(error));
    if left.is_empty() {
        code
    } else {
        code.max(REFUSED)
    }
}

/// Exits with `code`, or by the signal that interrupted. Git dies by that of a closed pipe, too, so
/// that `set -o pipefail` sees an output that nobody read to its end; what `is_git` does the same.
pub fn end(code: u8, is_git: bool) -> ExitCode {
    if let Some(signal) = hedgerow_fs::caught_signal() {
        hedgerow_fs::end_by_signal(signal);
    } else if is_git && StandardOutput::has_no_reader() {
        hedgerow_fs::end_by_closed_pipe();
    }
    ExitCode::from(code)
}

/// Prints the help to standard output, or the error in the arguments to standard error. Returns
/// whether it was the help. `color`: when an error is colored.
pub fn show(error: &clap::Error, color: Color) -> bool {
    use std::io::Write;
    let is_help = !error.use_stderr();
    let is_colored = if is_help {
        crate::environment::output_takes_colors(false)
    } else {
        colors_errors(color)
    };
    let rendered = error.render();
    let text = if is_colored {
        rendered.ansi().to_string()
    } else {
        rendered.to_string()
    };
    let text = in_plain_words(&text);
    // `StandardOutput` remembers a failed write; a failure of standard error cannot be reported.
    let _ = if is_help {
        StandardOutput.write_all(text.as_bytes())
    } else {
        std::io::stderr().lock().write_all(text.as_bytes())
    };
    is_help
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_git_where_the_command_is() {
        for (command, fatal, usage) in [
            (Some("rev-list"), 128, 129),
            (Some("walk"), 2, 2),
            (None, 128, 129),
        ] {
            let shape = Shape::of(command);
            assert_eq!(shape.failure(String::new()).exit_code, fatal);
            assert_eq!(shape.usage(), usage);
        }
    }

    #[test]
    fn the_topic_names_every_own_command() {
        let topic = crate::help::topics::find("exit-codes").unwrap();
        let text = crate::help::topics::text(topic).replace('\n', " ");
        for name in OWN_COMMANDS.split(' ') {
            assert!(
                text.contains(&format!(" {name},")) || text.contains(&format!(" {name} ")),
                "{name}"
            );
        }
    }

    #[test]
    fn every_own_command_is_one() {
        let command = <crate::arguments::Arguments as clap::CommandFactory>::command();
        for name in OWN_COMMANDS.split(' ') {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }
}
