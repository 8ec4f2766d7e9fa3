use crate::series::{Phase, Point};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// The name and version of the JSON schema of [`Statistics`].
pub const STATISTICS_SCHEMA: &str = "hedgerow.stats.v1";

/// The counts of a [`Recorder`](crate::Recorder), summed over all workers and runs.
///
/// As JSON, an object with exactly these fields; later versions of the same schema may add fields
/// but never remove any. Times are in microseconds. When read, unknown fields are ignored and
/// missing fields are 0 or empty; lists have a length limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statistics {
    /// [`STATISTICS_SCHEMA`].
    pub schema: Schema,
    /// Time since the recorder was created.
    pub wall_us: u64,
    /// Number of tasks, or items, started.
    pub tasks: u64,
    /// Number of operations reported by tasks: in most runs, one per file.
    pub operations: u64,
    /// Number of bytes reported by tasks.
    pub bytes: u64,
    /// Number of tasks running now.
    pub in_flight: usize,
    /// Largest number of tasks running at the same time.
    pub in_flight_max: usize,
    /// Largest number of tasks waiting.
    pub queue_max: usize,
    /// How often a worker found nothing to do and went to sleep.
    pub queue_empty: u64,
    /// Idle time of workers while their run was in progress, summed over the workers: no task
    /// waited, and fewer workers than allowed were at work, whether the others slept or were never
    /// started. In an ordered run, time of workers waiting for the source.
    pub starved_us: u64,
    /// Time during which at least one worker was idle.
    pub starved_wall_us: u64,
    /// The sum of the durations of operations.
    pub latency_sum_us: u64,
    /// Number of operations by duration: element 0 counts those below 1 us, element `n` those from
    /// `2^(n-1)` to below `2^n` us, the last one all above. At most 64 elements.
    #[serde(deserialize_with = "at_most::<64, _, _>")]
    pub latency: Vec<u64>,
    /// CPU time of workers.
    pub cpu_us: u64,
    /// Time of workers in the run queue; 0 if the kernel does not report it.
    pub run_delay_us: u64,
    /// Time of workers at work but waiting, for the file system or for one another. The real value
    /// is somewhat larger if a worker was in the run queue while it was idle.
    pub wait_us: u64,
    /// Peak memory use of the process, without mapped files, in bytes; `null` if unknown.
    pub peak_memory_bytes: Option<u64>,
    /// The usual time between two points of the series.
    pub interval_us: u64,
    /// The runs, in the order in which they started; only the first 256. At most 4096 elements.
    #[serde(deserialize_with = "at_most::<4096, _, _>")]
    pub phases: Vec<Phase>,
    /// Tasks waiting and workers at work over time, the earliest point first. At most 65536
    /// elements.
    #[serde(deserialize_with = "at_most::<65536, _, _>")]
    pub series: Vec<Point>,
    /// Number of processors that the process may use; 0 if the file is older than this field.
    pub processors: usize,
    /// The counts of the runs of each name, in the order in which the first of each started. At
    /// most 256 elements; none if the file is older than this field.
    #[serde(deserialize_with = "at_most::<256, _, _>")]
    pub stages: Vec<StageStatistics>,
    /// What was run, such as `image create`; `null` if whoever recorded it did not say.
    pub command: Option<String>,
    /// The version of hedgerow that recorded it; `null` if the file is older than this field.
    pub version: Option<String>,
    /// When the recorder was created, in seconds since 1970; `null` if unknown.
    pub started_s: Option<u64>,
    /// The number of workers that was asked for; `null` if it was chosen automatically.
    pub jobs: Option<usize>,
}

/// The counts of all runs of one name. In JSON, a missing field is 0 or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageStatistics {
    /// [`Options::name`](crate::Options::name) of the runs.
    pub name: String,
    /// Number of runs that ended.
    pub runs: u64,
    /// The sum of their durations.
    pub wall_us: u64,
    /// Number of tasks, or items, started.
    pub tasks: u64,
    /// Number of operations.
    pub operations: u64,
    /// Number of bytes reported by tasks.
    pub bytes: u64,
    /// The sum of the durations of operations.
    pub latency_sum_us: u64,
    /// CPU time of the workers.
    pub cpu_us: u64,
    /// Time of the workers in the run queue.
    pub run_delay_us: u64,
    /// Time of the workers at work but waiting.
    pub wait_us: u64,
}

/// The schema named in statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema(pub String);

