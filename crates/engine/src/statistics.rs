use crate::series::Point;
use serde::Serialize;
use std::fmt;

/// What a [`Recorder`](crate::Recorder) counted, added up over all workers and runs.
///
/// As JSON, an object with exactly these fields, numbers all of them but `latency`, an array of
/// numbers, and `series`, an array of `{at_us, queue, workers}`. Times are microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Time since the recorder was made.
    pub wall_us: u64,
    /// Tasks, or items, that were begun.
    pub tasks: u64,
    /// Operations that tasks told of: a file, in most runs.
    pub operations: u64,
    /// Bytes that tasks told of.
    pub bytes: u64,
    /// Tasks that are running now.
    pub in_flight: usize,
    /// The most tasks that ran at a time.
    pub in_flight_max: usize,
    /// The most tasks that waited.
    pub queue_max: usize,
    /// How often a worker found nothing to do, and went to sleep.
    pub queue_empty: u64,
    /// The sum of the times that operations took.
    pub latency_sum_us: u64,
    /// Operations by the time they took: the first number counts those below 1 us, number `n` those
    /// from `2^(n-1)` to below `2^n` us, the last all above.
    pub latency: Vec<u64>,
    /// Time of workers on a processor.
    pub cpu_us: u64,
    /// Time of workers in the queue for a processor; 0 where the kernel does not tell.
    pub run_delay_us: u64,
    /// Time of workers at work, but waiting: for the file system, or for one another. At least:
    /// where a worker queued for a processor while it had nothing to do, it is somewhat more.
    pub wait_us: u64,
    /// The most memory the process has used, besides mapped files; `null` where unknown.
    pub peak_memory_bytes: Option<u64>,
    /// The least time between two points of the series.
    pub interval_us: u64,
    /// Tasks that waited and workers at work, over time.
    pub series: Vec<Point>,
}

impl Statistics {
    /// The latency that a share of the operations, from 0 to 1, stays below: the upper end of its
    /// class, in microseconds. 0 without operations.
    pub fn latency_below_us(&self, share: f64) -> u64 {
        let wanted = (self.operations as f64 * share).ceil() as u64;
        let mut seen = 0;
        let class = self.latency.iter().position(|count| {
            seen += count;
            seen >= wanted.max(1)
        });
        class.map_or(0, |class| 1 << class)
    }

    fn average_latency_us(&self) -> u64 {
        self.latency_sum_us / self.operations.max(1)
    }

    fn average(&self, value: fn(&Point) -> usize) -> f64 {
        let sum: usize = self.series.iter().map(value).sum();
        sum as f64 / self.series.len().max(1) as f64
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.wall_us as f64 / 1e6;
        let per_second = |count: u64| count as f64 / seconds.max(1e-6);
        let ms = |us: u64| us as f64 / 1e3;
        let mb = |bytes: f64| bytes / 1e6;
        writeln!(f, "time            {seconds:.3} s")?;
        writeln!(f, "tasks           {}", self.tasks)?;
        writeln!(
            f,
            "operations      {} ({:.0} a second)",
            self.operations,
            per_second(self.operations)
        )?;
        writeln!(
            f,
            "bytes           {:.1} MB ({:.1} MB a second)",
            mb(self.bytes as f64),
            mb(per_second(self.bytes))
        )?;
        writeln!(
            f,
            "workers         {} at most, {:.1} on average",
            self.in_flight_max,
            self.average(|point| point.workers)
        )?;
        writeln!(
            f,
            "queue           {} at most, {:.1} on average, found empty {} times",
            self.queue_max,
            self.average(|point| point.queue),
            self.queue_empty
        )?;
        writeln!(
            f,
            "latency         {} us on average, half below {} us, 99 % below {} us",
            self.average_latency_us(),
            self.latency_below_us(0.5),
            self.latency_below_us(0.99)
        )?;
        writeln!(f, "processor       {:.1} ms", ms(self.cpu_us))?;
        writeln!(f, "processor queue {:.1} ms", ms(self.run_delay_us))?;
        writeln!(f, "waiting         {:.1} ms", ms(self.wait_us))?;
        match self.peak_memory_bytes {
            Some(bytes) => write!(f, "memory          {:.1} MB at most", mb(bytes as f64)),
            None => write!(f, "memory          unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics() -> Statistics {
        let mut latency = vec![0; 32];
        latency[3] = 90;
        latency[10] = 10;
        let point = |queue, workers| Point {
            at_us: 0,
            queue,
            workers,
        };
        Statistics {
            wall_us: 2_000_000,
            tasks: 20,
            operations: 100,
            bytes: 5_000_000,
            in_flight_max: 8,
            queue_max: 12,
            queue_empty: 3,
            latency_sum_us: 6400,
            latency,
            cpu_us: 1500,
            run_delay_us: 20,
            wait_us: 7_250_000,
            peak_memory_bytes: Some(42_000_000),
            series: vec![point(2, 8), point(1, 5)],
            ..Statistics::default()
        }
    }

    #[test]
    fn people_read_one_subject_a_line() {
        let expected = "\
time            2.000 s
tasks           20
operations      100 (50 a second)
bytes           5.0 MB (2.5 MB a second)
workers         8 at most, 6.5 on average
queue           12 at most, 1.5 on average, found empty 3 times
latency         64 us on average, half below 8 us, 99 % below 1024 us
processor       1.5 ms
processor queue 0.0 ms
waiting         7250.0 ms
memory          42.0 MB at most";
        assert_eq!(statistics().to_string(), expected);
        assert!(Statistics::default().to_string().ends_with("unknown"));
    }

    #[test]
    fn shares_of_latency() {
        assert_eq!(statistics().latency_below_us(0.9), 8);
        assert_eq!(statistics().latency_below_us(0.91), 1024);
        assert_eq!(Statistics::default().latency_below_us(0.5), 0);
    }

    #[test]
    fn machines_read_the_documented_fields() {
        let json = serde_json::to_value(statistics()).unwrap();
        assert_eq!(json["wall_us"], 2_000_000);
        assert_eq!(json["latency"][10], 10);
        assert_eq!(json["series"][1]["workers"], 5);
        assert_eq!(json.as_object().unwrap().len(), 16);
    }
}
