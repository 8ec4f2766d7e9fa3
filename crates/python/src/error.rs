//! Errors of the libraries as Python's exceptions. Those that are no `OSError` are defined in
//! `hedgerow.errors`.

use crate::path::Flavor;
use hedgerow::image::{
    ContentError, ExtractError, Problem, VerifyError, WriteError, WriteTreeError,
};
use hedgerow::pack::{PackError, ReachError};
use hedgerow::plumbing::tar::{self, SourceError};
use hedgerow::plumbing::walk;
use hedgerow::walk::listing;
use hedgerow::{image, repository, SystemError};
use pyo3::exceptions::PyOSError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::error::Error;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// "Bad message": what the system says of data that contradicts itself.
const EBADMSG: i32 = 74;
/// What the system says when it cannot say more.
const EIO: i32 = 5;
/// What it says when there are too many threads.
const EAGAIN: i32 = 11;
const EEXIST: i32 = 17;
/// The operation of an error that is about a thread.
const START_THREAD: &str = "start the thread";

/// The `OSError` of a failed system call on `filename`: of the subclass that Python has for its number.
pub(crate) fn os_error(
    py: Python<'_>,
    error: &io::Error,
    filename: Option<&Bound<'_, PyAny>>,
) -> PyErr {
    if let Some(raised) = raised(py, error) {
        return raised;
    }
    match number(error) {
        Some(number) => made(exception(py, number, filename, None)),
        None => made(exception(py, EIO, filename, Some(&error.to_string()))),
    }
}

/// The exception that a function of the caller has raised, if that is what failed.
fn raised(py: Python<'_>, error: &io::Error) -> Option<PyErr> {
    let raised = error.get_ref()?.downcast_ref::<PyErr>()?;
    Some(raised.clone_ref(py))
}

/// The system's number of an error, also if it was noticed before the system was asked.
fn number(error: &io::Error) -> Option<i32> {
    const EINVAL: i32 = 22;
    let noticed = match error.kind() {
        io::ErrorKind::AlreadyExists => Some(EEXIST),
        io::ErrorKind::InvalidInput => Some(EINVAL),
        _ => None,
    };
    error.raw_os_error().or(noticed)
}

fn made(exception: PyResult<Bound<'_, PyAny>>) -> PyErr {
    match exception {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn exception<'py>(
    py: Python<'py>,
    number: i32,
    filename: Option<&Bound<'py, PyAny>>,
    words: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let words = match words {
        Some(words) => PyString::new(py, words).into_any(),
        None => py
            .import(intern!(py, "os"))?
            .call_method1(intern!(py, "strerror"), (number,))?,
    };
    let class = py.get_type::<PyOSError>();
    match filename {
        Some(filename) => class.call1((number, words, filename)),
        None => class.call1((number, words)),
    }
}

/// A failed system call of the libraries.
pub(crate) fn system(py: Python<'_>, error: &SystemError) -> PyErr {
    if error.operation == START_THREAD {
        // What has the place of a path is the thread's name.
        let number = error.source.raw_os_error().unwrap_or(EAGAIN);
        let words = format!("no thread can be started: {}", error.reason());
        return made(exception(py, number, None, Some(&words)));
    }
    match Flavor::Str.object(py, error.path.as_os_str().as_bytes()) {
        Ok(filename) => os_error(py, &error.source, Some(&filename)),
        Err(error) => error,
    }
}

/// A defect of this package.
pub(crate) fn internal(py: Python<'_>, message: &str) -> PyErr {
    named(py, "InternalError", message)
}

/// The class `name` of `hedgerow.errors`.
pub(crate) fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(concat!("hedgerow", ".errors"))?.getattr(name)
}

/// The exception `name` of `hedgerow.errors`.
pub(crate) fn named(py: Python<'_>, name: &str, message: &str) -> PyErr {
    made(class(py, name).and_then(|class| class.call1((message,))))
}

/// What is wrong with the file at `path`, as the `OSError` `name` with its name.
fn broken(py: Python<'_>, name: &str, path: Option<&Path>, message: &str) -> PyErr {
    let exception = || {
        let class = class(py, name)?;
        match path {
            Some(path) => {
                let path = Flavor::Str.object(py, path.as_os_str().as_bytes())?;
                class.call1((EBADMSG, message, path))
            }
            None => class.call1((EBADMSG, message)),
        }
    };
    made(exception())
}

/// An error of `image` about the image at `path`.
pub(crate) fn of_image(py: Python<'_>, error: &image::Error, path: Option<&Path>) -> PyErr {
    let of_entry = |number: i32, entry: &[u8]| match Flavor::Str.object(py, entry) {
        Ok(entry) => made(exception(py, number, Some(&entry), None)),
        Err(error) => error,
    };
    const ENOENT: i32 = 2;
    const ENOTDIR: i32 = 20;
    const EISDIR: i32 = 21;
    const EINVAL: i32 = 22;
    match error {
        image::Error::Fs(error) => system(py, error),
        image::Error::NotFound(entry) => of_entry(ENOENT, entry),
        image::Error::Kind { path, expected } => match *expected {
            "regular file" => of_entry(EISDIR, path),
            "directory" => of_entry(ENOTDIR, path),
            _ => of_entry(EINVAL, path),
        },
        other => broken(py, "ImageError", path, &other.to_string()),
    }
}

