//! A request: it is processed at once, and answered after its delay.

use crate::counters::Counters;
use crate::delays::{Delays, Op};
use fuser::Errno;
use std::time::{Duration, Instant};

/// The result of a request.
pub(crate) type Answer<T> = Result<T, Errno>;

/// A request in progress, with the delays charged to it.
pub(crate) struct Call<'a> {
    delays: &'a Delays,
    counters: &'a Counters,
    owed_us: u64,
}

impl Call<'_> {
    /// Processes a request, then blocks the calling thread, and with it a slot, until the charged
    /// delays have passed since the request arrived.
    pub(crate) fn serve<T>(
        delays: &Delays,
        counters: &Counters,
        work: impl FnOnce(&mut Call) -> Answer<T>,
    ) -> Answer<T> {
        let arrived = Instant::now();
        counters.begin();
        let mut call = Call {
            delays,
            counters,
            owed_us: 0,
        };
        let answer = work(&mut call);
        let due = Duration::from_micros(call.owed_us);
        if let Some(rest) = due.checked_sub(arrived.elapsed()) {
            std::thread::sleep(rest);
        }
        counters.end(arrived.elapsed().as_micros() as u64);
        answer
    }

    pub(crate) fn charge(&mut self, op: Op) {
        let us = self.delays.get(op);
        self.counters.charge(op, us);
        self.owed_us += us;
    }

    /// Takes a charge back, of this request or an earlier one.
    pub(crate) fn refund(&mut self, op: Op) {
        let us = self.delays.get(op);
        self.counters.refund(op, us);
        self.owed_us = self.owed_us.saturating_sub(us);
    }
}
