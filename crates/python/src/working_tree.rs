//! Git working trees: switching, status.

use crate::error::class;
use crate::path::{bytes_of, Flavor};
use crate::repository::{environment, failed};
use crate::run::{execution, run, Watch};
use hedgerow::checkout::{switch, Done, Outcome, SwitchOptions, Target};
use hedgerow::status::{status, IgnoredFiles, Options, Status, UntrackedFiles};
use hedgerow::Repository;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Switches the working tree at `path`.
#[pyfunction]
#[pyo3(signature = (path, revision, *, force, detach, threads, watch))]
fn checkout<'py>(
    path: &Bound<'py, PyAny>,
    revision: &Bound<'py, PyAny>,
    force: bool,
    detach: bool,
    threads: Option<usize>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = path.py();
    let environment = environment(path)?;
    let revision = bytes_of(revision)?;
    let options = SwitchOptions {
        discard_changes: force,
        overwrite_untracked: force,
        execution: execution(threads)?,
        ..SwitchOptions::default()
    };
    let switched = run(py, &options.execution, &watch, || {
        let repository = Repository::discover(&environment)?;
        let word = revision.as_slice().into();
        let target = if detach {
            let id = repository.resolve(word)?;
            let named = Target::named(&repository, word, id, true)?;
            named
                .target
                .map_or_else(|| Target::of_revision(&repository, word), Ok)?
        } else {
            Target::of_revision(&repository, word)?
        };
        switch(&repository, &target, &options)
    })?;
    let switched = switched.map_err(failed(py))?;
    if let Some(error) = switched.head_failure {
        return Err(failed(py)(error));
    }
    let done = match switched.outcome {
        Outcome::Done(done) | Outcome::Incomplete(done) => done,
        Outcome::Rejected(rejects) => {
            let lists = rejects.by_reason();
            let paths = lists.iter().flat_map(|(_, paths)| paths.iter());
            let paths: Vec<&[u8]> = paths.map(|path| path.as_slice()).collect();
            return Err(rejected(
                py,
                "local changes would be lost; nothing was touched",
                paths,
            ));
        }
        Outcome::Unmerged(paths) => {
            let paths = paths.iter().map(|path| path.as_slice()).collect();
            return Err(rejected(
                py,
                "paths are in conflict; nothing was touched",
                paths,
            ));
        }
    };
    checked_out(py, &done)
}

fn checked_out<'py>(py: Python<'py>, done: &Done) -> PyResult<Bound<'py, PyTuple>> {
    let failures = PyList::empty(py);
    for failure in &done.failures {
        failures.append((Flavor::Str.object(py, &failure.path)?, &failure.reason))?;
    }
    (
        done.written,
        done.removed,
        done.bytes,
        failures,
        &done.warnings,
    )
        .into_pyobject(py)
}

fn rejected(py: Python<'_>, message: &str, paths: Vec<&[u8]>) -> PyErr {
    let exception = || {
        let list = PyList::empty(py);
        for path in paths {
            list.append(Flavor::Str.object(py, path)?)?;
        }
        let class = class(py, "CheckoutRejected")?;
        class.call1((message, list))
    };
    match exception() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The status of the working tree at `path`.
#[pyfunction]
#[pyo3(name = "status", signature = (path, *, untracked, ignored, threads, watch))]
fn status_of<'py>(
    path: &Bound<'py, PyAny>,
    untracked: &str,
    ignored: bool,
    threads: Option<usize>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = path.py();
    let environment = environment(path)?;
    let options = Options {
        untracked: match untracked {
            "no" => UntrackedFiles::No,
            "normal" => UntrackedFiles::Normal,
            "all" => UntrackedFiles::All,
            _ => {
                return Err(PyValueError::new_err(
                    "untracked is 'no', 'normal' or 'all'",
                ))
            }
        },
        ignored: if ignored {
            IgnoredFiles::Traditional
        } else {
            IgnoredFiles::No
        },
        execution: execution(threads)?,
        ..Options::default()
    };
    let found = run(py, &options.execution, &watch, || {
        let repository = Repository::discover(&environment)?;
        status(&repository, &options)
    })?;
    status_rows(py, &found.map_err(failed(py))?)
}

fn status_rows<'py>(py: Python<'py>, found: &Status) -> PyResult<Bound<'py, PyDict>> {
    let changes = PyList::empty(py);
    for change in &found.changes {
        let (staged, unstaged) = change.letters();
        let from = change.rename.as_ref().map(|rename| &rename.source);
        let from = from.map(|from| Flavor::Str.object(py, from)).transpose()?;
        changes.append((
            Flavor::Str.object(py, &change.path)?,
            staged,
            unstaged,
            change.conflict.is_some(),
            from,
        ))?;
    }
    let rows = PyDict::new(py);
    rows.set_item("changes", changes)?;
    for (name, paths) in [("untracked", &found.untracked), ("ignored", &found.ignored)] {
        let list = PyList::empty(py);
        for path in paths {
            list.append(Flavor::Str.object(py, path)?)?;
        }
        rows.set_item(name, list)?;
    }
    rows.set_item("warnings", &found.warnings)?;
    rows.set_item("failures", &found.failures)?;
    Ok(rows)
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(checkout, module)?)?;
    module.add_function(wrap_pyfunction!(status_of, module)?)
}
