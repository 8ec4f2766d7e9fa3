use crate::adaptive::{watch, Watched};
use crate::queue::{Call, Lane, Queue};
use crate::recorder::StageRecorder;
use crate::report::panic_message;
use crate::slot::Slot;
use crate::timesheet::Timesheet;
use crate::{span, CancelToken, Failure, Options, Report};
use crossbeam_utils::CachePadded;
use hedgerow_fs::threads::start_scoped;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;
use std::time::Instant;

/// Processes tasks that may add further tasks, until none waits or runs.
///
/// The calling thread is worker 0; with one worker it does everything itself. Further threads start
/// only when tasks wait for them. `worker` creates a worker's state, kept from task to task, on the
/// worker's own thread; it receives the worker's number. `work` runs one task.
///
/// Fails with the first error of a task, the first panic, or [`Failure::Cancelled`], whichever
/// comes first: tasks that have started are finished, waiting ones are dropped.
pub fn run_tasks<T: Send, W, E: Send>(
    options: &Options,
    initial: Vec<T>,
    worker: impl Fn(usize) -> W + Sync,
    work: impl Fn(&mut W, T, &Scope<'_, T>) -> Result<(), E> + Sync,
) -> Result<Report, Failure<E>> {
    options.tell_begin();
    let run = Run {
        queue: Queue::new(initial, options),
        recorder: StageRecorder::of(options),
        options,
        worker,
        work,
    };
    thread::scope(|threads| run.work_as(0, threads));
    let (workers_peak, workers_last) = run.queue.workers();
    match run.queue.into_failure() {
        Some(failure) => Err(failure),
        // A task that checked the token may have left its work half done.
        None if options.cancel.is_cancelled() => Err(Failure::Cancelled),
        None => {
            let report = Report {
                workers_peak,
                workers_last,
            };
            options.tell_end(&report);
            Ok(report)
        }
    }
}

/// A task's interface to its run.
pub struct Scope<'a, T> {
    tasks: &'a (dyn Spawn<T> + Sync),
    cancel: &'a CancelToken,
    me: &'a Slot,
    number: usize,
    recorder: Option<&'a StageRecorder>,
}

impl<T> Scope<'_, T> {
    /// Adds a task, after the waiting ones.
    pub fn spawn(&self, task: T) {
        self.tick();
        self.tasks.spawn(self.me, Lane::Usual, task);
    }

    /// Adds an urgent task: taken before all others, but after the urgent tasks that already wait.
    pub fn spawn_first(&self, task: T) {
        self.tick();
        self.tasks.spawn(self.me, Lane::Urgent, task);
    }

    /// Adds tasks at once, after the waiting ones.
    pub fn spawn_all(&self, tasks: impl IntoIterator<Item = T>) {
        self.tick();
        let tasks = tasks.into_iter().collect();
        self.tasks.spawn_all(self.me, Lane::Usual, tasks);
    }

    /// Adds tasks at once, before all waiting ones: the first of them is taken next. A run that
    /// only uses this works depth first, and few tasks wait.
    pub fn spawn_all_next(&self, tasks: impl IntoIterator<Item = T>) {
        self.tick();
        let tasks = tasks.into_iter().collect();
        self.tasks.spawn_all(self.me, Lane::Next, tasks);
    }

    /// To be called by a task that may run for long before it starts an operation or adds a task: has
    /// the other tasks not wait for it, even in a run that has just begun.
    pub fn takes_long(&self) {
        self.tasks.share_out();
    }

    /// Approximate number of tasks waiting; it may change at any time.
    pub fn waiting(&self) -> usize {
        self.tasks.waiting()
    }

    /// A task may run for a long time before it adds others.
    fn tick(&self) {
        if let Some(recorder) = self.recorder {
            recorder.tick();
        }
    }

    /// Whether the run must end early: it was cancelled, or a task failed.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.tasks.is_stopped()
    }

    /// Runs `work` and counts it as one operation, for example a file; in a trace, it is called
    /// `name`. The clock is read only if there is a recorder or a trace.
    pub fn operation<R>(&self, name: &'static str, work: impl FnOnce() -> R) -> R {
        self.tasks.hurry();
        let _traced = span(name);
        let Some(recorder) = self.recorder else {
            return work();
        };
        let started = Instant::now();
        let result = work();
        recorder.count_operation(self.number, started.elapsed());
        result
    }

    /// Counts bytes read or written.
    pub fn add_bytes(&self, bytes: u64) {
        if let Some(recorder) = self.recorder {
            recorder.count_bytes(self.number, bytes);
        }
    }
}

/// A run as seen by its tasks, independent of its type parameters.
trait Spawn<T> {
    fn spawn(&self, me: &Slot, lane: Lane, task: T);
    fn spawn_all(&self, me: &Slot, lane: Lane, tasks: Vec<T>);
    fn waiting(&self) -> usize;
    fn is_stopped(&self) -> bool;
    /// Starts the deferred threads, if it is time.
    fn hurry(&self);
    /// Starts the deferred threads.
    fn share_out(&self);
}

struct Run<'o, T, E, M, F> {
    queue: Queue<T, E>,
    recorder: Option<StageRecorder>,
    options: &'o Options,
    worker: M,
    work: F,
}

