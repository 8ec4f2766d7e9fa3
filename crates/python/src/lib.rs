//! The native part of the Python package `hedgerow`. What users see is `python/hedgerow`: this module,
//! `hedgerow._hedgerow`, has what needs to be native.

mod error;
mod git;
mod image;
mod os;
mod path;
mod ranges;
mod rows;
mod run;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _hedgerow(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    os::add(module)?;
    rows::add(module)?;
    git::add(module)?;
    image::add(module)
}
