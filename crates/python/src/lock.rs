//! Giving up the interpreter's lock and taking it again, also while the interpreter ends.
//!
//! A thread that asks for the lock then does not get it: up to Python 3.13 that call ends the thread by
//! unwinding it, and Rust's frames abort the process. So from the moment when the interpreter begins to end,
//! other threads wait instead of asking, and end with the process.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::OnceLock;
use std::thread::{current, park, sleep, ThreadId};
use std::time::{Duration, Instant};

/// The thread that ends the interpreter.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// The number of threads that ask for the lock, or run a function of the caller.
static ASKING: AtomicUsize = AtomicUsize::new(0);
/// How long the end waits for those: a function may wait for the very thread that ends the interpreter.
const PATIENCE: Duration = Duration::from_secs(1);
const POLL_TIME: Duration = Duration::from_millis(1);

/// A thread that asks for the lock.
struct Asking(());

impl Asking {
    /// Does not return if the interpreter ends.
    fn start() -> Self {
        ASKING.fetch_add(1, SeqCst);
        let asking = Asking(());
        if ENDING.get().is_some_and(|ending| *ending != current().id()) {
            drop(asking);
            loop {
                park();
            }
        }
        asking
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // After a fork, the child counts from 0.
        let _ = ASKING.fetch_update(SeqCst, SeqCst, |asking| asking.checked_sub(1));
    }
}

/// Does `work` without the lock.
pub(crate) fn without_lock<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let (done, asking) = py.detach(|| (work(), Asking::start()));
    drop(asking);
    done
}

/// Does `work` with the lock, in a thread that has given it up or never had it.
pub(crate) fn with_lock<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    let _asking = Asking::start();
    Python::attach(work)
}

/// The same for a thread that may be another program's; `None` if the interpreter has ended.
pub(crate) fn try_with_lock<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _asking = Asking::start();
    Python::try_attach(work)
}

/// For `atexit`: from now on, no other thread asks for the lock. Waits for those that do.
#[pyfunction]
pub(crate) fn ending(py: Python<'_>) {
    ENDING.get_or_init(|| current().id());
    let start = Instant::now();
    py.detach(|| {
        while ASKING.load(SeqCst) > 0 && start.elapsed() < PATIENCE {
            sleep(POLL_TIME);
        }
    });
}

/// In the child of a fork, which has no other thread.
pub(crate) fn forget_others() {
    ASKING.store(0, SeqCst);
}