impl<T, W, E, M, F> Run<'_, T, E, M, F>
where
    T: Send,
    E: Send,
    M: Fn(usize) -> W + Sync,
    F: Fn(&mut W, T, &Scope<'_, T>) -> Result<(), E> + Sync,
{
    fn work_as<'scope>(&'scope self, number: usize, threads: &'scope thread::Scope<'scope, '_>) {
        let handle = Handle { run: self, threads };
        self.queue.slots[number].occupy(self.queue.epoch);
        if number == 0 {
            self.queue
                .calls()
                .into_iter()
                .for_each(|call| handle.call(call));
        }
        let worked = catch_unwind(AssertUnwindSafe(|| self.work_through(number, &handle)));
        if let Err(payload) = worked {
            self.queue.stop(Failure::Panicked(panic_message(payload)));
        }
    }

    /// Runs tasks as worker `number` until the run ends.
    fn work_through(&self, number: usize, tasks: &(dyn Spawn<T> + Sync)) {
        let recorder = self.recorder.as_ref();
        let _lane = self.options.lane(number);
        let timesheet = recorder.map(|recorder| Timesheet::begin(recorder, number));
        let scope = Scope {
            tasks,
            cancel: &self.options.cancel,
            me: &self.queue.slots[number],
            number,
            recorder,
        };
        let mut kept = (self.worker)(number);
        let mut finished = false;
        while let Some(task) = self.queue.take(number, finished, recorder) {
            if self.options.cancel.is_cancelled() {
                self.queue.stop(Failure::Cancelled);
                break;
            }
            if let Some(recorder) = recorder {
                recorder.begin_task(number);
            }
            let traced = span(self.options.name);
            let result = (self.work)(&mut kept, task, &scope);
            drop(traced);
            if let Some(recorder) = recorder {
                recorder.end_task();
            }
            if let Err(error) = result {
                self.queue.stop(Failure::Failed(error));
                break;
            }
            finished = true;
            tasks.hurry();
        }
        if let Some(timesheet) = timesheet {
            timesheet.end(scope.me.idle());
        }
    }
}

/// A run and the threads that it may start.
struct Handle<'scope, 'env, R> {
    run: &'scope R,
    threads: &'scope thread::Scope<'scope, 'env>,
}

impl<'scope, T, W, E, M, F> Handle<'scope, '_, Run<'_, T, E, M, F>>
where
    T: Send,
    E: Send,
    M: Fn(usize) -> W + Sync,
    F: Fn(&mut W, T, &Scope<'_, T>) -> Result<(), E> + Sync,
{
    fn call(&self, call: Call) {
        match call {
            Call::Wake(number) => self.run.queue.slots[number].call(self.run.queue.epoch),
            Call::Start(number) => {
                let (run, threads) = (self.run, self.threads);
                let name = format!("{}-{number}", run.options.name);
                let started = start_scoped(threads, &name, move || run.work_as(number, threads));
                if let Err(error) = started {
                    run.options.tell_missing_thread(&error);
                    run.queue.give_up_thread();
                }
            }
            Call::Watch => {
                let handle = Handle { ..*self };
                let name = format!("{}-watch", self.run.options.name);
                let watch = move || watch(&handle, &handle.run.queue.alarm, handle.run.options);
                // Without the thread, the run goes on with the workers it has.
                let _ = start_scoped(self.threads, &name, watch);
            }
        }
    }
}

impl<T, W, E, M, F> Watched for Handle<'_, '_, Run<'_, T, E, M, F>>
where
    T: Send,
    E: Send,
    M: Fn(usize) -> W + Sync,
    F: Fn(&mut W, T, &Scope<'_, T>) -> Result<(), E> + Sync,
{
    fn slots(&self) -> &[CachePadded<Slot>] {
        &self.run.queue.slots
    }

    fn epoch(&self) -> Instant {
        self.run.queue.epoch
    }

    fn target(&self) -> usize {
        self.run.queue.workers().1
    }

    fn has_backlog(&self) -> bool {
        self.run.queue.has_backlog()
    }

    fn set_target(&self, target: usize) {
        self.run.queue.set_target(target);
        self.run
            .queue
            .calls()
            .into_iter()
            .for_each(|call| self.call(call));
    }
}

impl<T, W, E, M, F> Spawn<T> for Handle<'_, '_, Run<'_, T, E, M, F>>
where
    T: Send,
    E: Send,
    M: Fn(usize) -> W + Sync,
    F: Fn(&mut W, T, &Scope<'_, T>) -> Result<(), E> + Sync,
{
    fn spawn(&self, me: &Slot, lane: Lane, task: T) {
        if let Some(call) = self.run.queue.push(me, lane, task) {
            self.call(call);
        }
    }

    fn spawn_all(&self, me: &Slot, lane: Lane, tasks: Vec<T>) {
        for call in self.run.queue.push_all(me, lane, tasks) {
            self.call(call);
        }
    }

    fn waiting(&self) -> usize {
        self.run.queue.waiting()
    }

    fn is_stopped(&self) -> bool {
        self.run.queue.is_stopped()
    }

    fn hurry(&self) {
        if self.run.queue.is_due() {
            let calls = self.run.queue.calls();
            calls.into_iter().for_each(|call| self.call(call));
        }
    }

    fn share_out(&self) {
        if self.run.queue.lose_patience() {
            let calls = self.run.queue.calls();
            calls.into_iter().for_each(|call| self.call(call));
        }
    }
}
