use hedgerow_fs::thread_time::ThreadId;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;
use std::thread::Thread;
use std::time::{Duration, Instant};

/// The slot of one worker: how to wake it, and its measurements.
///
/// Only its worker writes the counters, so they need no atomic addition.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    thread: OnceLock<Thread>,
    called: AtomicBool,
    /// The kernel's id of the thread, once it exists.
    thread_id: AtomicU32,
    started_ns: AtomicU64,
    /// Idle time up to the last time it got something to do, in nanoseconds.
    idle_ns: AtomicU64,
    /// When it became idle, in nanoseconds of the run; 0 if it is at work.
    idle_since_ns: AtomicU64,
    /// When it was woken from its sleep, in nanoseconds of the run; 0 before.
    called_ns: AtomicU64,
}

impl Slot {
    /// The calling thread takes the slot.
    pub(crate) fn occupy(&self, epoch: Instant) {
        let _ = self.thread.set(std::thread::current());
        self.started_ns
            .store(nanoseconds_since(epoch), Ordering::Relaxed);
        self.thread_id
            .store(ThreadId::current().as_raw(), Ordering::Release);
    }

    /// The kernel's id of the thread, and when it started, in nanoseconds of the run.
    pub(crate) fn occupant(&self) -> Option<(u32, u64)> {
        match self.thread_id.load(Ordering::Acquire) {
            0 => None,
            thread => Some((thread, self.started_ns.load(Ordering::Relaxed))),
        }
    }

    /// Sleeps until [`Slot::call`], or returns at once if that came first. It counts as idle until
    /// the call; time in the run queue after that counts as work.
    pub(crate) fn sleep(&self, epoch: Instant) {
        let _traced = crate::span("wait for work");
        self.begin_idle(epoch);
        while !self.called.swap(false, Ordering::Acquire) {
            std::thread::park();
        }
        self.end_idle_at(self.called_ns.swap(0, Ordering::Relaxed));
    }

    /// Wakes the worker.
    pub(crate) fn call(&self, epoch: Instant) {
        self.called_ns
            .store(nanoseconds_since(epoch).max(1), Ordering::Relaxed);
        self.called.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// The worker becomes idle.
    pub(crate) fn begin_idle(&self, epoch: Instant) {
        let now = nanoseconds_since(epoch).max(1);
        self.idle_since_ns.store(now, Ordering::Relaxed);
    }

    /// The worker has something to do again.
    pub(crate) fn end_idle(&self, epoch: Instant) {
        self.end_idle_at(nanoseconds_since(epoch));
    }

    fn end_idle_at(&self, now_ns: u64) {
        let since = self.idle_since_ns.load(Ordering::Relaxed);
        add(&self.idle_ns, now_ns.saturating_sub(since));
        self.idle_since_ns.store(0, Ordering::Relaxed);
    }

    /// Total idle time; called by the worker itself.
    pub(crate) fn idle(&self) -> Duration {
        Duration::from_nanos(self.idle_ns.load(Ordering::Relaxed))
    }

    /// Idle time up to `now_ns`, in nanoseconds.
    pub(crate) fn idle_until(&self, now_ns: u64) -> u64 {
        let done = self.idle_ns.load(Ordering::Relaxed);
        let since = self.idle_since_ns.load(Ordering::Relaxed);
        match (since, self.called_ns.load(Ordering::Relaxed)) {
            (0, _) => done,
            (_, 0) => done + now_ns.saturating_sub(since),
            (_, called) => done + called.saturating_sub(since),
        }
    }
}

pub(crate) fn nanoseconds_since(epoch: Instant) -> u64 {
    epoch.elapsed().as_nanos() as u64
}

fn add(counter: &AtomicU64, amount: u64) {
    let sum = counter.load(Ordering::Relaxed) + amount;
    counter.store(sum, Ordering::Relaxed);
}
