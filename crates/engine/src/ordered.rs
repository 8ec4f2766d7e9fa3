use crate::adaptive::{watch, Watched};
use crate::pool::{ThreadRequest, WorkerPool};
use crate::recorder::StageRecorder;
use crate::report::panic_message;
use crate::slot::Slot;
use crate::timesheet::Timesheet;
use crate::window::{ReorderWindow, Ticket};
use crate::{span, Failure, Jobs, Options, Report};
use crossbeam_utils::CachePadded;
use hedgerow_fs::threads::start_scoped;
use std::num::NonZeroUsize;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Limit for the items in flight of an ordered run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The sum of the sizes of the items between submission and commit, in bytes. An item counts as
    /// at least 256 bytes; one that is larger than the window is processed alone.
    pub bytes: u64,
}

/// Turns items into outputs in any order, and commits the outputs in the order of the items.
///
/// `source` yields items with their sizes in bytes. Workers, each with the state that `worker`
/// created for it, take them in order and `work` on them in parallel; `commit` receives the outputs
/// on the calling thread, in order, with consecutive tickets. With one worker, everything happens
/// on the calling thread; otherwise the calling thread only commits, and any free worker asks
/// `source`, one at a time.
///
/// If there are several errors, that of the earliest item is returned, whatever the timing:
/// everything before it is committed, nothing after it is. A panic in any part and a cancellation
/// end the run at once.
pub fn run_ordered<I: Send, O: Send, W, E: Send>(
    options: &Options,
    window: Window,
    source: impl Iterator<Item = Result<(I, u64), E>> + Send,
    worker: impl Fn(usize) -> W + Sync,
    work: impl Fn(&mut W, I) -> Result<O, E> + Sync,
    mut commit: impl FnMut(Ticket, O) -> Result<(), E>,
) -> Result<Report, Failure<E>> {
    options.tell_begin();
    let inline = options.jobs == Jobs::Fixed(NonZeroUsize::MIN);
    let pipeline = Pipeline {
        source: Mutex::new(Some(source)),
        window: ReorderWindow::new(window.bytes),
        pool: WorkerPool::new(options),
        failed: AtomicBool::new(false),
        fetching: AtomicUsize::new(0),
        panicked: Mutex::new(None),
        recorder: StageRecorder::of(options),
        options,
        worker,
        work,
    };
    let ran = catch_unwind(AssertUnwindSafe(|| {
        if inline {
            pipeline.run_alone(&mut commit)
        } else {
            thread::scope(|threads| pipeline.run_with(threads, &mut commit))
        }
    }));
    let panicked = pipeline.panicked.into_inner();
    match (panicked.unwrap_or_else(PoisonError::into_inner), ran) {
        (Some(message), _) => Err(Failure::Panicked(message)),
        (None, Err(payload)) => Err(Failure::Panicked(panic_message(payload))),
        (None, Ok(Err(failure))) => Err(failure),
        (None, Ok(Ok(()))) if options.cancel.is_cancelled() => Err(Failure::Cancelled),
        (None, Ok(Ok(()))) => {
            let report = Report {
                workers_peak: pipeline.pool.peak(),
                workers_last: pipeline.pool.target(),
            };
            options.tell_end(&report);
            Ok(report)
        }
    }
}

/// An ordered run.
struct Pipeline<'o, S, O, E, M, F> {
    /// `None` once it must not be asked any more.
    source: Mutex<Option<S>>,
    window: ReorderWindow<Result<O, E>>,
    pool: WorkerPool,
    /// Whether an item failed, so that further items are useless.
    failed: AtomicBool,
    /// Number of workers that want an item.
    fetching: AtomicUsize,
    panicked: Mutex<Option<String>>,
    recorder: Option<StageRecorder>,
    options: &'o Options,
    worker: M,
    work: F,
}

