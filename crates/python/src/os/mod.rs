//! What stands in for `os.scandir` and `os.walk`.

mod entry;
mod fork;
mod scandir;
mod stat;
mod walk;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<entry::DirEntry>()?;
    module.add_class::<scandir::ScandirIterator>()?;
    module.add_class::<walk::Walker>()?;
    module.add_function(wrap_pyfunction!(scandir::scandir, module)?)?;
    module.add_function(wrap_pyfunction!(fork::before_fork, module)?)?;
    module.add_function(wrap_pyfunction!(fork::after_fork_in_parent, module)?)?;
    module.add_function(wrap_pyfunction!(fork::after_fork_in_child, module)?)?;
    Ok(())
}

/// Tells the interpreter's audit hooks that a directory is listed.
fn audit_scandir(path: &Bound<'_, PyAny>) -> PyResult<()> {
    // Looking it up takes longer than calling it.
    static AUDIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = path.py();
    let audit = AUDIT.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("sys")?.getattr("audit")?.unbind())
    })?;
    audit.call1(py, (intern!(py, "os.scandir"), path))?;
    Ok(())
}
