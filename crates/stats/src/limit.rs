//! What kept a run from being faster.

use super::scale::duration;
use super::timeline::{average, running_us, spans};
use hedgerow_engine::{StageStatistics, Statistics};

/// From this share of the processors' time on, they were busy.
const BUSY_SHARE: f64 = 0.8;

/// What a run spent most of its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nothing was recorded.
    Unknown,
    /// The processors were busy, or workers queued for them.
    Processor,
    /// Workers computed, but were fewer than the processors.
    Workers,
    /// Workers waited for the file system, or for one another.
    FileSystem,
    /// Workers had nothing to do.
    Starvation,
}

impl Limit {
    /// In one or two words.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Unknown => "unknown",
            Limit::Processor => "processor",
            Limit::Workers => "number of workers",
            Limit::FileSystem => "file system",
            Limit::Starvation => "lack of work",
        }
    }
}

/// What limited the whole: busy processors first, because workers wait for each other then, too.
pub fn limit(statistics: &Statistics) -> Limit {
    let computing = statistics.cpu_us.saturating_add(statistics.run_delay_us);
    let (waiting, idle) = (statistics.wait_us, statistics.starved_us);
    if computing.saturating_add(waiting).saturating_add(idle) == 0 {
        Limit::Unknown
    } else if busy_share(statistics).is_some_and(|share| share >= BUSY_SHARE) {
        Limit::Processor
    } else {
        match largest(computing, waiting, idle) {
            Limit::Processor if leaves_processors(statistics) => Limit::Workers,
            limit => limit,
        }
    }
}

/// Whether there was a processor without a worker for much of the time, and the workers had one
/// whenever they wanted it.
fn leaves_processors(statistics: &Statistics) -> bool {
    let is_asked = statistics
        .jobs
        .is_some_and(|jobs| jobs < statistics.processors);
    let at_work = average(&spans(statistics), |point| point.workers);
    let is_few = is_asked || at_work > 0.0 && at_work + 0.5 < statistics.processors as f64;
    is_few && !is_crowded(statistics)
}

/// Whether workers queued for a processor for a large part of the time that they computed, while
/// most of the processors' time went to somebody else.
fn is_crowded(statistics: &Statistics) -> bool {
    statistics.run_delay_us > statistics.cpu_us / 2
        && busy_share(statistics).is_none_or(|share| share < BUSY_SHARE)
}

/// What limited the runs of one name. Idle time is not known of each.
pub fn stage_limit(stage: &StageStatistics) -> Limit {
    let computing = stage.cpu_us.saturating_add(stage.run_delay_us);
    if computing.saturating_add(stage.wait_us) == 0 {
        Limit::Unknown
    } else {
        largest(computing, stage.wait_us, 0)
    }
}

fn largest(computing: u64, waiting: u64, idle: u64) -> Limit {
    if computing >= waiting && computing >= idle {
        Limit::Processor
    } else if waiting >= idle {
        Limit::FileSystem
    } else {
        Limit::Starvation
    }
}

/// The share of the processors' time that workers used, from 0 to 1, if the processors are known.
fn busy_share(statistics: &Statistics) -> Option<f64> {
    let possible = running_us(statistics) as f64 * statistics.processors as f64;
    (possible > 0.0).then(|| (statistics.cpu_us as f64 / possible).min(1.0))
}

