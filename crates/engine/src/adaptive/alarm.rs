use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Ends waits early, once and for all.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    rung: Mutex<bool>,
    wake: Condvar,
}

impl Alarm {
    /// Ends all current and future waits.
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.notify_all();
    }

    /// Waits for `time`; returns whether the alarm rang.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.wake.wait_timeout_while(rung, time, |rung| !*rung);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
