use crate::adaptive::Alarm;
use crate::recorder::StageRecorder;
use crate::run_record::RunRecord;
use crate::slot::Slot;
use crate::{Failure, Jobs, Options};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How often a worker looks for a task before it goes to sleep: a few microseconds, less than the
/// cost of sleeping and waking.
const LOOKS_BEFORE_SLEEP: usize = 64;

/// The waiting tasks, the workers that take them, and how many may do so.
///
/// A worker is *active* while it runs a task or is on its way to take one; the others sleep. At
/// most `target` workers are active. No user code runs while the lock is held.
pub(crate) struct Queue<T, E> {
    state: Mutex<State<T, E>>,
    /// Number of tasks waiting, readable without the lock.
    waiting: AtomicUsize,
    stopped: AtomicBool,
    pub(crate) slots: Box<[CachePadded<Slot>]>,
    pub(crate) epoch: Instant,
    /// Rung at the end.
    pub(crate) alarm: Alarm,
    adaptive: bool,
    /// How long the first worker works alone, and whether it still does for that reason.
    patience: Duration,
    is_patient: AtomicBool,
}

struct State<T, E> {
    first: VecDeque<T>,
    rest: VecDeque<T>,
    /// Workers inside a task.
    running: usize,
    /// Workers on their way to take a task: started, woken, or looking for one.
    arriving: usize,
    /// Sleeping workers; the last one to sleep is woken first, because its caches are warm.
    asleep: Vec<usize>,
    /// Workers that exist.
    threads: usize,
    target: usize,
    /// Upper limit of the target.
    limit: usize,
    /// The number of failed calls for lack of a descriptor, when last checked.
    shortages: u64,
    peak: usize,
    watched: bool,
    ended: bool,
    failure: Option<Failure<E>>,
    record: Option<RunRecord>,
}

/// What to do about waiting tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Start the thread of this worker.
    Start(usize),
    /// Wake this worker.
    Wake(usize),
    /// Start the thread that adapts the number of workers: more tasks wait than workers may take.
    Watch,
}

/// The order in which tasks are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Before all waiting tasks.
    Next,
    Urgent,
    Usual,
}

/// How a worker that wants a task is counted.
enum Step {
    Running,
    Arriving,
}

impl<T, E> Queue<T, E> {
    /// A queue with the tasks `initial`, for up to `target` workers now and `limit` at any time.
    /// The first worker counts as on its way.
    pub(crate) fn new(initial: Vec<T>, options: &Options) -> Self {
        let limit = options.limit();
        let target = options.first_target(limit);
        Queue {
            waiting: AtomicUsize::new(initial.len()),
            state: Mutex::new(State {
                record: RunRecord::begin(options, initial.len(), target),
                first: VecDeque::new(),
                rest: initial.into(),
                running: 0,
                arriving: 1,
                asleep: Vec::new(),
                threads: 1,
                target,
                limit,
                shortages: hedgerow_fs::descriptor_shortages(),
                peak: 0,
                watched: false,
                ended: false,
                failure: None,
            }),
            stopped: AtomicBool::new(false),
            slots: (0..limit).map(|_| CachePadded::default()).collect(),
            epoch: Instant::now(),
            alarm: Alarm::default(),
            adaptive: options.jobs == Jobs::Auto,
            patience: options.patience,
            is_patient: AtomicBool::new(!options.patience.is_zero()),
        }
    }