impl<S, I, O, W, E, M, F> Pipeline<'_, S, O, E, M, F>
where
    S: Iterator<Item = Result<(I, u64), E>> + Send,
    I: Send,
    O: Send,
    E: Send,
    M: Fn(usize) -> W + Sync,
    F: Fn(&mut W, I) -> Result<O, E> + Sync,
{
    fn run_alone(
        &self,
        commit: &mut impl FnMut(Ticket, O) -> Result<(), E>,
    ) -> Result<(), Failure<E>> {
        let _lane = self.options.lane(0);
        let timesheet = self.timesheet(0);
        let mut kept = (self.worker)(0);
        let mut source = self
            .source
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let mut ticket = Ticket::default();
        while let Some(item) = source.as_mut().and_then(Iterator::next) {
            if self.options.cancel.is_cancelled() {
                return Err(Failure::Cancelled);
            }
            let item = item.map(|(item, bytes)| self.count_bytes(item, bytes));
            let output = self.turn_into_output(0, &mut kept, item);
            let _traced = span("commit");
            commit(ticket, output.map_err(Failure::Failed)?).map_err(Failure::Failed)?;
            ticket = ticket.next();
        }
        if let Some(timesheet) = timesheet {
            timesheet.end(Duration::ZERO);
        }
        Ok(())
    }

    fn run_with<'scope>(
        &'scope self,
        threads: &'scope thread::Scope<'scope, '_>,
        commit: &mut impl FnMut(Ticket, O) -> Result<(), E>,
    ) -> Result<(), Failure<E>> {
        let handle = Handle {
            pipeline: self,
            threads,
        };
        if !handle.hire_next() {
            return self.run_alone(commit);
        }
        let _end = End(self);
        let mut expected = Ticket::default();
        while let Some((ticket, output)) = self.next_output() {
            assert_eq!(ticket, expected, "outputs come in the order of the items");
            expected = ticket.next();
            if self.options.cancel.is_cancelled() {
                return Err(Failure::Cancelled);
            }
            let _traced = span("commit");
            commit(ticket, output.map_err(Failure::Failed)?).map_err(Failure::Failed)?;
        }
        Ok(())
    }

    fn work_as<'scope>(&'scope self, number: usize, threads: &'scope thread::Scope<'scope, '_>) {
        let handle = Handle {
            pipeline: self,
            threads,
        };
        self.pool.slots[number].occupy(self.pool.epoch);
        let worked = catch_unwind(AssertUnwindSafe(|| self.work_through(number, &handle)));
        if let Err(payload) = worked {
            let mut panicked = self.panicked.lock().unwrap_or_else(PoisonError::into_inner);
            panicked.get_or_insert(panic_message(payload));
            drop(panicked);
            self.window.stop();
        }
    }

    fn work_through(&self, number: usize, handle: &Handle<'_, '_, Self>) {
        let slot: &Slot = &self.pool.slots[number];
        let _lane = self.options.lane(number);
        let timesheet = self.timesheet(number);
        let mut kept = (self.worker)(number);
        while self.pool.may_work(number) {
            slot.begin_idle(self.pool.epoch);
            self.fetching.fetch_add(1, Ordering::Relaxed);
            let traced = span("wait for the next item");
            let fetched = self.fetch();
            drop(traced);
            self.fetching.fetch_sub(1, Ordering::Relaxed);
            slot.end_idle(self.pool.epoch);
            let Some((ticket, item)) = fetched else {
                break;
            };
            if self.fetching.load(Ordering::Relaxed) == 0 {
                handle.hire_next();
            }
            let output = self.turn_into_output(number, &mut kept, item);
            if output.is_err() {
                self.failed.store(true, Ordering::Relaxed);
            }
            self.window.deliver(ticket, output);
        }
        if let Some(timesheet) = timesheet {
            timesheet.end(slot.idle());
        }
    }

    /// Waits for the output of the next item in order.
    fn next_output(&self) -> Option<(Ticket, Result<O, E>)> {
        let _traced = span("wait for the next output");
        self.window.next()
    }

    fn timesheet(&self, number: usize) -> Option<Timesheet<'_>> {
        let recorder = self.recorder.as_ref()?;
        Some(Timesheet::begin(recorder, number))
    }

    fn count_bytes(&self, item: I, bytes: u64) -> I {
        if let Some(recorder) = &self.recorder {
            recorder.count_bytes(0, bytes);
        }
        item
    }

    fn turn_into_output(&self, number: usize, kept: &mut W, item: Result<I, E>) -> Result<O, E> {
        let item = item?;
        self.pool.begin_work();
        let recorder = self.recorder.as_ref();
        if let Some(recorder) = recorder {
            self.pool.tell_in_flight(self.window.in_flight());
            recorder.begin_task(number);
        }
        let started = recorder.map(|_| Instant::now());
        let traced = span(self.options.name);
        let output = (self.work)(kept, item);
        drop(traced);
        if let (Some(recorder), Some(started)) = (recorder, started) {
            recorder.count_operation(number, started.elapsed());
            recorder.end_task();
        }
        self.pool.end_work();
        output
    }

    /// Locks the source. A worker that waits for it counts as idle.
    fn wait_for_source(&self) -> MutexGuard<'_, Option<S>> {
        if self.recorder.is_some() {
            match self.source.try_lock() {
                Ok(source) => return source,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
            self.pool.tell_starving(true);
            let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            self.pool.tell_starving(false);
            return source;
        }
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item and its ticket, once there is room for it. An error of the source also takes a
    /// place in the order.
    fn fetch(&self) -> Option<(Ticket, Result<I, E>)> {
        let mut source = self.wait_for_source();
        let over = self.failed.load(Ordering::Relaxed) || self.options.cancel.is_cancelled();
        let fetched = match source.as_mut().filter(|_| !over).and_then(Iterator::next) {
            Some(Ok((item, bytes))) => {
                let item = self.count_bytes(item, bytes);
                self.window.admit(bytes).map(|ticket| (ticket, Ok(item)))
            }
            Some(Err(error)) => self.window.admit(0).map(|ticket| (ticket, Err(error))),
            None => None,
        };
        if !matches!(fetched, Some((_, Ok(_)))) {
            self.window.finish();
            *source = None;
        }
        fetched
    }
}

