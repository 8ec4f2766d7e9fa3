//! What stands in for `os.scandir` and `os.walk`.

mod entry;
mod fork;
mod scandir;
mod walk;

use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<entry::DirEntry>()?;
    module.add_class::<scandir::ScandirIterator>()?;
    module.add_class::<walk::Walker>()?;
    module.add_function(wrap_pyfunction!(scandir::scandir, module)?)?;
    module.add_function(wrap_pyfunction!(fork::before_fork, module)?)?;
    module.add_function(wrap_pyfunction!(fork::after_fork, module)?)?;
    Ok(())
}

/// Tells the interpreter's audit hooks that a directory is listed.
fn audit_scandir(path: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = path.py();
    let sys = py.import(pyo3::intern!(py, "sys"))?;
    sys.call_method1(pyo3::intern!(py, "audit"), ("os.scandir", path))?;
    Ok(())
}
