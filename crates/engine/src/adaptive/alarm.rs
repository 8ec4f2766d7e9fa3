use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Ends a wait early, once and for all.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    rung: Mutex<bool>,
    wake: Condvar,
}

impl Alarm {
    /// Ends all waits, those to come too.
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.notify_all();
    }

    /// Waits so long; says whether the alarm was rung.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.wake.wait_timeout_while(rung, time, |rung| !*rung);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
