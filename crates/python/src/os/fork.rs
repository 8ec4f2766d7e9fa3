//! Forks. A child has only the thread that forked: locks that others hold at that moment stay locked
//! in it. So all threads of walks end before a fork, and start again when they are needed.

use crate::lock::forget_others;
use hedgerow::walk::Ahead;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The walks of this process.
static WALKS: Mutex<Vec<Weak<Ahead>>> = Mutex::new(Vec::new());

/// From now on, the threads of a walk end before a fork.
pub(super) fn register(walk: &Arc<Ahead>) {
    let mut walks = WALKS.lock().unwrap_or_else(PoisonError::into_inner);
    walks.retain(|walk| walk.strong_count() > 0);
    walks.push(Arc::downgrade(walk));
}

fn walks() -> Vec<Arc<Ahead>> {
    let walks = WALKS.lock().unwrap_or_else(PoisonError::into_inner);
    walks.iter().filter_map(Weak::upgrade).collect()
}

/// For `os.register_at_fork`: ends the threads of all walks.
#[pyfunction]
pub(super) fn before_fork() {
    walks().iter().for_each(|walk| walk.stop());
}

/// For `os.register_at_fork`, in the parent: threads may start again.
#[pyfunction]
pub(super) fn after_fork_in_parent() {
    walks().iter().for_each(|walk| walk.resume());
}

/// The same in the child. It has no other thread, and will never be through with a step of one.
#[pyfunction]
pub(super) fn after_fork_in_child() {
    forget_others();
    walks().iter().for_each(|walk| walk.resume_in_child());
}
