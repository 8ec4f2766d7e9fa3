//! Errors of the libraries as Python's exceptions.

use pyo3::exceptions::PyOSError;
use pyo3::intern;
use pyo3::prelude::*;
use std::io;

/// The `OSError` of a failed system call on `filename`: of the subclass that Python has for its number.
pub(crate) fn os_error(
    py: Python<'_>,
    error: &io::Error,
    filename: Option<&Bound<'_, PyAny>>,
) -> PyErr {
    let Some(number) = error.raw_os_error() else {
        return PyOSError::new_err(error.to_string());
    };
    match exception(py, number, filename) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn exception<'py>(
    py: Python<'py>,
    number: i32,
    filename: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let words = py
        .import(intern!(py, "os"))?
        .call_method1(intern!(py, "strerror"), (number,))?;
    let class = py.get_type::<PyOSError>();
    match filename {
        Some(filename) => class.call1((number, words, filename)),
        None => class.call1((number, words)),
    }
}
