//! Listings as files, of a whole tree or in parts.

use crate::error::{of_listing, os_error, system};
use crate::lock::without_lock;
use crate::path::{bytes_of, fspath, no_pipe, system_path, Flavor};
use crate::run::{execution, run_for_file, Watch};
use hedgerow::walk::listing::{
    merge, read_rest, write_listing, write_part, Format, Output, PartOptions,
};
use hedgerow::walk::{Budget, Omission, OpenDirectory, Patterns, Selection, WalkOptions};
use hedgerow::{CancelToken, Execution};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What is listed, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options<'py> {
    exclude: Vec<Bound<'py, PyAny>>,
    gitignore: bool,
    one_file_system: bool,
    max_depth: Option<usize>,
    threads: Option<usize>,
    replace: bool,
    /// Whether what cannot be read ends the listing; otherwise it is collected.
    raises: bool,
}

impl Options<'_> {
    fn walk(&self) -> PyResult<WalkOptions> {
        let exclude = self.exclude.iter().map(bytes_of);
        let exclude = exclude.collect::<PyResult<Vec<_>>>()?;
        Ok(WalkOptions {
            execution: execution(self.threads)?,
            one_file_system: self.one_file_system,
            metadata: true,
            selection: Selection {
                exclude: Patterns::of(exclude.iter().map(Vec::as_slice)),
                gitignore: self.gitignore,
                max_depth: self.max_depth,
                ..Selection::default()
            },
            ..WalkOptions::default()
        })
    }
}

/// Writes a listing of the tree below `root`. Returns the number of rows, and what could not be read.
#[pyfunction]
#[pyo3(signature = (root, path, *, format, options, watch))]
fn listing_write<'py>(
    root: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    format: &str,
    options: Options<'py>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = root.py();
    let format = format_named(format)?;
    let (root, target, walk) = (Root::open(root)?, path_of(path)?, options.walk()?);
    let output = output(py, &target, options.replace)?;
    let omitted = Omitted::new(options.raises, &walk.execution.cancel);
    let file = (&*target, options.replace);
    let written = run_for_file(py, &walk.execution, &watch, file, || {
        let tell = |omission| omitted.add(omission);
        write_listing(root.directory, &root.path, output, format, &walk, &tell)
    })?;
    let errors = omitted.into_exceptions(py, &root.path)?;
    let rows = written.map_err(|error| of_listing(py, &error))?;
    (rows, errors).into_pyobject(py)
}

/// Lists the directories `given` and what is below them until the budget is spent. Returns the number
/// of rows, the directories that are left, and what could not be read.
#[pyfunction]
#[pyo3(signature = (root, path, *, entries, seconds, given, options, watch))]
fn listing_part<'py>(
    root: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    entries: Option<u64>,
    seconds: Option<f64>,
    given: Vec<Bound<'py, PyAny>>,
    options: Options<'py>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = root.py();
    let given = given
        .iter()
        .map(|path| system_path(&fspath(path)?))
        .collect::<PyResult<Vec<_>>>()?;
    if let Some(wrong) = given.iter().find(|path| !is_below(path)) {
        let wrong = String::from_utf8_lossy(wrong);
        let message = format!("'{wrong}' is no directory relative to the root");
        return Err(PyValueError::new_err(message));
    }
    let (root, target) = (Root::open(root)?, path_of(path)?);
    let output = output(py, &target, options.replace)?;
    let part = PartOptions {
        root: root.path.clone(),
        walk: options.walk()?,
        budget: budget(entries, seconds)?,
        temporary: directory_of(&target),
    };
    let execution = &part.walk.execution;
    let omitted = Omitted::new(options.raises, &execution.cancel);
    let file = (&*target, options.replace);
    let written = run_for_file(py, execution, &watch, file, || {
        let tell = |omission| omitted.add(omission);
        write_part(root.directory, given, output, &part, &tell)
    })?;
    let errors = omitted.into_exceptions(py, &root.path)?;
    let written = written.map_err(|error| of_listing(py, &error))?;
    (written.rows, paths(py, &written.left)?, errors).into_pyobject(py)
}

/// Merges parts. Returns the number of rows, and what the parts could not read, as pairs of path and
/// words.
#[pyfunction]
#[pyo3(signature = (parts, path, *, format, replace, watch))]
fn listing_merge<'py>(
    parts: Vec<Bound<'py, PyAny>>,
    path: &Bound<'py, PyAny>,
    format: &str,
    replace: bool,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = path.py();
    let format = format_named(format)?;
    let parts = parts.iter().map(path_of).collect::<PyResult<Vec<_>>>()?;
    parts.iter().try_for_each(|part| no_pipe(py, part))?;
    let target = path_of(path)?;
    let output = output(py, &target, replace)?;
    let execution = Execution::default();
    let file = (&*target, replace);
    let merged = run_for_file(py, &execution, &watch, file, || {
        let temporary = directory_of(&target);
        merge(&parts, output, format, &temporary, &execution)
    })?;
    let merged = merged.map_err(|error| of_listing(py, &error))?;
    let failures = PyList::empty(py);
    for omitted in &merged.omitted {
        let words = format!("cannot {}: {}", omitted.operation, omitted.reason);
        failures.append((Flavor::Str.object(py, &omitted.path)?, words))?;
    }
    (merged.rows, failures).into_pyobject(py)
}

