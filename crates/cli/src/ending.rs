//! How a run of the program ends: nothing that went wrong is silent. Output that did not arrive and
//! a defect are errors like others, and who was interrupted dies by the signal.

use crate::failure::{Failure, FATAL};
use crate::walk::NOT_STARTED;
use hedgerow_fs::StandardOutput;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Commands that git never had: their exit codes are their own.
const OWN_COMMANDS: [&str; 5] = ["generate", "image", "stats", "tune", "walk"];

/// What a panic said first, and where.
static DEFECT: OnceLock<String> = OnceLock::new();

/// Whose exit codes a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 128 for what cannot go on, 129 for arguments that make no sense.
    Git,
    /// 2 for both.
    Own,
}

impl Shape {
    /// That of the command of this name.
    pub fn of(command: Option<&str>) -> Self {
        match command {
            Some(name) if OWN_COMMANDS.contains(&name) => Shape::Own,
            _ => Shape::Git,
        }
    }

    /// Why the command cannot go on.
    pub fn failure(self, message: String) -> Failure {
        match self {
            Shape::Git => Failure::fatal(message),
            Shape::Own => Failure {
                severity: "error",
                exit_code: NOT_STARTED,
                ..Failure::fatal(message)
            },
        }
    }

    /// What is wrong with the arguments.
    pub fn misuse(self, message: impl std::fmt::Display) -> Failure {
        Failure {
            exit_code: self.usage(),
            ..Failure::usage(message)
        }
    }

    /// The exit code for arguments that make no sense.
    pub fn usage(self) -> u8 {
        match self {
            Shape::Git => FATAL + 1,
            Shape::Own => NOT_STARTED,
        }
    }
}

/// From now on a panic is kept for [`outcome`] to tell, and not told by itself.
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

/// What `run` comes to: a panic is a failure, and so is output that did not arrive. `failed` makes
/// one of a sentence.
pub fn outcome<E>(
    run: impl FnOnce() -> Result<u8, E>,
    failed: impl Fn(String) -> E,
) -> Result<u8, E> {
    let ran = catch_unwind(AssertUnwindSafe(run));
    let code = ran.unwrap_or_else(|_| {
        let defect = DEFECT.get().map_or("unknown", String::as_str);
        Err(failed(format!("a defect of hedgerow ended it: {defect}")))
    })?;
    match StandardOutput::finish() {
        // Whoever interrupts does not wait for the rest.
        Err(error) if hedgerow_fs::caught_signal().is_none() => Err(failed(error.to_string())),
        _ => Ok(code),
    }
}

/// Ends with `code`, or by the signal that interrupted.
pub fn end(code: u8) -> ExitCode {
    if let Some(signal) = hedgerow_fs::caught_signal() {
        hedgerow_fs::end_by_signal(signal);
    }
    ExitCode::from(code)
}

/// Shows the help, or tells what is wrong with the arguments, where each belongs. Whether it was
/// the help.
pub fn show(error: &clap::Error) -> bool {
    use std::io::{IsTerminal, Write};
    let is_help = !error.use_stderr();
    let is_colored = if is_help {
        crate::environment::output_takes_colors(false)
    } else {
        std::io::stderr().is_terminal() && crate::environment::variable("NO_COLOR").is_none()
    };
    let rendered = error.render();
    let text = if is_colored {
        rendered.ansi().to_string()
    } else {
        rendered.to_string()
    };
    // Standard output remembers that something did not arrive; of standard error, there is nobody
    // left to tell.
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
    fn every_own_command_is_one() {
        let command = <crate::arguments::Arguments as clap::CommandFactory>::command();
        for name in OWN_COMMANDS {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }
}
