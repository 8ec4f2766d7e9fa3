//! `hedgerow stats`: what `--stats=FILE` recorded, in words or as a drawing.

use crate::arguments::Stats;
use crate::environment::from_directory;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use hedgerow::statistics::{draw, summary, Error};
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

/// The exit code of what cannot even start.
const NOT_STARTED: u8 = 2;

pub fn run(command: &Stats, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json {
        return Err(not_started("stats has no --json; the file is JSON already"));
    }
    let statistics =
        hedgerow::statistics::read(&from_directory(global, &command.file)).map_err(unreadable)?;
    match command.output.as_deref() {
        None => output.data(summary(&statistics).as_bytes()),
        Some(path) if path == Path::new("-") => output.data(draw(&statistics).as_bytes()),
        Some(path) => {
            let path = from_directory(global, path);
            write(&path, command.force, &draw(&statistics))?;
        }
    }
    Ok(0)
}

fn write(path: &Path, force: bool, drawing: &str) -> Result<(), Failure> {
    let written = statistics::write(path, force, drawing.as_bytes());
    written.map_err(|error| {
        let mut failure = not_started(&error);
        let is_taken = error.kind() == ErrorKind::AlreadyExists && !force;
        if is_taken && hedgerow_fs::is_there(path).unwrap_or(false) {
            failure.hint = Some("use -f to replace it".into());
        }
        failure
    })
}

fn unreadable(error: Error) -> Failure {
    let mut failure = not_started(&error);
    if matches!(error, Error::NotStatistics { .. }) {
        failure.hint = Some("use hedgerow --stats=FILE COMMAND to record one".into());
    }
    failure
}

fn not_started(message: impl Display) -> Failure {
    Failure {
        exit_code: NOT_STARTED,
        ..Failure::usage(message)
    }
}
