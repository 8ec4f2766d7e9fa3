//! Runs work in a thread of its own, so that the caller's thread can be interrupted and tell of the
//! progress meanwhile.

use crate::error;
use crate::lock::without_lock;
use hedgerow::plumbing::files::{identity, remove_file, FileKind};
use hedgerow::plumbing::threads::start_scoped;
use hedgerow::{Execution, Jobs};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the interpreter is asked for signals.
const POLL_TIME: Duration = Duration::from_millis(20);
/// How often progress is told.
const PROGRESS_TIME: Duration = Duration::from_millis(100);

/// How something is run with `threads` workers; as many as are useful if `None`.
pub(crate) fn execution(threads: Option<usize>) -> PyResult<Execution> {
    let jobs = match threads {
        None => Jobs::Auto,
        Some(count) => {
            let count = NonZeroUsize::new(count);
            Jobs::Fixed(count.ok_or_else(|| PyValueError::new_err("threads must be positive"))?)
        }
    };
    Ok(Execution {
        jobs,
        ..Execution::default()
    })
}

/// With what a caller watches work: a function that is told of the progress, and an event that ends the work
/// once it is set.
#[derive(Default, FromPyObject)]
pub(crate) struct Watch<'py>(Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

impl Watch<'_> {
    fn ask(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        let Watch(_, Some(cancel)) = self else {
            return Ok(());
        };
        if cancel.call_method0("is_set")?.is_truthy()? {
            return Err(error::named(py, "Cancelled", "it was cancelled"));
        }
        Ok(())
    }

    /// Calls the function with the name of the stage, the steps done, all steps, or 0 if that is unknown, and
    /// bytes.
    fn tell(&self, execution: &Execution) -> PyResult<()> {
        let Watch(Some(progress), _) = self else {
            return Ok(());
        };
        if let Some((stage, steps)) = execution.progress.current() {
            progress.call1((
                stage.to_string(),
                steps.done(),
                steps.total(),
                steps.bytes(),
            ))?;
        }
        Ok(())
    }
}

/// Whether the work is over.
#[derive(Default)]
struct Over {
    flag: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    fn wait(&self, patience: Duration) -> bool {
        let flag = self.flag.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(flag, patience, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Tells that the work is over, also after a panic.
struct Tell<'o>(&'o Over);

impl Drop for Tell<'_> {
    fn drop(&mut self) {
        *self.0.flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

/// Runs `work` without the interpreter's lock. A signal cancels `execution`, and so does who watches it.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    execution: &Execution,
    watch: &Watch<'_>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    run_or_undo(py, execution, watch, work, |_| ())
}

/// The same for work that creates the file `target`: after an exception there is none, even if it was
/// complete by then. One that replaced another stays.
pub(crate) fn run_for_file<T: Send, E: Send>(
    py: Python<'_>,
    execution: &Execution,
    watch: &Watch<'_>,
    (target, replace): (&Path, bool),
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<Result<T, E>> {
    run_or_undo(py, execution, watch, work, |made| {
        let is_file = || identity(target, false).is_ok_and(|found| found.kind == FileKind::File);
        if made.is_ok() && !replace && is_file() {
            // The exception says more than that this failed.
            let _ = remove_file(target);
        }
    })
}

fn run_or_undo<T: Send>(
    py: Python<'_>,
    execution: &Execution,
    watch: &Watch<'_>,
    work: impl FnOnce() -> T + Send,
    undo: impl FnOnce(T),
) -> PyResult<T> {
    watch.ask(py)?;
    let over = Over::default();
    std::thread::scope(|threads| {
        let tell = Tell(&over);
        let worker = start_scoped(threads, "work", move || {
            let _tell = tell;
            work()
        });
        let worker = worker.map_err(|error| error::system(py, &error))?;
        let mut interruption = None;
        let mut told = Instant::now();
        while !without_lock(py, || over.wait(POLL_TIME)) {
            if interruption.is_some() {
                continue;
            }
            let mut asked = watch.ask(py);
            if asked.is_ok() && told.elapsed() >= PROGRESS_TIME {
                told = Instant::now();
                asked = watch.tell(execution);
            }
            if let Err(error) = asked {
                execution.cancel.cancel();
                interruption = Some(error);
            }
        }
        let result = worker.join();
        if let Some(interruption) = interruption {
            if let Ok(result) = result {
                undo(result);
            }
            return Err(interruption);
        }
        let result = result.map_err(|payload| {
            let message = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned());
            let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
            error::internal(py, &message.unwrap_or_default())
        })?;
        match watch.tell(execution) {
            Ok(()) => Ok(result),
            Err(error) => {
                undo(result);
                Err(error)
            }
        }
    })
}
