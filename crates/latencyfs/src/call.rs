//! One request: it is served at once, and answered when its delay has passed.

use crate::counters::Counters;
use crate::delays::{Delays, Op};
use fuser::Errno;
use std::time::{Duration, Instant};

/// What a request gets.
pub(crate) type Answer<T> = Result<T, Errno>;

/// A request that is being served: it collects what it costs.
pub(crate) struct Call<'a> {
    delays: &'a Delays,
    counters: &'a Counters,
    owed_us: u64,
}

impl Call<'_> {
    /// Serves a request, then keeps the calling thread, its slot, until the delays that it was
    /// charged have passed since it arrived.
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

    /// Takes a charge back, be it of this request or of an earlier one.
    pub(crate) fn refund(&mut self, op: Op) {
        let us = self.delays.get(op);
        self.counters.refund(op, us);
        self.owed_us = self.owed_us.saturating_sub(us);
    }
}
