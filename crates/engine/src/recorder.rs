use crate::series::{Point, Series};
use crate::statistics::Statistics;
use crossbeam_utils::CachePadded;
use hedgerow_fs::thread_time::{ThreadId, ThreadMeter, ThreadTime};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counters are spread over so many cache lines, by the worker's number.
const SHARDS: usize = 16;
/// Classes of latency: below 1 us, then one for each doubling; the last holds all above.
pub(crate) const LATENCY_CLASSES: usize = 32;

/// Counts what runs do. One recorder may serve several runs, one after another or at a time.
#[derive(Debug)]
pub struct Recorder {
    shards: Box<[CachePadded<Shard>]>,
    started: Instant,
    in_flight: AtomicUsize,
    in_flight_max: AtomicUsize,
    queue_max: AtomicUsize,
    /// When the next point of the series is due, in microseconds since the start.
    next_point_us: AtomicU64,
    series: Mutex<Series>,
}

#[derive(Debug, Default)]
struct Shard {
    tasks: AtomicU64,
    bytes: AtomicU64,
    empty: AtomicU64,
    operations: AtomicU64,
    latency_ns: AtomicU64,
    latency: [AtomicU64; LATENCY_CLASSES],
    busy_ns: AtomicU64,
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
            queue_max: AtomicUsize::new(0),
            next_point_us: AtomicU64::new(0),
            series: Mutex::default(),
        }
    }
}

impl Recorder {
    /// What has been counted so far. The times of a worker are added when its run ends.
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
        let busy_us = sum(|shard| &shard.busy_ns) / 1000;
        let series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        Statistics {
            wall_us: self.started.elapsed().as_micros() as u64,
            tasks: sum(|shard| &shard.tasks),
            operations: sum(|shard| &shard.operations),
            bytes: sum(|shard| &shard.bytes),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            in_flight_max: self.in_flight_max.load(Ordering::Relaxed),
            queue_max: self.queue_max.load(Ordering::Relaxed),
            queue_empty: sum(|shard| &shard.empty),
            latency_sum_us: sum(|shard| &shard.latency_ns) / 1000,
            latency: (0..LATENCY_CLASSES).map(class).collect(),
            cpu_us,
            run_delay_us,
            wait_us: busy_us.saturating_sub(cpu_us + run_delay_us),
            peak_memory_bytes: hedgerow_fs::peak_memory_besides_mapped_files(),
            interval_us: series.interval_us(),
            series: series.points().to_vec(),
        }
    }

    /// A worker begins a task while so many others wait.
    pub(crate) fn begin_task(&self, worker: usize, queue: usize) {
        self.shard(worker).tasks.fetch_add(1, Ordering::Relaxed);
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.in_flight_max.fetch_max(in_flight, Ordering::Relaxed);
        self.queue_max.fetch_max(queue, Ordering::Relaxed);
        let at_us = self.started.elapsed().as_micros() as u64;
        if at_us >= self.next_point_us.load(Ordering::Relaxed) {
            self.add_point(Point {
                at_us,
                queue,
                workers: in_flight,
            });
        }
    }

    pub(crate) fn end_task(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
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

    /// A worker found nothing to do.
    pub(crate) fn count_empty(&self, worker: usize) {
        self.shard(worker).empty.fetch_add(1, Ordering::Relaxed);
    }

    fn add_point(&self, point: Point) {
        // Whoever holds the lock adds a point for this time.
        if let Ok(mut series) = self.series.try_lock() {
            let due_us = series.add(point);
            self.next_point_us.store(due_us, Ordering::Relaxed);
        }
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

/// Adds up the times of the calling thread from its beginning to its end.
pub(crate) struct Timesheet<'a> {
    recorder: &'a Recorder,
    worker: usize,
    meter: ThreadMeter,
    started: Instant,
    before: ThreadTime,
}

impl<'a> Timesheet<'a> {
    pub(crate) fn begin(recorder: &'a Recorder, worker: usize) -> Self {
        let meter = ThreadMeter::new(ThreadId::current());
        Timesheet {
            recorder,
            worker,
            started: Instant::now(),
            before: meter.read().unwrap_or_default(),
            meter,
        }
    }

    /// Of all the time since the beginning, the worker had nothing to do for `idle`.
    pub(crate) fn end(self, idle: Duration) {
        let now = self.meter.read().unwrap_or(self.before);
        let cpu = now.cpu.saturating_sub(self.before.cpu);
        let delay = |time: ThreadTime| time.schedule.unwrap_or_default().delay;
        let run_delay = delay(now).saturating_sub(delay(self.before));
        let busy = self.started.elapsed().saturating_sub(idle);
        let shard = self.recorder.shard(self.worker);
        let add = |counter: &AtomicU64, time: Duration| {
            counter.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        };
        add(&shard.busy_ns, busy);
        add(&shard.cpu_ns, cpu);
        add(&shard.run_delay_ns, run_delay);
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
            recorder.begin_task(worker, 100 - worker);
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
    }
}
