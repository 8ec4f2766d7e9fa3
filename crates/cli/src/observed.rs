//! `--trace` and `HEDGEROW_LOG`: what is told about a command while it runs.

use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::statistics::write;
use hedgerow::tracing::{span, write_trace, Trace, TRACE_EVENTS, TRACE_START};
use hedgerow::{Level, Log};
use hedgerow_fs::{Destination, ReadFile};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The variable that names a level.
const VARIABLE: &str = "HEDGEROW_LOG";

/// Prepares what `HEDGEROW_LOG` and `--trace` ask for. Refuses a file of the trace that holds
/// something else, before the command does anything.
pub fn prepare(global: &mut Global) -> Result<(), String> {
    global.log = log(global);
    let Some(path) = &global.trace else {
        return Ok(());
    };
    let path = environment::from_directory(global, path);
    if holds_something_else(&path).map_err(|error| error.to_string())? {
        let path = path.display();
        return Err(format!(
            "'{path}' does not hold a trace, and is left as it is"
        ));
    }
    global.tracing = Some(Arc::new(Trace::default()));
    Ok(())
}

/// Runs a command, and writes the trace of it, also if the command fails.
pub fn traced(
    global: &Global,
    output: &Output,
    command: impl FnOnce() -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let (Some(path), Some(trace)) = (&global.trace, &global.tracing) else {
        return command();
    };
    let lane = trace.enter("main");
    let whole = span("command");
    let outcome = command();
    drop(whole);
    drop(lane);
    let record = trace.snapshot();
    if record.dropped > 0 {
        output.warn(format_args!(
            "the trace ends early: it has {TRACE_EVENTS} events, and {} more were not recorded",
            record.dropped
        ));
    }
    let mut content = Vec::new();
    let process = (std::process::id(), "hedgerow");
    let written = write_trace(&record, process, &mut content);
    let path = environment::from_directory(global, path);
    let written = written
        .map_err(|error| error.to_string())
        .and_then(|()| write(&path, true, &content).map_err(|error| error.to_string()));
    match (outcome, written) {
        (Ok(_), Err(error)) => Err(Failure::fatal(error)),
        (Err(failure), Err(error)) => {
            output.error(error);
            Err(failure)
        }
        (outcome, Ok(())) => outcome,
    }
}

/// Whether there is a regular file that is no trace of an earlier command.
fn holds_something_else(path: &Path) -> Result<bool, hedgerow_fs::Error> {
    let Destination::File(path) = Destination::of(path)? else {
        return Ok(false);
    };
    if !hedgerow_fs::is_there(&path)? || hedgerow_fs::is_directory(&path) {
        return Ok(false);
    }
    let mut start = [0; TRACE_START.len()];
    let length = ReadFile::open(&path)?.read_at(&mut start, 0)?;
    Ok(length > 0 && start != *TRACE_START)
}

/// The log that the environment asks for: lines on standard error.
fn log(global: &Global) -> Log {
    let Some(wanted) = environment::variable(VARIABLE).filter(|value| !value.is_empty()) else {
        return Log::default();
    };
    let Some(level) = Level::ALL.into_iter().find(|level| wanted == level.name()) else {
        let wanted = wanted.to_string_lossy();
        Output::new(global).warn(format_args!(
            "{VARIABLE} is '{wanted}', and not error, warn, info or debug: nothing is logged"
        ));
        return Log::default();
    };
    let started = Instant::now();
    let json = global.json;
    Log::new(level, move |level, line| {
        let (level, seconds) = (level.name(), started.elapsed().as_secs_f64());
        let line = if json {
            let level = if level == "warn" { "warning" } else { level };
            let document = serde_json::json!({
                "schema": "hedgerow.message.v1", "severity": level, "message": line,
                "hint": null, "exit_code": null,
            });
            document.to_string()
        } else {
            let line = line.replace(|character: char| character.is_control(), "?");
            format!("{level} {seconds:.3} s: {line}")
        };
        // If standard error is gone, there is nowhere left to tell it.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    })
}
