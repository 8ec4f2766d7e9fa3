use crate::counters::{Counters, LATENCY_CLASSES};
use crate::series::{Gauges, Series};
use crate::statistics::{Schema, Statistics};
use crate::{Options, StageStatistics};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Counts what runs do. One recorder may serve several runs, one after another or at the same time.
#[derive(Debug)]
pub struct Recorder {
    /// The counts of the runs of each name, in the order in which the first of each started.
    stages: Mutex<Vec<(&'static str, Arc<Counters>)>>,
    started: Instant,
    in_flight: AtomicUsize,
    in_flight_max: AtomicUsize,
    queue: CachePadded<QueueGauge>,
    target: AtomicUsize,
    /// When the next point of the series is due, in microseconds since the start.
    next_point_us: AtomicU64,
    series: Mutex<Series>,
}

/// Number of tasks waiting, over all runs.
#[derive(Debug, Default)]
struct QueueGauge {
    now: AtomicUsize,
    /// The extremes since the last point.
    min: AtomicUsize,
    max: AtomicUsize,
    max_ever: AtomicUsize,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            stages: Mutex::default(),
            started: Instant::now(),
            in_flight: AtomicUsize::new(0),
            in_flight_max: AtomicUsize::new(0),
            queue: CachePadded::default(),
            target: AtomicUsize::new(0),
            next_point_us: AtomicU64::new(0),
            series: Mutex::default(),
        }
    }
}

impl Recorder {
    /// The counts so far. The times of a worker are added when its run ends.
    pub fn snapshot(&self) -> Statistics {
        let (mut stages, mut latency, mut queue_empty) = (Vec::new(), vec![0; LATENCY_CLASSES], 0);
        for (name, counters) in self.lock_stages().iter() {
            stages.push(counters.snapshot(name));
            let classes = latency.iter_mut().zip(counters.latency());
            classes.for_each(|(sum, count)| *sum += count);
            queue_empty += counters.empty();
        }
        let sum = |value: fn(&StageStatistics) -> u64| stages.iter().map(value).sum();
        self.tick();
        let now_us = self.now_us();
        let mut series = self.lock_series();
        let (starved_us, starved_wall_us) = series.starved_us(now_us);
        Statistics {
            schema: Schema::default(),
            wall_us: now_us,
            tasks: sum(|stage| stage.tasks),
            operations: sum(|stage| stage.operations),
            bytes: sum(|stage| stage.bytes),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            in_flight_max: self.in_flight_max.load(Ordering::Relaxed),
            queue_max: self.queue.max_ever.load(Ordering::Relaxed),
            queue_empty,
            starved_us,
            starved_wall_us,
            latency_sum_us: sum(|stage| stage.latency_sum_us),
            latency,
            cpu_us: sum(|stage| stage.cpu_us),
            run_delay_us: sum(|stage| stage.run_delay_us),
            wait_us: sum(|stage| stage.wait_us),
            processors: hedgerow_fs::cpu::available(),
            peak_memory_bytes: hedgerow_fs::peak_memory_besides_mapped_files(),
            interval_us: series.interval_us(),
            phases: series.phases(now_us),
            series: series.points().to_vec(),
            stages,
            command: None,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            started_s: SystemTime::now()
                .checked_sub(Duration::from_micros(now_us))
                .and_then(|started| started.duration_since(UNIX_EPOCH).ok())
                .map(|since| since.as_secs()),
            jobs: None,
        }
    }

    /// The counters of the runs called `name`.
    pub(crate) fn counters(&self, name: &'static str) -> Arc<Counters> {
        let mut stages = self.lock_stages();
        match stages.iter().find(|(other, _)| *other == name) {
            Some((_, counters)) => Arc::clone(counters),
            None => {
                let counters = Arc::<Counters>::default();
                stages.push((name, Arc::clone(&counters)));
                counters
            }
        }
    }

    fn begin_task(&self) {
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        raise(&self.in_flight_max, in_flight);
    }

    fn end_task(&self) {
        self.tick();
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Called before a change, possibly after a pause: adds the points of the series that are due.
    pub(crate) fn tick(&self) {
        let now_us = self.now_us();
        if now_us < self.next_point_us.load(Ordering::Relaxed) {
            return;
        }
        let mut series = self.lock_series();
        if now_us >= series.due_us() {
            let due_us = series.advance(now_us, self.take_gauges());
            self.next_point_us.store(due_us, Ordering::Relaxed);
        }
    }

    /// The current state for the series; resets the extremes.
    fn take_gauges(&self) -> Gauges {
        Gauges {
            queue: self.queue.now.load(Ordering::Relaxed),
            queue_min: self.queue.min.swap(usize::MAX, Ordering::Relaxed),
            queue_max: self.queue.max.swap(0, Ordering::Relaxed),
            workers: self.in_flight.load(Ordering::Relaxed),
            target: self.target.load(Ordering::Relaxed),
        }
    }

    /// Adds a point for the past, even if none is due.
    pub(crate) fn mark(&self) -> MutexGuard<'_, Series> {
        let now_us = self.now_us();
        let mut series = self.lock_series();
        let due_us = series.mark(now_us, self.take_gauges());
        self.next_point_us.store(due_us, Ordering::Relaxed);
        series
    }

