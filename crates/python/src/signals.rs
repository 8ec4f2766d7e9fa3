//! What handlers of signals raise in the midst of code that can pass on no exception.

use pyo3::prelude::*;

/// How often another handler may raise while an exception is put off.
const TRIES: usize = 10;

/// Runs the handlers of pending signals. If one raises, this is true, and the interpreter raises the
/// same exception as soon as it runs again: until then, the caller must run nothing of it.
pub(crate) fn handler_raised(py: Python<'_>) -> bool {
    let Err(mut raised) = py.check_signals() else {
        return false;
    };
    for _ in 0..TRIES {
        match put_off(py, &raised) {
            Ok(()) => return true,
            // The handler of a further signal: Python, too, would go on with its exception.
            Err(further) => raised = further,
        }
    }
    raised.write_unraisable(py, None);
    true
}

fn put_off(py: Python<'_>, raised: &PyErr) -> PyResult<()> {
    let interrupt = py.import("_thread")?.getattr("interrupt_main")?;
    let carrier = py
        .import(concat!("hedgerow", "._signals"))?
        .getattr("carrier")?;
    let number = carrier.call1((raised.clone_ref(py),))?;
    // This comes last, and from here: after a call from Python, the handler would run at once.
    interrupt.call1((number,))?;
    Ok(())
}
