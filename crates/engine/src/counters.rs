use crate::StageStatistics;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of shards: the counters are spread over this many cache lines, by the worker's number.
const SHARDS: usize = 16;
/// Number of latency classes: below 1 us, then one for each doubling; the last has no upper end.
pub(crate) const LATENCY_CLASSES: usize = 32;

/// What the runs of one name count. Workers add to it without waiting for each other.
#[derive(Debug)]
pub(crate) struct Counters {
    shards: Box<[CachePadded<Shard>]>,
    runs: AtomicU64,
    wall_us: AtomicU64,
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

impl Default for Counters {
    fn default() -> Self {
        Counters {
            shards: (0..SHARDS).map(|_| CachePadded::default()).collect(),
            runs: AtomicU64::new(0),
            wall_us: AtomicU64::new(0),
        }
    }
}

impl Counters {
    pub(crate) fn count_task(&self, worker: usize) {
        self.shard(worker).tasks.fetch_add(1, Ordering::Relaxed);
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

    /// A run took this long.
    pub(crate) fn add_run(&self, wall_us: u64) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.wall_us.fetch_add(wall_us, Ordering::Relaxed);
    }

    /// How often a worker found nothing to do.
    pub(crate) fn empty(&self) -> u64 {
        self.sum(|shard| &shard.empty)
    }

    /// The number of operations in each latency class.
    pub(crate) fn latency(&self) -> [u64; LATENCY_CLASSES] {
        std::array::from_fn(|class| {
            let value = |shard: &CachePadded<Shard>| shard.latency[class].load(Ordering::Relaxed);
            self.shards.iter().map(value).sum()
        })
    }

    /// The counts so far, under this name.
    pub(crate) fn snapshot(&self, name: &str) -> StageStatistics {
        StageStatistics {
            name: name.to_owned(),
            runs: self.runs.load(Ordering::Relaxed),
            wall_us: self.wall_us.load(Ordering::Relaxed),
            tasks: self.sum(|shard| &shard.tasks),
            operations: self.sum(|shard| &shard.operations),
            bytes: self.sum(|shard| &shard.bytes),
            latency_sum_us: self.sum(|shard| &shard.latency_ns) / 1000,
            cpu_us: self.sum(|shard| &shard.cpu_ns) / 1000,
            run_delay_us: self.sum(|shard| &shard.run_delay_ns) / 1000,
            wait_us: self.sum(|shard| &shard.wait_ns) / 1000,
        }
    }

    fn sum(&self, counter: fn(&Shard) -> &AtomicU64) -> u64 {
        let value = |shard: &CachePadded<Shard>| counter(shard).load(Ordering::Relaxed);
        self.shards.iter().map(value).sum()
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
}
