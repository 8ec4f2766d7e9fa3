//! `--stats`: the engine's statistics.

use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::words;
use hedgerow::statistics::name;
use hedgerow::Execution;
use hedgerow_fs::{Destination, LockFile, ReadFile};
use std::io::Write;
use std::path::Path;

/// Shows the figures, or writes them as JSON to the named file.
pub fn tell(global: &Global, execution: &Execution, output: &Output) -> Result<(), Failure> {
    let (Some(wanted), Some(recorder)) = (&global.stats, &execution.statistics) else {
        return Ok(());
    };
    let mut statistics = recorder.snapshot();
    let words = environment::words();
    let of_command = words::command(&words).and_then(|at| words.get(at..));
    name(
        &mut statistics,
        of_command.unwrap_or_default(),
        execution.jobs,
    );
    let Some(path) = wanted else {
        output.error_line(hedgerow::statistics::summary(&statistics).trim_end());
        return Ok(());
    };
    let mut json = serde_json::to_vec_pretty(&statistics).map_err(Failure::fatal)?;
    json.push(b'\n');
    let path = environment::from_directory(global, path);
    check_content(&path)?;
    write(&path, true, &json).map_err(Failure::fatal)
}

/// Refuses a file that could not be written, before the command starts.
pub fn check(global: &Global) -> Result<(), Failure> {
    let Some(Some(path)) = &global.stats else {
        return Ok(());
    };
    let path = environment::from_directory(global, path);
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !hedgerow_fs::is_directory(parent)) {
        return Err(Failure::fatal(format_args!(
            "cannot create '{}': '{}' is no directory",
            path.display(),
            parent.display()
        )));
    }
    check_content(&path)
}

fn check_content(path: &Path) -> Result<(), Failure> {
    if holds_something_else(path).map_err(Failure::fatal)? {
        return Err(Failure::fatal(format_args!(
            "'{}' does not hold statistics, and is left as it is",
            path.display()
        )));
    }
    Ok(())
}

/// Whether there is a regular file that is not from an earlier `--stats`: it may be the input or
/// the output of the command.
fn holds_something_else(path: &Path) -> Result<bool, hedgerow_fs::Error> {
    let Destination::File(path) = Destination::of(path)? else {
        return Ok(false);
    };
    if !hedgerow_fs::is_there(&path)? || hedgerow_fs::is_directory(&path) {
        return Ok(false);
    }
    let is_empty = ReadFile::open(&path)?.read_at(&mut [0], 0)? == 0;
    Ok(!is_empty && hedgerow::statistics::read(&path).is_err())
}

/// Writes a file through a temporary file beside it; writes into anything that is not a regular
/// file directly. An existing file is kept unless `replaces`.
pub fn write(path: &Path, replaces: bool, content: &[u8]) -> Result<(), hedgerow_fs::Error> {
    match Destination::of(path)? {
        Destination::File(path) => {
            let mut file = LockFile::acquire(&path)?;
            file.write_all(content)?;
            if replaces {
                file.commit().map(drop)
            } else {
                file.commit_new()
            }
        }
        Destination::Stream(sink) => {
            let mut stream = sink.open()?;
            let written = stream.write_all(content);
            written.map_err(|source| hedgerow_fs::Error::new("write", path, source))?;
            stream.close()
        }
    }
}