/// The directories that a part has left, or that are in a list of them.
#[pyfunction]
fn listing_rest<'py>(path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = path.py();
    let path = path_of(path)?;
    no_pipe(py, &path)?;
    let left = without_lock(py, || read_rest(&path));
    paths(py, &left.map_err(|error| of_listing(py, &error))?)
}

/// The directory whose tree is listed.
struct Root {
    directory: OpenDirectory,
    path: PathBuf,
}

impl Root {
    fn open(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = path.py();
        let object = fspath(path)?;
        let path = PathBuf::from(OsString::from_vec(system_path(&object)?));
        let opened = without_lock(py, || OpenDirectory::open(&path));
        let directory = opened.map_err(|error| os_error(py, &error, Some(&object)))?;
        Ok(Root { directory, path })
    }
}

/// What cannot be read: kept, or the first of it ends the listing.
struct Omitted<'c> {
    found: Mutex<Vec<Omission>>,
    /// What ends the listing.
    cancel: Option<&'c CancelToken>,
}

impl<'c> Omitted<'c> {
    fn new(raises: bool, cancel: &'c CancelToken) -> Self {
        Omitted {
            found: Mutex::default(),
            cancel: raises.then_some(cancel),
        }
    }

    fn add(&self, omission: Omission) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.push(omission);
        if let Some(cancel) = self.cancel {
            cancel.cancel();
        }
    }

    /// What was found as `OSError`s; the first of them as an error if it ended the listing.
    fn into_exceptions<'py>(self, py: Python<'py>, root: &Path) -> PyResult<Bound<'py, PyList>> {
        let mut found = self
            .found
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        let errors = PyList::empty(py);
        for omission in &found {
            let path = match &omission.path[..] {
                b"" => root.as_os_str().as_bytes().to_vec(),
                path => crate::path::join(root.as_os_str().as_bytes(), path),
            };
            let filename = Flavor::Str.object(py, &path)?;
            let error = os_error(py, &omission.source, Some(&filename));
            if self.cancel.is_some() {
                return Err(error);
            }
            errors.append(error.into_value(py))?;
        }
        Ok(errors)
    }
}

fn format_named(name: &str) -> PyResult<Format> {
    match name {
        "parquet" => Ok(Format::Parquet),
        "arrow" => Ok(Format::Arrow),
        "arrow-stream" => Ok(Format::ArrowStream),
        _ => Err(PyValueError::new_err(format!("unknown format '{name}'"))),
    }
}

fn budget(entries: Option<u64>, seconds: Option<f64>) -> PyResult<Budget> {
    let wrong = || PyValueError::new_err("a budget is a number of entries or a time");
    match (entries, seconds) {
        (Some(entries), None) => Ok(Budget::Entries(entries)),
        (None, Some(seconds)) => {
            let time = Duration::try_from_secs_f64(seconds);
            time.map(Budget::Time).map_err(|_| wrong())
        }
        _ => Err(wrong()),
    }
}

/// Whether a path cannot lead out of the tree. The root's is empty.
fn is_below(path: &[u8]) -> bool {
    let mut names = path.split(|byte| *byte == b'/');
    path.is_empty() || names.all(|name| !matches!(name, b"" | b"." | b".."))
}

fn path_of(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let bytes = system_path(&fspath(path)?)?;
    Ok(PathBuf::from(OsString::from_vec(bytes)))
}

fn paths<'py>(py: Python<'py>, paths: &[Vec<u8>]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for path in paths {
        list.append(Flavor::Str.object(py, path)?)?;
    }
    Ok(list)
}

fn output(py: Python<'_>, target: &Path, replace: bool) -> PyResult<Output> {
    let output = without_lock(py, || Output::to(target, replace));
    output.map_err(|error| system(py, &error))
}

/// Where temporary files are created: beside the file.
fn directory_of(target: &Path) -> PathBuf {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(listing_write, module)?)?;
    module.add_function(wrap_pyfunction!(listing_part, module)?)?;
    module.add_function(wrap_pyfunction!(listing_merge, module)?)?;
    module.add_function(wrap_pyfunction!(listing_rest, module)?)
}