/// A sentence with the figures behind it, and one that says what would help.
pub fn explanation(statistics: &Statistics) -> String {
    let computing = statistics.cpu_us.saturating_add(statistics.run_delay_us);
    let total = computing as f64 + statistics.wait_us as f64 + statistics.starved_us as f64;
    let share = |us: u64| format!("{:.0} %", 100.0 * us as f64 / total.max(1.0));
    let busy = busy_share(statistics).map_or(String::new(), |share| {
        let noun = match statistics.processors {
            1 => "the processor's time".to_owned(),
            count => format!("the time of {count} processors"),
        };
        format!(", {:.0} % of {noun}", 100.0 * share)
    });
    match limit(statistics) {
        Limit::Unknown => "Nothing was recorded that tells what limited the run.".to_owned(),
        Limit::Processor if is_crowded(statistics) => {
            let why = if statistics.in_flight_max <= statistics.processors {
                "Other programs kept the processors busy"
            } else {
                "There were too many workers, or other programs kept the processors busy"
            };
            format!(
                "The processors limited the run: workers computed for {}{busy}, and queued for a \
                 processor for {}. {why}.",
                duration(statistics.cpu_us),
                duration(statistics.run_delay_us)
            )
        }
        Limit::Processor => format!(
            "The processors limited the run: workers computed or queued for a processor for {} \
             ({} of their time){busy}. {}",
            duration(computing),
            share(computing),
            if busy_share(statistics).is_none_or(|share| share >= BUSY_SHARE) {
                "More workers would not help; more processors would."
            } else {
                "More workers would help little; faster processors would."
            }
        ),
        Limit::Workers => format!(
            "The number of workers limited the run: workers computed for {} ({} of their time){busy}. \
             More workers (-j) would help.",
            duration(computing),
            share(computing)
        ),
        Limit::FileSystem => format!(
            "The file system limited the run: workers waited for it, or for one another, for {} \
             ({} of their time). More calls at a time (-j) or a faster file system would help.",
            duration(statistics.wait_us),
            share(statistics.wait_us)
        ),
        Limit::Starvation => format!(
            "A lack of work limited the run: workers had nothing to do for {} ({} of their time). \
             More workers would not help.",
            duration(statistics.starved_us),
            share(statistics.starved_us)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_engine::{Phase, Point};

    fn statistics(cpu_us: u64, wait_us: u64, starved_us: u64) -> Statistics {
        Statistics {
            processors: 2,
            cpu_us,
            wait_us,
            starved_us,
            phases: vec![Phase {
                end_us: 1_000_000,
                ..Phase::default()
            }],
            ..Statistics::default()
        }
    }

    #[test]
    fn the_largest_part_limits() {
        assert_eq!(limit(&Statistics::default()), Limit::Unknown);
        assert_eq!(limit(&statistics(900_000, 500_000, 0)), Limit::Processor);
        assert_eq!(
            limit(&statistics(90_000, 500_000, 400_000)),
            Limit::FileSystem
        );
        assert_eq!(
            limit(&statistics(90_000, 500_000, 600_000)),
            Limit::Starvation
        );
        let most = statistics(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(limit(&most), Limit::Processor);
    }

    #[test]
    fn busy_processors_limit_even_if_many_workers_wait_for_each_other() {
        assert_eq!(
            limit(&statistics(1_700_000, 5_000_000, 0)),
            Limit::Processor
        );
        assert_eq!(
            limit(&statistics(1_500_000, 5_000_000, 0)),
            Limit::FileSystem
        );
    }

    #[test]
    fn a_long_queue_for_processors_is_told() {
        let queued = Statistics {
            run_delay_us: 2_000_000,
            ..statistics(100_000, 0, 0)
        };
        let words = explanation(&queued);
        assert!(
            words.contains("queued for a processor for 2.00 s"),
            "{words}"
        );
        assert!(words.ends_with(" 2.00 s. Other programs kept the processors busy."));
        let more = Statistics {
            in_flight_max: 3,
            ..queued
        };
        assert!(explanation(&more).contains(" There were too many workers, or other "));
        assert!(
            words.contains("computed for 100 ms, 5 % of the time of 2 processors"),
            "{words}"
        );
    }

    #[test]
    fn fewer_workers_than_processors_could_be_more() {
        let one = Statistics {
            jobs: Some(1),
            ..statistics(600_000, 100_000, 0)
        };
        assert_eq!(limit(&one), Limit::Workers);
        assert_eq!(
            explanation(&one),
            "The number of workers limited the run: workers computed for 600 ms (86 % of their \
             time), 30 % of the time of 2 processors. More workers (-j) would help."
        );
        // Two stages with a worker each, of which one is at work at a time.
        let point = Point {
            at_us: 1_000_000,
            workers: 1,
            target: 2,
            ..Point::default()
        };
        let by_turns = Statistics {
            series: vec![point],
            ..statistics(900_000, 500_000, 0)
        };
        assert_eq!(limit(&by_turns), Limit::Workers);
        let both = Statistics {
            series: vec![Point {
                workers: 2,
                ..point
            }],
            ..by_turns
        };
        assert_eq!(limit(&both), Limit::Processor);
        let words = explanation(&both);
        assert!(
            words.ends_with(" More workers would help little; faster processors would."),
            "{words}"
        );
    }

    #[test]
    fn a_busy_machine_is_told_however_few_workers_there_are() {
        let crowded = Statistics {
            jobs: Some(1),
            in_flight_max: 1,
            run_delay_us: 400_000,
            ..statistics(600_000, 0, 0)
        };
        assert_eq!(limit(&crowded), Limit::Processor);
        let words = explanation(&crowded);
        assert!(
            words.ends_with(" 400 ms. Other programs kept the processors busy."),
            "{words}"
        );
    }

    #[test]
    fn the_figures_are_named() {
        let words = explanation(&statistics(1_700_000, 300_000, 0));
        assert_eq!(
            words,
            "The processors limited the run: workers computed or queued for a processor for \
             1.70 s (85 % of their time), 85 % of the time of 2 processors. More workers would \
             not help; more processors would."
        );
    }
}