    /// Whether the time is over in which the first worker works alone; returns true once. Then
    /// [`calls`](Self::calls) must be made.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.is_patient.load(Ordering::Relaxed)
            && self.epoch.elapsed() >= self.patience
            && self.is_patient.swap(false, Ordering::Relaxed)
    }

    /// Ends the time in which the first worker works alone; returns true if it was not over. Then
    /// [`calls`](Self::calls) must be made.
    pub(crate) fn lose_patience(&self) -> bool {
        self.is_patient.swap(false, Ordering::Relaxed)
    }

    fn is_patient(&self) -> bool {
        self.is_patient.load(Ordering::Relaxed) && !self.is_due()
    }

    /// Adds a task, and returns the call to make for it. The task is dropped if the run has ended.
    pub(crate) fn push(&self, me: &Slot, lane: Lane, task: T) -> Option<Call> {
        let mut state = self.lock(Some(me));
        if state.ended {
            drop(state);
            return None;
        }
        match lane {
            Lane::Next => state.first.push_front(task),
            Lane::Urgent => state.first.push_back(task),
            Lane::Usual => state.rest.push_back(task),
        }
        let call = if self.is_patient() {
            None
        } else {
            state.call(self.adaptive)
        };
        self.publish(&mut state);
        call
    }

    /// Adds tasks to a lane, and returns the calls to make for them.
    pub(crate) fn push_all(&self, me: &Slot, lane: Lane, tasks: Vec<T>) -> Vec<Call> {
        let mut state = self.lock(Some(me));
        if state.ended {
            drop(state);
            return Vec::new();
        }
        match lane {
            Lane::Next => tasks
                .into_iter()
                .rev()
                .for_each(|task| state.first.push_front(task)),
            Lane::Urgent => state.first.extend(tasks),
            Lane::Usual => state.rest.extend(tasks),
        }
        let calls = if self.is_patient() {
            Vec::new()
        } else {
            state.calls(self.adaptive)
        };
        self.publish(&mut state);
        calls
    }

    /// Sets how many workers may be active.
    pub(crate) fn set_target(&self, target: usize) {
        let mut state = self.lock(None);
        let target = target.min(state.limit);
        state.set_target(target);
        self.publish(&mut state);
    }

    /// Whether more tasks wait than workers are on their way.
    pub(crate) fn has_backlog(&self) -> bool {
        let state = self.lock(None);
        state.first.len() + state.rest.len() > state.arriving
    }

    /// The calls to make for the waiting tasks.
    pub(crate) fn calls(&self) -> Vec<Call> {
        if self.is_patient() {
            return Vec::new();
        }
        self.lock(None).calls(self.adaptive)
    }

    /// Waits for a task until the run ends. `finished`: the worker has just finished a task.
    /// `recorder` counts how often there was none.
    pub(crate) fn take(
        &self,
        number: usize,
        finished: bool,
        recorder: Option<&StageRecorder>,
    ) -> Option<T> {
        let me: &Slot = &self.slots[number];
        if let (Some(recorder), false) = (recorder, finished) {
            recorder.tick();
        }
        let mut state = self.lock(Some(me));
        let mut looked = false;
        let mut from = if finished {
            Step::Running
        } else {
            Step::Arriving
        };
        loop {
            if state.ended {
                return None;
            }
            match from {
                Step::Running => state.running -= 1,
                Step::Arriving => state.arriving -= 1,
            }
            from = Step::Arriving;
            state.heed_shortages();
            // A worker above the target sleeps even if tasks wait.
            let surplus = state.running + state.arriving >= state.target;
            if !surplus {
                if let Some(task) = state.pop() {
                    state.running += 1;
                    debug_assert!(state.running + state.arriving <= state.threads);
                    state.peak = state.peak.max(state.running);
                    self.publish(&mut state);
                    return Some(task);
                }
            }
            // Nothing runs and nothing waits, so no further task can appear.
            if state.running == 0 && state.is_empty() {
                assert!(state.failure.is_none(), "a failure ends the run at once");
                let asleep = state.end();
                self.publish(&mut state);
                drop(state);
                self.call_all(&asleep);
                return None;
            }
            if looked || surplus {
                state.asleep.push(number);
                self.publish(&mut state);
                drop(state);
                if let (Some(recorder), false) = (recorder, surplus) {
                    recorder.count_empty(number);
                }
                me.sleep(self.epoch);
                recorder.iter().for_each(|recorder| recorder.tick());
                looked = false;
            } else {
                // While it looks for a task it counts as arriving, so that no other worker is woken
                // for one.
                state.arriving += 1;
                drop(state);
                self.look();
                looked = true;
            }
            state = self.lock(Some(me));
        }
    }

    /// Ends the run with `failure`, unless it has already ended. Waiting tasks are dropped.
    pub(crate) fn stop(&self, failure: Failure<E>) {
        self.stopped.store(true, Ordering::Relaxed);
        let mut state = self.lock(None);
        if state.ended {
            return;
        }
        state.failure = Some(failure);
        let asleep = state.end();
        let dropped = (
            std::mem::take(&mut state.first),
            std::mem::take(&mut state.rest),
        );
        self.publish(&mut state);
        drop(state);
        self.call_all(&asleep);
        drop(dropped);
    }

    /// Number of tasks waiting.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether a failure ended the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// A thread could not be started: the run goes on with the existing ones.
    pub(crate) fn give_up_thread(&self) {
        let mut state = self.lock(None);
        state.threads -= 1;
        state.arriving -= 1;
        let target = state.target.min(state.threads).max(1);
        state.limit = target;
        state.set_target(target);
        self.publish(&mut state);
    }

    /// The largest number of workers at work at the same time, and the number allowed.
    pub(crate) fn workers(&self) -> (usize, usize) {
        let state = self.lock(None);
        (state.peak, state.target)
    }

    /// The failure that ended the run, if any.
    pub(crate) fn into_failure(self) -> Option<Failure<E>> {
        let state = self.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).failure
    }

    fn look(&self) {
        for _ in 0..LOOKS_BEFORE_SLEEP {
            if self.waiting() != 0 {
                return;
            }
            std::hint::spin_loop();
        }
    }

    fn call_all(&self, asleep: &[usize]) {
        if self.adaptive {
            self.alarm.ring();
        }
        asleep
            .iter()
            .for_each(|number| self.slots[*number].call(self.epoch));
    }

    /// Updates the values read without the lock, and the recorder.
    fn publish(&self, state: &mut State<T, E>) {
        let waiting = state.first.len() + state.rest.len();
        self.waiting.store(waiting, Ordering::Relaxed);
        let starving = state.starving();
        if let Some(record) = &mut state.record {
            record.tell_queue(waiting);
            record.tell_starving(starving);
        }
    }

    /// Waiting for the lock is not work: the worker counts as idle.
    fn lock(&self, me: Option<&Slot>) -> MutexGuard<'_, State<T, E>> {
        match (self.state.try_lock(), me) {
            (Ok(state), _) => state,
            (Err(TryLockError::Poisoned(poisoned)), _) => poisoned.into_inner(),
            (Err(TryLockError::WouldBlock), Some(me)) if self.adaptive => {
                me.begin_idle(self.epoch);
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                me.end_idle(self.epoch);
                state
            }
            (Err(TryLockError::WouldBlock), _) => {
                self.state.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    }
}

