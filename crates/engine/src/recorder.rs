use crate::series::{Gauges, Series};
use crate::statistics::{Schema, Statistics};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of shards: the counters are spread over this many cache lines, by the worker's number.
const SHARDS: usize = 16;
/// Number of latency classes: below 1 us, then one for each doubling; the last has no upper end.
pub(crate) const LATENCY_CLASSES: usize = 32;

/// Counts what runs do. One recorder may serve several runs, one after another or at the same time.
#[derive(Debug)]
pub struct Recorder {
    shards: Box<[CachePadded<Shard>]>,
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

#[derive(Debug, Default)]
struct Shard {
    tasks: AtomicU64,
    bytes: AtomicU64,
    empty: AtomicU64,
    operations: AtomicU64,
    latency_ns: AtomicU64,
    latency: [AtomicU64; LATENCY_CLASSES],
    wait_ns: AtomicU64,
    cpu_ns: AtomicU64,
    run_delay_ns: AtomicU64,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            shards: (0..SHARDS).map(|_| CachePadded::default()).collect(),
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
        let sum = |counter: fn(&Shard) -> &AtomicU64| -> u64 {
            let value = |shard: &CachePadded<Shard>| counter(shard).load(Ordering::Relaxed);
            self.shards.iter().map(value).sum()
        };
        let class = |class: usize| -> u64 {
            let value = |shard: &CachePadded<Shard>| shard.latency[class].load(Ordering::Relaxed);
            self.shards.iter().map(value).sum()
        };
        let cpu_us = sum(|shard| &shard.cpu_ns) / 1000;
        let run_delay_us = sum(|shard| &shard.run_delay_ns) / 1000;
        let wait_us = sum(|shard| &shard.wait_ns) / 1000;
        self.tick();
        let now_us = self.now_us();
        let mut series = self.lock_series();
        let (starved_us, starved_wall_us) = series.starved_us(now_us);
        Statistics {
            schema: Schema::default(),
            wall_us: now_us,
            tasks: sum(|shard| &shard.tasks),
            operations: sum(|shard| &shard.operations),
            bytes: sum(|shard| &shard.bytes),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            in_flight_max: self.in_flight_max.load(Ordering::Relaxed),
            queue_max: self.queue.max_ever.load(Ordering::Relaxed),
            queue_empty: sum(|shard| &shard.empty),
            starved_us,
            starved_wall_us,
            latency_sum_us: sum(|shard| &shard.latency_ns) / 1000,
            latency: (0..LATENCY_CLASSES).map(class).collect(),
            cpu_us,
            run_delay_us,
            wait_us,
            peak_memory_bytes: hedgerow_fs::peak_memory_besides_mapped_files(),
            interval_us: series.interval_us(),
            phases: series.phases(now_us),
            series: series.points().to_vec(),
        }
    }

    /// A worker starts a task.
    pub(crate) fn begin_task(&self, worker: usize) {
        self.shard(worker).tasks.fetch_add(1, Ordering::Relaxed);
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        raise(&self.in_flight_max, in_flight);
    }

    pub(crate) fn end_task(&self) {
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

    pub(crate) fn count_operation(&self, worker: usize, latency: Duration) {
        let shard = self.shard(worker);
        let nanoseconds = latency.as_nanos() as u64;
        shard.operations.fetch_add(1, Ordering::Relaxed);
        shard.latency_ns.fetch_add(nanoseconds, Ordering::Relaxed);
        shard.latency[latency_class(nanoseconds)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_bytes(&self, worker: usize, bytes: u64) {
        self.shard(worker).bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds a worker's times: on a processor, in the run queue, waiting.
    pub(crate) fn add_times(
        &self,
        worker: usize,
        cpu: Duration,
        run_delay: Duration,
        wait: Duration,
    ) {
        let shard = self.shard(worker);
        let add = |counter: &AtomicU64, time: Duration| {
            counter.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        };
        add(&shard.cpu_ns, cpu);
        add(&shard.run_delay_ns, run_delay);
        add(&shard.wait_ns, wait);
    }

    /// A worker found nothing to do.
    pub(crate) fn count_empty(&self, worker: usize) {
        self.shard(worker).empty.fetch_add(1, Ordering::Relaxed);
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

    fn shard(&self, worker: usize) -> &Shard {
        &self.shards[worker % SHARDS]
    }
}

/// The class of a latency: 0 below a microsecond, then one more for each doubling.
fn latency_class(nanoseconds: u64) -> usize {
    let microseconds = nanoseconds / 1000;
    ((u64::BITS - microseconds.leading_zeros()) as usize).min(LATENCY_CLASSES - 1)
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
    fn each_class_is_a_doubling() {
        let class_of_us = |us: u64| latency_class(us * 1000);
        assert_eq!(latency_class(999), 0);
        assert_eq!(
            [1, 2, 3, 4, 7, 8, 1024].map(class_of_us),
            [1, 2, 2, 3, 3, 4, 11]
        );
        assert_eq!(latency_class(u64::MAX), LATENCY_CLASSES - 1);
    }

    #[test]
    fn counts_of_all_workers_add_up() {
        let recorder = Recorder::default();
        for worker in 0..100 {
            recorder.change_queue(worker, worker + 1);
            recorder.begin_task(worker);
            recorder.count_operation(worker, Duration::from_micros(5));
            recorder.count_bytes(worker, 10);
            recorder.count_empty(worker);
        }
        (0..60).for_each(|_| recorder.end_task());
        let counted = recorder.snapshot();
        assert_eq!(
            (counted.tasks, counted.operations, counted.bytes),
            (100, 100, 1000)
        );
        assert_eq!((counted.in_flight, counted.in_flight_max), (40, 100));
        assert_eq!((counted.queue_max, counted.queue_empty), (100, 100));
        assert_eq!((counted.latency[3], counted.latency_sum_us), (100, 500));
        assert_eq!(counted.series[0].queue, 100);
        assert_eq!(counted.series[0].workers, 100);
    }
}
