//! Queues: what workers do in any order is done in the order of the archive where it matters.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Hands out places, each of which has its turn when all before it were given up.
#[derive(Default)]
pub(super) struct Queue {
    turns: Mutex<Turns>,
    has_moved: Condvar,
}

/// Who comes next.
#[derive(Default)]
struct Turns {
    /// Places that were given away.
    given: u64,
    /// The place whose turn it is.
    next: u64,
    /// Later places that were given up before it was their turn.
    left: BTreeSet<u64>,
}

/// A place in a queue. It is given up when it is dropped.
pub(super) struct Place {
    queue: Arc<Queue>,
    number: u64,
}

impl Queue {
    /// The next place.
    pub fn place(self: &Arc<Self>) -> Place {
        let mut turns = self.turns();
        let number = turns.given;
        turns.given += 1;
        Place {
            queue: self.clone(),
            number,
        }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        // Ignores poisoning: the value is consistent even if a thread panicked meanwhile.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits until all places before it were given up. Those must be with others.
    pub fn wait(&self) {
        let mut turns = self.queue.turns();
        while turns.next < self.number {
            let moved = self.queue.has_moved.wait(turns);
            turns = moved.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let turns = &mut *self.queue.turns();
        turns.left.insert(self.number);
        while turns.left.remove(&turns.next) {
            turns.next += 1;
        }
        self.queue.has_moved.notify_all();
    }
}
