//! `hedgerow stats`: what `--stats=FILE` recorded, in words or as a drawing.

mod latency_panel;
mod plot;
mod queue_panel;
mod read;
mod scale;
mod summary;
mod svg;
mod timeline;
mod workers_panel;

use crate::arguments::{Global, Stats};
use crate::environment::from_directory;
use crate::failure::Failure;
use crate::output::Output;
use crate::statistics;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

pub use summary::summary;

/// The exit code of what cannot even start.
const NOT_STARTED: u8 = 2;

pub fn run(command: &Stats, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json {
        return Err(not_started("stats has no --json; the file is JSON already"));
    }
    let statistics = read::statistics(&from_directory(global, &command.file))?;
    match command.output.as_deref() {
        None => output.data(summary(&statistics).as_bytes()),
        Some(path) if path == Path::new("-") => output.data(plot::draw(&statistics).as_bytes()),
        Some(path) => {
            let path = from_directory(global, path);
            write(&path, command.force, &plot::draw(&statistics))?;
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
            failure.hint = Some("-f replaces it".into());
        }
        failure
    })
}

fn not_started(message: impl Display) -> Failure {
    Failure {
        exit_code: NOT_STARTED,
        ..Failure::usage(message)
    }
}
