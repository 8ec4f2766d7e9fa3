//! `hedgerow stats`: what `--stats=FILE` recorded, in words, as a drawing or as a page.

use crate::arguments::{Stats, StatsFormat};
use crate::environment::from_directory;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use hedgerow::statistics::{comparison, draw, page, summary, Error, Named, Statistics};
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

/// The exit code of what cannot even start.
const NOT_STARTED: u8 = 2;

pub fn run(command: &Stats, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json {
        return Err(not_started("stats has no --json; the file is JSON already"));
    }
    let read = |path: &Path| {
        let statistics = hedgerow::statistics::read(&from_directory(global, path));
        statistics.map_err(unreadable)
    };
    let statistics = read(&command.file)?;
    let other = command.other.as_deref().map(read).transpose()?;
    let name = command.file.to_string_lossy();
    let other_name = command.other.as_deref().map(Path::to_string_lossy);
    let run = named(&name, &statistics);
    let other = other.as_ref().zip(other_name.as_deref());
    let other = other.map(|(statistics, name)| named(name, statistics));
    let Some(path) = command.output.as_deref() else {
        let words = other.map_or_else(|| summary(&statistics), |other| comparison(run, other));
        output.data(words.as_bytes());
        return Ok(0);
    };
    let drawn = match (format(command, path), other) {
        (StatsFormat::Html, other) => page(run, other),
        (StatsFormat::Svg, None) => draw(&statistics),
        (StatsFormat::Svg, Some(_)) => {
            let mut failure = not_started("a plot shows one run");
            failure.hint = Some("two are compared on a page: use -o NAME.html".into());
            return Err(failure);
        }
    };
    if path == Path::new("-") {
        output.data(drawn.as_bytes());
    } else {
        write(&from_directory(global, path), command.force, &drawn)?;
    }
    Ok(0)
}

fn named<'a>(name: &'a str, statistics: &'a Statistics) -> Named<'a> {
    Named { name, statistics }
}

/// The format that is asked for, or that the file's name suggests.
fn format(command: &Stats, path: &Path) -> StatsFormat {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_page = extension == "html" || extension == "htm";
    let by_name = if is_page {
        StatsFormat::Html
    } else {
        StatsFormat::Svg
    };
    command.format.unwrap_or(by_name)
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