/// Ends a run when it goes out of scope, also after a panic of `commit`.
struct End<'a, 'o, S, O, E, M, F>(&'a Pipeline<'o, S, O, E, M, F>);

impl<S, O, E, M, F> Drop for End<'_, '_, S, O, E, M, F> {
    fn drop(&mut self) {
        self.0.failed.store(true, Ordering::Relaxed);
        self.0.window.stop();
        self.0.pool.end();
    }
}

/// A run and the threads that it may start.
struct Handle<'scope, 'env, L> {
    pipeline: &'scope L,
    threads: &'scope thread::Scope<'scope, 'env>,
}

impl<'scope, S, I, O, W, E, M, F> Handle<'scope, '_, Pipeline<'_, S, O, E, M, F>>
where
    S: Iterator<Item = Result<(I, u64), E>> + Send,
    I: Send,
    O: Send,
    E: Send,
    M: Fn(usize) -> W + Sync,
    F: Fn(&mut W, I) -> Result<O, E> + Sync,
{
    /// Starts a missing thread; returns whether one was missing and could be started.
    fn hire_next(&self) -> bool {
        self.pipeline
            .pool
            .hire()
            .is_some_and(|hire| self.hire(hire))
    }

    fn hire(&self, hire: ThreadRequest) -> bool {
        let (pipeline, threads) = (self.pipeline, self.threads);
        let name = pipeline.options.name;
        match hire {
            ThreadRequest::Worker(number) => {
                let name = format!("{name}-{number}");
                let started =
                    start_scoped(threads, &name, move || pipeline.work_as(number, threads));
                if let Err(error) = &started {
                    pipeline.options.tell_missing_thread(error);
                    pipeline.pool.give_up_thread();
                }
                started.is_ok()
            }
            ThreadRequest::Watch => {
                let handle = Handle { pipeline, threads };
                let watch = move || watch(&handle, &pipeline.pool.alarm, pipeline.options);
                start_scoped(threads, &format!("{name}-watch"), watch).is_ok()
            }
        }
    }
}

impl<S, I, O, W, E, M, F> Watched for Handle<'_, '_, Pipeline<'_, S, O, E, M, F>>
where
    S: Iterator<Item = Result<(I, u64), E>> + Send,
    I: Send,
    O: Send,
    E: Send,
    M: Fn(usize) -> W + Sync,
    F: Fn(&mut W, I) -> Result<O, E> + Sync,
{
    fn slots(&self) -> &[CachePadded<Slot>] {
        &self.pipeline.pool.slots
    }

    fn epoch(&self) -> Instant {
        self.pipeline.pool.epoch
    }

    fn target(&self) -> usize {
        self.pipeline.pool.target()
    }

    /// The source is fast enough as long as workers do not wait for items.
    fn has_backlog(&self) -> bool {
        self.pipeline.fetching.load(Ordering::Relaxed) <= 1
    }

    fn set_target(&self, target: usize) {
        self.pipeline.pool.set_target(target);
        // Each worker hires the next one when it has got an item.
        self.hire_next();
    }
}
