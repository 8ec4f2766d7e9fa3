use crate::adaptive::Alarm;
use crate::queue::fewer;
use crate::run_record::RunRecord;
use crate::slot::Slot;
use crate::{Jobs, Options};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The workers of an ordered run: which exist and which may work.
pub(crate) struct WorkerPool {
    state: Mutex<State>,
    /// Notified when more may work, or none is needed any more.
    wake: Condvar,
    target: AtomicUsize,
    /// The number of failed calls for lack of a descriptor, when last checked.
    shortages: AtomicU64,
    working: AtomicUsize,
    peak: AtomicUsize,
    pub(crate) slots: Box<[CachePadded<Slot>]>,
    pub(crate) epoch: Instant,
    pub(crate) alarm: Alarm,
    adaptive: bool,
}

struct State {
    threads: usize,
    watched: bool,
    ended: bool,
    /// Upper limit of the target.
    limit: usize,
    record: Option<RunRecord>,
}

/// The thread to start for an item that no worker is free for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadRequest {
    /// The thread of this worker.
    Worker(usize),
    /// The thread that adapts the number of workers.
    Watch,
}

impl WorkerPool {
    pub(crate) fn new(options: &Options) -> Self {
        let limit = options.limit();
        let target = options.first_target(limit);
        WorkerPool {
            state: Mutex::new(State {
                threads: 0,
                watched: false,
                ended: false,
                record: RunRecord::begin(options, 0, target),
                limit,
            }),
            wake: Condvar::new(),
            target: AtomicUsize::new(target),
            shortages: AtomicU64::new(hedgerow_fs::descriptor_shortages()),
            working: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            slots: (0..limit).map(|_| CachePadded::default()).collect(),
            epoch: Instant::now(),
            alarm: Alarm::default(),
            adaptive: options.jobs == Jobs::Auto,
        }
    }

    /// The thread to start, if any, while there is more to do than the existing workers have taken.
    pub(crate) fn hire(&self) -> Option<ThreadRequest> {
        let mut state = self.lock();
        if state.ended {
            return None;
        }
        if state.threads < self.target() {
            state.threads += 1;
            return Some(ThreadRequest::Worker(state.threads - 1));
        }
        let watch = self.adaptive && !state.watched;
        state.watched |= watch;
        watch.then_some(ThreadRequest::Watch)
    }

    /// A thread could not be started: the run goes on with the existing ones.
    pub(crate) fn give_up_thread(&self) {
        let mut state = self.lock();
        state.threads -= 1;
        let target = state.threads.max(1);
        state.limit = target;
        self.target.store(target, Ordering::Relaxed);
        state
            .record
            .iter_mut()
            .for_each(|record| record.tell_target(target));
    }

    /// Blocks a worker while there are more than allowed; `false` when no worker is needed any
    /// more.
    pub(crate) fn may_work(&self, number: usize) -> bool {
        self.heed_shortages();
        if number < self.target() {
            return true;
        }
        let _traced = crate::span("wait for work");
        let slot: &Slot = &self.slots[number];
        slot.begin_idle(self.epoch);
        let surplus = |state: &mut State| !state.ended && number >= self.target();
        let state = self.wake.wait_while(self.lock(), surplus);
        let ended = state.unwrap_or_else(PoisonError::into_inner).ended;
        slot.end_idle(self.epoch);
        !ended
    }

    pub(crate) fn begin_work(&self) {
        let working = self.working.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(working, Ordering::Relaxed);
    }

    pub(crate) fn end_work(&self) {
        self.working.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn set_target(&self, target: usize) {
        let mut state = self.lock();
        let target = target.min(state.limit);
        self.target.store(target, Ordering::Relaxed);
        state
            .record
            .iter_mut()
            .for_each(|record| record.tell_target(target));
        drop(state);
        self.wake.notify_all();
    }

    /// Each call that found no descriptor reduces the number of workers by one for the rest of the
    /// run.
    fn heed_shortages(&self) {
        let shortages = hedgerow_fs::descriptor_shortages();
        if shortages == self.shortages.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.lock();
        let new = shortages.saturating_sub(self.shortages.swap(shortages, Ordering::Relaxed));
        if new > 0 {
            state.limit = fewer(self.target(), new);
            let target = state.limit;
            self.target.store(target, Ordering::Relaxed);
            state
                .record
                .iter_mut()
                .for_each(|record| record.tell_target(target));
        }
    }

    /// Reports the number of items in flight to the recorder.
    pub(crate) fn tell_in_flight(&self, items: usize) {
        self.lock()
            .record
            .iter_mut()
            .for_each(|record| record.tell_queue(items));
    }

    /// Reports to the recorder that a worker starts to wait for the source, or has it.
    pub(crate) fn tell_starving(&self, is_starving: bool) {
        self.lock()
            .record
            .iter_mut()
            .for_each(|record| record.count_starving(is_starving));
    }

    pub(crate) fn target(&self) -> usize {
        self.target.load(Ordering::Relaxed)
    }

    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// No worker is needed any more.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.wake.notify_all();
        self.alarm.ring();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