    /// The number of tasks waiting in a run changes from `from` to `to`.
    pub(crate) fn change_queue(&self, from: usize, to: usize) {
        let change = to.wrapping_sub(from);
        let now = self.queue.now.fetch_add(change, Ordering::Relaxed);
        let now = now.wrapping_add(change);
        raise(&self.queue.max_ever, now);
        raise(&self.queue.max, now);
        if now < self.queue.min.load(Ordering::Relaxed) {
            self.queue.min.fetch_min(now, Ordering::Relaxed);
        }
    }

    /// The number of workers allowed in a run changes from `from` to `to`.
    pub(crate) fn change_target(&self, from: usize, to: usize) {
        self.tick();
        self.target
            .fetch_add(to.wrapping_sub(from), Ordering::Relaxed);
    }

    /// The number of idle workers in a run changes from `from` to `to`.
    pub(crate) fn change_starving(&self, from: usize, to: usize) {
        self.tick();
        let now_us = self.now_us();
        self.lock_series().change_starving(now_us, from, to);
    }

    pub(crate) fn now_us(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    fn lock_series(&self) -> MutexGuard<'_, Series> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_stages(&self) -> MutexGuard<'_, Vec<(&'static str, Arc<Counters>)>> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the workers of one run report to its recorder.
#[derive(Debug)]
pub(crate) struct StageRecorder {
    recorder: Arc<Recorder>,
    counters: Arc<Counters>,
}

impl StageRecorder {
    /// For a run with these options; `None` if there is no recorder.
    pub(crate) fn of(options: &Options) -> Option<Self> {
        let recorder = options.recorder.clone()?;
        let counters = recorder.counters(options.name);
        Some(StageRecorder { recorder, counters })
    }

    /// Adds the points of the series that are due.
    pub(crate) fn tick(&self) {
        self.recorder.tick();
    }

    /// A worker starts a task.
    pub(crate) fn begin_task(&self, worker: usize) {
        self.counters.count_task(worker);
        self.recorder.begin_task();
    }

    pub(crate) fn end_task(&self) {
        self.recorder.end_task();
    }

    pub(crate) fn count_operation(&self, worker: usize, latency: Duration) {
        self.counters.count_operation(worker, latency);
    }

    pub(crate) fn count_bytes(&self, worker: usize, bytes: u64) {
        self.counters.count_bytes(worker, bytes);
    }

    /// A worker found nothing to do.
    pub(crate) fn count_empty(&self, worker: usize) {
        self.counters.count_empty(worker);
    }

    /// Adds a worker's times: on a processor, in the run queue, waiting.
    pub(crate) fn add_times(
        &self,
        worker: usize,
        cpu: Duration,
        run_delay: Duration,
        wait: Duration,
    ) {
        self.counters.add_times(worker, cpu, run_delay, wait);
    }
}

fn raise(counter: &AtomicUsize, value: usize) {
    if value > counter.load(Ordering::Relaxed) {
        counter.fetch_max(value, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_workers_add_up() {
        let recorder = Arc::new(Recorder::default());
        let stage = |name| {
            let recorder = Some(Arc::clone(&recorder));
            let options = Options {
                recorder,
                name,
                ..Options::default()
            };
            StageRecorder::of(&options).unwrap()
        };
        let stages = [stage("even"), stage("odd")];
        for worker in 0..100 {
            let stage = &stages[worker % 2];
            recorder.change_queue(worker, worker + 1);
            stage.begin_task(worker);
            stage.count_operation(worker, Duration::from_micros(5));
            stage.count_bytes(worker, 10);
            stage.count_empty(worker);
        }
        (0..60).for_each(|_| stages[0].end_task());
        stage("odd").count_bytes(3, 7);
        let counted = recorder.snapshot();
        assert_eq!(
            (counted.tasks, counted.operations, counted.bytes),
            (100, 100, 1007)
        );
        let bytes = counted
            .stages
            .iter()
            .map(|stage| (&*stage.name, stage.bytes));
        assert_eq!(bytes.collect::<Vec<_>>(), [("even", 500), ("odd", 507)]);
        assert_eq!((counted.in_flight, counted.in_flight_max), (40, 100));
        assert_eq!((counted.queue_max, counted.queue_empty), (100, 100));
        assert_eq!((counted.latency[3], counted.latency_sum_us), (100, 500));
        assert_eq!(counted.series[0].queue, 100);
        assert_eq!(counted.series[0].workers, 100);
    }
}
