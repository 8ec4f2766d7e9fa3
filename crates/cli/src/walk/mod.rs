//! `hedgerow walk`: lists a directory tree.

mod arguments;
pub mod line;
pub mod sink;
mod summary;
mod table;

pub use arguments::{parse_shard, TableFormat, Walk};

use crate::environment::from_directory;
use crate::execution;
use crate::failure::{Failure, INTERRUPTED, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use hedgerow::walk::{walk, walk_sorted, Counted, Patterns, Selection, WalkOptions};
use hedgerow::{Execution, Stage};
use hedgerow_fs::{OpenDirectory, StandardOutput};
use line::Form;
use sink::Sink;
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use summary::summary;

/// The exit code of a command that cannot even start.
pub const NOT_STARTED: u8 = 2;

pub fn run(command: &Walk, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json && command.null {
        return Err(not_started("--json has lines of its own: it takes no -0"));
    }
    if command.is_table() {
        return table::run(command, global, output);
    }
    let execution = execution::interruptible(global)?;
    let named = walked(command)?.unwrap_or(Path::new("."));
    let path = from_directory(global, named);
    let root = OpenDirectory::open(&path).map_err(|source| {
        let error = hedgerow_fs::Error::new("open", named, source);
        not_started(error)
    })?;
    let options = options(command, execution);
    let sink = Sink::new(form(command, global)?, command.summary, named, output);
    let counted = Counted::new(&sink, &options.execution);
    let progress = &options.execution.progress;
    let meter = Meter::start(global, "Listing", progress, Stage::Entries);
    // Totals are the same in any order.
    let walked = if command.sort && !command.summary {
        walk_sorted(root, &path, &counted, &options)
    } else {
        walk(root, &path, &counted, &options)
    };
    drop(meter);
    let written = match walked {
        Ok(_) => sink.failure().map_or(Ok(()), Err),
        Err(hedgerow::walk::Failure::Failed(error)) => Err(error),
        Err(hedgerow::walk::Failure::Cancelled) => return Err(interrupted_by_user()),
        Err(error) => return Err(not_started(error)),
    };
    let written = written.and_then(|()| {
        if command.summary {
            let shown = summary(&sink.totals(), global.json, sink.omitted());
            sink::write(shown.as_bytes())
        } else {
            Ok(())
        }
    });
    // A closed pipe is no error: the reader wants no more.
    if let Err(error) = written.or_else(closed_pipe_is_fine) {
        let error = hedgerow_fs::Error::new("write", "standard output", error);
        return Err(not_started(error));
    }
    statistics::tell(global, &options.execution, output)?;
    Ok(match sink.omitted() {
        0 => 0,
        _ => PARTIAL,
    })
}

/// The directory to list, if it is named.
fn walked(command: &Walk) -> Result<Option<&Path>, Failure> {
    match &command.walked[..] {
        [] => Ok(None),
        [walked] => Ok(Some(walked)),
        [_, second, ..] => {
            let second = second.display();
            Err(not_started(format_args!(
                "walk lists one directory; unexpected '{second}'"
            )))
        }
    }
}

fn options(command: &Walk, execution: Execution) -> WalkOptions {
    let exclude = command.exclude.iter();
    let exclude: Vec<&[u8]> = exclude.map(|glob| glob.as_bytes()).collect();
    WalkOptions {
        execution,
        one_file_system: command.one_file_system,
        metadata: command.stat || command.summary,
        selection: Selection {
            kinds: command.types.iter().map(|kind| (*kind).into()).collect(),
            max_depth: command.max_depth,
            exclude: Patterns::parse(&exclude.join(&b'\n')),
            gitignore: command.gitignore,
            ..Selection::default()
        },
        ..WalkOptions::default()
    }
}

fn form(command: &Walk, global: &Global) -> Result<Form, Failure> {
    let mut prefix = match walked(command)? {
        Some(path) => path.as_os_str().as_bytes().to_vec(),
        None => Vec::new(),
    };
    if prefix.last().is_some_and(|byte| *byte != b'/') {
        prefix.push(b'/');
    }
    Ok(Form {
        schema: line::SCHEMA,
        json: global.json,
        end: if command.null { b'\0' } else { b'\n' },
        terminal: !command.null && StandardOutput::is_terminal(),
        prefix,
    })
}

pub fn closed_pipe_is_fine(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}

pub fn interrupted_by_user() -> Failure {
    Failure {
        severity: "error",
        exit_code: INTERRUPTED,
        ..Failure::fatal("interrupted")
    }
}

pub fn not_started(message: impl Display) -> Failure {
    Failure {
        severity: "error",
        exit_code: NOT_STARTED,
        ..Failure::fatal(message)
    }
}