impl<T, E> State<T, E> {
    fn pop(&mut self) -> Option<T> {
        self.first.pop_front().or_else(|| self.rest.pop_front())
    }

    fn set_target(&mut self, target: usize) {
        self.target = target;
        if let Some(record) = &mut self.record {
            record.tell_target(target);
        }
    }

    /// Each call that found no descriptor reduces the number of workers by one for the rest of the
    /// run.
    fn heed_shortages(&mut self) {
        let shortages = hedgerow_fs::descriptor_shortages();
        let new = shortages.saturating_sub(self.shortages);
        if new > 0 {
            self.shortages = shortages;
            self.limit = fewer(self.target, new);
            self.set_target(self.limit);
        }
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_empty()
    }

    /// Number of allowed workers that are idle, asleep or not even started.
    fn starving(&self) -> usize {
        if self.ended || !self.is_empty() {
            0
        } else {
            self.target.saturating_sub(self.running + self.arriving)
        }
    }

    /// A worker to call for the waiting tasks: never more workers than there are tasks without a
    /// worker on its way, nor more than may be active.
    fn call(&mut self, adaptive: bool) -> Option<Call> {
        let waiting = self.first.len() + self.rest.len();
        if self.ended || waiting <= self.arriving {
            return None;
        }
        if self.running + self.arriving >= self.target {
            let watch = adaptive && !self.watched;
            self.watched |= watch;
            return watch.then_some(Call::Watch);
        }
        let call = match self.asleep.pop() {
            Some(number) => Call::Wake(number),
            None if self.threads < self.target => {
                self.threads += 1;
                Call::Start(self.threads - 1)
            }
            None => return None,
        };
        self.arriving += 1;
        Some(call)
    }

    fn calls(&mut self, adaptive: bool) -> Vec<Call> {
        std::iter::from_fn(|| self.call(adaptive)).collect()
    }

    fn end(&mut self) -> Vec<usize> {
        self.ended = true;
        std::mem::take(&mut self.asleep)
    }
}

/// The number of workers, reduced by one for each failed call for lack of a descriptor.
pub(crate) fn fewer(workers: usize, shortages: u64) -> usize {
    let surplus = usize::try_from(shortages).unwrap_or(usize::MAX);
    workers.saturating_sub(surplus).max(1)
}