/// An error of a listing.
pub(crate) fn of_listing(py: Python<'_>, error: &listing::Error) -> PyErr {
    match error {
        listing::Error::Fs(error) => system(py, error),
        listing::Error::Damaged { path, what } | listing::Error::Rest { path, what } => {
            broken(py, "ListingError", Some(path), what)
        }
        listing::Error::Differs { path, .. } => {
            broken(py, "ListingError", Some(path), &error.to_string())
        }
        listing::Error::Incomplete { count, examples } => {
            let message = error.to_string();
            let class = class(py, "IncompleteListing");
            made(class.and_then(|class| class.call1((message, *count, examples))))
        }
        other => of_verb(py, other, None),
    }
}

/// Any error of a verb. `path` is the image concerned, if it is one.
pub(crate) fn of_verb(py: Python<'_>, error: &(dyn Error + 'static), path: Option<&Path>) -> PyErr {
    if let Some(error) = system_cause(error) {
        return system(py, error);
    }
    if let Some(error) = image_cause(error) {
        return of_image(py, error, path);
    }
    if let Some(ExtractError::NotEmpty { path }) = error.downcast_ref::<ExtractError>() {
        return match Flavor::Str.object(py, path.as_os_str().as_bytes()) {
            Ok(path) => made(exception(
                py,
                EEXIST,
                Some(&path),
                Some("Directory is not empty"),
            )),
            Err(error) => error,
        };
    }
    // Where the call that failed is not known, its number still is.
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<SystemError>() {
            return system(py, error);
        }
        if let Some(error) = image_cause(error) {
            return of_image(py, error, path);
        }
        if let Some(SourceError::Archive { archive, source }) = error.downcast_ref() {
            if let Some(error) = of_archive(py, source, archive) {
                return error;
            }
        }
        let source = error.downcast_ref::<io::Error>();
        if let Some(raised) = source.and_then(|source| raised(py, source)) {
            return raised;
        }
        if let Some(number) = source.and_then(io::Error::raw_os_error) {
            return PyOSError::new_err((number, error_words(error)));
        }
        cause = error.source();
    }
    let message = error.to_string();
    if message.starts_with("a worker panicked") {
        return internal(py, &message);
    }
    let is_of_git =
        error.is::<repository::Error>() || error.is::<ReachError>() || error.is::<PackError>();
    named(py, if is_of_git { "GitError" } else { "Error" }, &message)
}

/// An error of the archive at `path`, if the system has a word for it.
fn of_archive(py: Python<'_>, error: &tar::Error, path: &Path) -> Option<PyErr> {
    const ENOTDIR: i32 = 20;
    let filename = match Flavor::Str.object(py, path.as_os_str().as_bytes()) {
        Ok(filename) => filename,
        Err(error) => return Some(error),
    };
    match error {
        tar::Error::NotTar(_) => {
            let words = format!("Not a directory, nor a tar archive: {error}");
            Some(made(exception(py, ENOTDIR, Some(&filename), Some(&words))))
        }
        tar::Error::Read { source, .. } => Some(os_error(py, source, Some(&filename))),
        _ => None,
    }
}

fn error_words(error: &(dyn Error + 'static)) -> String {
    error.to_string()
}

/// The system call that failed, if the error is about one.
fn system_cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e SystemError> {
    if let Some(error) = error.downcast_ref::<SystemError>() {
        return Some(error);
    }
    if let Some(error) = error.downcast_ref::<repository::Error>() {
        return match error {
            repository::Error::Fs(error) => Some(error),
            repository::Error::Pack(PackError::Fs(error)) => Some(error),
            repository::Error::AfterFailures { error, .. } => system_cause(&**error),
            _ => None,
        };
    }
    if let Some(PackError::Fs(error)) = error.downcast_ref::<PackError>() {
        return Some(error);
    }
    if let Some(walk::SourceError::Open(error)) = error.downcast_ref::<walk::SourceError>() {
        return Some(error);
    }
    match error.downcast_ref::<WriteError>() {
        Some(WriteError::File(error)) => return Some(error),
        Some(WriteError::Source(error)) => return error.source().and_then(system_cause),
        _ => {}
    }
    match error.downcast_ref::<ExtractError>() {
        Some(ExtractError::Target(error)) => return Some(error),
        Some(ExtractError::Ended(WriteTreeError::Root(error))) => return Some(error),
        Some(ExtractError::Ended(WriteTreeError::Full { problem, .. })) => {
            return match problem {
                Problem::Fs(error) => Some(error),
                _ => None,
            }
        }
        Some(ExtractError::Ended(error)) => return error.source().and_then(system_cause),
        _ => {}
    }
    None
}

fn image_cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e image::Error> {
    if let Some(error) = error.downcast_ref::<image::Error>() {
        return Some(error);
    }
    if let Some(ContentError::Image(error)) = error.downcast_ref::<ContentError>() {
        return Some(error);
    }
    if let Some(VerifyError::Open(error)) = error.downcast_ref::<VerifyError>() {
        return Some(error);
    }
    match error.downcast_ref::<ExtractError>() {
        Some(ExtractError::Image(error)) => Some(error),
        _ => None,
    }
}
