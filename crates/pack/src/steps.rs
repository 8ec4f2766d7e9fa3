//! How far a phase of some work is, for those who show it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Steps of a phase.
#[derive(Debug, Default)]
pub struct Steps {
    done: AtomicU64,
    total: AtomicU64,
}

impl Steps {
    /// Steps that are done.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Steps there are; 0 before the phase starts.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Whether it has started, and all steps are done.
    pub fn is_over(&self) -> bool {
        self.total() > 0 && self.done() >= self.total()
    }

    /// There are so many more.
    pub fn expect(&self, steps: u64) {
        self.total.fetch_add(steps, Ordering::Relaxed);
    }

    /// So many more are done.
    pub fn step(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}