impl Default for Schema {
    fn default() -> Self {
        Schema(STATISTICS_SCHEMA.to_owned())
    }
}

impl Statistics {
    /// The latency that the given share of the operations, from 0 to 1, stays below: the upper end
    /// of its class, in microseconds. 0 without operations.
    pub fn latency_below_us(&self, share: f64) -> u64 {
        let wanted = (self.operations as f64 * share).ceil() as u64;
        let mut seen = 0_u64;
        let class = self.latency.iter().position(|count| {
            seen = seen.saturating_add(*count);
            seen >= wanted.max(1)
        });
        let upper = |class| 1_u64.checked_shl(class as u32).unwrap_or(u64::MAX);
        class.map_or(0, upper)
    }
}

/// Deserializes an untrusted list; one longer than `LIMIT` is refused.
fn at_most<'de, const LIMIT: usize, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Bounded::<LIMIT, T>(PhantomData))
}

struct Bounded<const LIMIT: usize, T>(PhantomData<T>);

impl<'de, const LIMIT: usize, T: Deserialize<'de>> Visitor<'de> for Bounded<LIMIT, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {LIMIT}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == LIMIT {
                return Err(A::Error::invalid_length(LIMIT + 1, &self));
            }
            items.push(item);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics() -> Statistics {
        let mut latency = vec![0; 32];
        latency[3] = 90;
        latency[10] = 10;
        let point = |at_us, queue, workers| Point {
            at_us,
            queue,
            queue_min: 1,
            queue_max: 7,
            workers,
            target: 8,
            starved_us: 20,
        };
        let phase = Phase {
            name: "checkout".into(),
            begin_us: 5,
            end_us: 2000,
        };
        Statistics {
            wall_us: 2_000_000,
            operations: 100,
            starved_us: 40,
            latency,
            peak_memory_bytes: Some(42_000_000),
            phases: vec![phase],
            stages: vec![StageStatistics {
                name: "checkout".into(),
                bytes: 12,
                ..StageStatistics::default()
            }],
            series: vec![point(5, 2, 8), point(1005, 1, 5)],
            ..Statistics::default()
        }
    }

    #[test]
    fn shares_of_latency() {
        assert_eq!(statistics().latency_below_us(0.9), 8);
        assert_eq!(statistics().latency_below_us(0.91), 1024);
        assert_eq!(Statistics::default().latency_below_us(0.5), 0);
        let huge = Statistics {
            operations: u64::MAX,
            latency: vec![u64::MAX; 64],
            ..Statistics::default()
        };
        assert_eq!(huge.latency_below_us(0.5), 1);
    }

    #[test]
    fn machines_read_the_documented_fields() {
        let json = serde_json::to_value(statistics()).unwrap();
        assert_eq!(json["schema"], "hedgerow.stats.v1");
        assert_eq!(json["wall_us"], 2_000_000);
        assert_eq!(json["latency"][10], 10);
        assert_eq!(json["series"][1]["workers"], 5);
        assert_eq!(json["series"][1]["queue_min"], 1);
        assert_eq!(json["phases"][0]["name"], "checkout");
        assert_eq!(json["stages"][0]["bytes"], 12);
        assert_eq!(json.as_object().unwrap().len(), 26);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let json = serde_json::to_string(&statistics()).unwrap();
        let read: Statistics = serde_json::from_str(&json).unwrap();
        assert_eq!(read, statistics());
    }

    #[test]
    fn other_versions_of_the_schema_are_read() {
        let read: Statistics =
            serde_json::from_str(r#"{"tasks": 3, "novelty": [{}], "series": [{"at_us": 4}]}"#)
                .unwrap();
        assert_eq!((read.tasks, read.bytes), (3, 0));
        let point = Point {
            at_us: 4,
            ..Point::default()
        };
        assert_eq!(read.series, [point]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |json: &str| serde_json::from_str::<Statistics>(json).unwrap_err();
        let endless = format!(r#"{{"latency": [{}0]}}"#, "0,".repeat(64));
        assert!(refused(&endless).to_string().contains("at most 64"));
        let endless = format!(r#"{{"series": [{}{{}}]}}"#, "{},".repeat(65_536));
        assert!(refused(&endless).to_string().contains("at most 65536"));
        for json in [
            r#"{"tasks": -1}"#,
            r#"{"tasks": 1e99}"#,
            r#"{"series": 7}"#,
            r#"{"series": [{"queue": "x"}]}"#,
            r#"{"schema": 4}"#,
            "",
        ] {
            refused(json);
        }
    }
}
