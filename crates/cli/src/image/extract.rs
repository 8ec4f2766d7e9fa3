//! `hedgerow image extract`.

use super::arguments::Extract;
use super::{open, unreadable};
use crate::environment::from_directory;
use crate::execution;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::walk::{interrupted_by_user, not_started};
use hedgerow::image::shown_path;
use hedgerow::image::WriteTreeError as Ended;
use hedgerow::image::{extract, ExtractError, ExtractOptions, Extracted, Failed, Problem};
use hedgerow::numbers::counted;
use hedgerow::Stage;
use serde::Serialize;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

pub fn run(command: &Extract, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    let started = Instant::now();
    let image = open(&command.place, global)?;
    let paths = command.paths.iter();
    let options = ExtractOptions {
        paths: paths.map(|path| path.as_bytes().to_vec()).collect(),
        strip_components: command.strip_components,
        replace: command.force,
        owners: !command.no_owner,
        xattrs: !command.no_xattrs,
        keep_privileges: command.keep_privileges,
        execution,
    };
    let progress = &options.execution.progress;
    let meter = Meter::start(global, "Extracting", progress, Stage::Entries);
    let target = from_directory(global, &command.target);
    let extracted = extract(&image, &target, &options, |failed| tell(failed, output));
    drop(meter);
    let extracted = extracted.map_err(|error| match error {
        ExtractError::Image(error) => unreadable(&command.place.image, error),
        ExtractError::Ended(Ended::Cancelled) => interrupted_by_user(),
        error => Failure {
            hint: hint(&error).map(str::to_owned),
            ..not_started(error)
        },
    })?;
    summarize(&extracted, global, output, started.elapsed());
    statistics::tell(global, &options.execution, output)?;
    Ok(if extracted.failed == 0 { 0 } else { PARTIAL })
}

/// The hint for `error`.
fn hint(error: &ExtractError) -> Option<&'static str> {
    match error {
        ExtractError::NotEmpty { .. } => {
            Some("-f extracts into it, and replaces what is in the way")
        }
        ExtractError::ForeignOwner { .. } => Some(
            "--no-owner extracts without owners, setuid bits, devices and attributes of root, \
             --keep-privileges with them",
        ),
        _ => None,
    }
}

fn tell(failed: Failed, output: &Output) {
    match (&failed.problem, &failed.path) {
        (Problem::Fs(error), _) => output.error(error),
        (problem, Some(path)) => {
            output.error(format_args!(
                "cannot extract '{}': {problem}",
                shown_path(path)
            ));
        }
        (problem, None) => output.error(problem),
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    entries: u64,
    bytes: u64,
    failed: u64,
}

fn summarize(extracted: &Extracted, global: &Global, output: &Output, elapsed: Duration) {
    let Extracted {
        entries,
        bytes,
        failed,
    } = *extracted;
    if global.json {
        let document = Document {
            schema: "hedgerow.image.extract.v1",
            entries,
            bytes,
            failed,
        };
        if let Ok(text) = serde_json::to_string(&document) {
            output.data(format!("{text}\n").as_bytes());
        }
        return;
    }
    let seconds = elapsed.as_secs_f64();
    output.say(format_args!(
        "{}, {} in {seconds:.2} s",
        counted(entries, "entry"),
        counted(bytes, "byte")
    ));
}
