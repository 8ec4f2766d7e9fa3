//! The native part of the Python package `hedgerow`. What users see is `python/hedgerow`: this module,
//! `hedgerow._hedgerow`, has what needs to be native.

mod columns;
mod error;
mod image;
mod listing;
mod lock;
mod os;
mod path;
mod ranges;
mod repository;
mod rows;
mod run;
mod signals;
mod working_tree;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _hedgerow(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(lock::ending, module)?)?;
    os::add(module)?;
    rows::add(module)?;
    listing::add(module)?;
    repository::add(module)?;
    working_tree::add(module)?;
    image::add(module)
}
