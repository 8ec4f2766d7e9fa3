//! Counters of the charged operations and of the requests in flight.

use crate::delays::Op;
use crate::lock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Instant;

/// Counts the requests as they arrive.
pub(crate) struct Counters {
    charged: [AtomicU64; Op::COUNT],
    charged_us: AtomicU64,
    requests: AtomicU64,
    busy_us: AtomicU64,
    in_flight: AtomicU64,
    max_in_flight: AtomicU64,
    since: Mutex<Instant>,
}

impl Counters {
    pub(crate) fn new() -> Self {
        Counters {
            charged: std::array::from_fn(|_| AtomicU64::new(0)),
            charged_us: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            busy_us: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            max_in_flight: AtomicU64::new(0),
            since: Mutex::new(Instant::now()),
        }
    }

    pub(crate) fn begin(&self) {
        let now = self.in_flight.fetch_add(1, Relaxed) + 1;
        self.max_in_flight.fetch_max(now, Relaxed);
        self.requests.fetch_add(1, Relaxed);
    }

    pub(crate) fn end(&self, busy_us: u64) {
        self.in_flight.fetch_sub(1, Relaxed);
        self.busy_us.fetch_add(busy_us, Relaxed);
    }

    pub(crate) fn charge(&self, op: Op, us: u64) {
        self.charged[op as usize].fetch_add(1, Relaxed);
        self.charged_us.fetch_add(us, Relaxed);
    }

    /// Takes a charge back. It may be older than a reset, so counters stop at zero.
    pub(crate) fn refund(&self, op: Op, us: u64) {
        take(&self.charged[op as usize], 1);
        take(&self.charged_us, us);
    }

    pub(crate) fn reset(&self) {
        for counter in &self.charged {
            counter.store(0, Relaxed);
        }
        for counter in [&self.charged_us, &self.requests, &self.busy_us] {
            counter.store(0, Relaxed);
        }
        self.max_in_flight
            .store(self.in_flight.load(Relaxed), Relaxed);
        *lock(&self.since) = Instant::now();
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            charged: std::array::from_fn(|at| self.charged[at].load(Relaxed)),
            charged_us: self.charged_us.load(Relaxed),
            requests: self.requests.load(Relaxed),
            busy_us: self.busy_us.load(Relaxed),
            max_in_flight: self.max_in_flight.load(Relaxed),
            elapsed_us: lock(&self.since).elapsed().as_micros().max(1) as u64,
        }
    }
}

fn take(counter: &AtomicU64, amount: u64) {
    let less = |now: u64| Some(now.saturating_sub(amount));
    let _ = counter.fetch_update(Relaxed, Relaxed, less);
}

/// The counts since the mount or the last reset.
#[derive(Clone, Debug)]
pub struct Snapshot {
    charged: [u64; Op::COUNT],
    /// The sum of the charged delays, in microseconds: divided by the number of slots, it is the
    /// shortest possible time.
    pub charged_us: u64,
    /// Number of the kernel's requests, charged or not.
    pub requests: u64,
    /// Total time of all requests, including waiting, in microseconds.
    pub busy_us: u64,
    /// Largest number of requests in flight at the same time.
    pub max_in_flight: u64,
    /// Time since the mount or the last reset, in microseconds.
    pub elapsed_us: u64,
}

impl Snapshot {
    /// Number of charged operations of one kind.
    pub fn count(&self, op: Op) -> u64 {
        self.charged[op as usize]
    }

    /// One line of JSON; kinds that were never charged are left out.
    pub fn to_json(&self) -> String {
        let counted: Vec<String> = Op::ALL
            .iter()
            .filter(|(op, _)| self.count(*op) > 0)
            .map(|(op, name)| format!("\"{name}\":{}", self.count(*op)))
            .collect();
        format!(
            "{{\"ops\":{{{}}},\"requests\":{},\"charged_us\":{},\"busy_us\":{},\
             \"elapsed_us\":{},\"mean_in_flight\":{:.2},\"max_in_flight\":{}}}\n",
            counted.join(","),
            self.requests,
            self.charged_us,
            self.busy_us,
            self.elapsed_us,
            self.busy_us as f64 / self.elapsed_us as f64,
            self.max_in_flight,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_after_a_reset_leaves_zero() {
        let counters = Counters::new();
        counters.charge(Op::Lookup, 500);
        counters.reset();
        counters.refund(Op::Lookup, 500);
        assert_eq!(counters.snapshot().count(Op::Lookup), 0);
        assert_eq!(counters.snapshot().charged_us, 0);
    }

    #[test]
    fn a_reset_in_the_middle_of_a_request_keeps_it_in_flight() {
        let counters = Counters::new();
        counters.begin();
        counters.reset();
        counters.begin();
        assert_eq!(counters.snapshot().max_in_flight, 2);
    }
}
