//! Statistics in words, the most important first.

use super::limit::explanation;
use super::scale::{date, duration, grouped, quantity};
use super::timeline::{average, longest_starved, running_us, spans};
use hedgerow_engine::Statistics;
use std::fmt::Write;

/// Maximum number of runs named.
const RUNS: usize = 8;

/// The summary for people, one subject per line, with a newline at the end.
pub fn summary(statistics: &Statistics) -> String {
    let mut text = verdict(statistics) + "\n";
    if statistics.tasks > 0 {
        text = text + &explanation(statistics) + "\n";
    }
    text.push('\n');
    let described = described(statistics).map(|words| ("command", words));
    for (subject, words) in described.into_iter().chain(lines(statistics)) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{subject:<16}{words}");
    }
    text
}

/// What was run, with which version, and when, as far as that is known.
pub fn described(statistics: &Statistics) -> Option<String> {
    let parts = [
        statistics.command.as_deref().map(printable),
        statistics
            .version
            .as_ref()
            .map(|version| format!("hedgerow {}", printable(version))),
        statistics.started_s.map(date),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Whether workers ever ran out of work.
pub fn verdict(statistics: &Statistics) -> String {
    if statistics.tasks == 0 {
        return "Nothing was recorded.".to_owned();
    }
    if statistics.starved_us == 0 {
        return "The queue never ran empty while a worker had nothing to do.".to_owned();
    }
    let running = running_us(statistics).max(statistics.starved_wall_us);
    let share = percent(statistics.starved_wall_us as f64, running as f64);
    let longest = longest_starved(&spans(statistics)).map_or(String::new(), |(begin, end)| {
        format!(
            "; the longest stretch lies between {} and {}",
            duration(begin),
            duration(end)
        )
    });
    format!(
        "The queue ran empty while workers had nothing to do for {} of {} ({share}), {} of \
         worker time{longest}.",
        duration(statistics.starved_wall_us),
        duration(running),
        duration(statistics.starved_us),
    )
}

fn lines(statistics: &Statistics) -> Vec<(&'static str, String)> {
    let spans = spans(statistics);
    let seconds = (statistics.wall_us as f64 / 1e6).max(1e-6);
    let target = spans.iter().map(|span| span.point.target).max();
    let below = |share| duration(statistics.latency_below_us(share));
    let mb = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    vec![
        ("time", duration(statistics.wall_us)),
        ("runs", runs(statistics)),
        ("tasks", grouped(statistics.tasks)),
        (
            "operations",
            format!(
                "{} ({} a second)",
                grouped(statistics.operations),
                grouped((statistics.operations as f64 / seconds) as u64)
            ),
        ),
        (
            "bytes",
            format!(
                "{} ({} a second)",
                mb(statistics.bytes as f64),
                mb(statistics.bytes as f64 / seconds)
            ),
        ),
        (
            "workers",
            format!(
                "{} at most, {:.1} on average, out of at most {}",
                statistics.in_flight_max,
                average(&spans, |point| point.workers),
                target.unwrap_or(0).max(statistics.in_flight_max)
            ),
        ),
        (
            "queue",
            format!(
                "{} at most, {} on average; workers went to sleep {} {}",
                grouped(statistics.queue_max as u64),
                quantity(average(&spans, |point| point.queue)),
                grouped(statistics.queue_empty),
                if statistics.queue_empty == 1 {
                    "time"
                } else {
                    "times"
                }
            ),
        ),
        (
            "latency",
            format!(
                "{} on average; 50 % below {}, 90 % below {}, 99 % below {}",
                duration(statistics.latency_sum_us / statistics.operations.max(1)),
                below(0.5),
                below(0.9),
                below(0.99)
            ),
        ),
        ("worker time", worker_time(statistics)),
        (
            "memory",
            statistics
                .peak_memory_bytes
                .map_or("unknown".to_owned(), |bytes| {
                    format!("{} at most, besides mapped files", mb(bytes as f64))
                }),
        ),
    ]
}

/// What workers did with their time, relative to the time available.
fn worker_time(statistics: &Statistics) -> String {
    let parts = [
        ("on a processor", statistics.cpu_us),
        ("in the queue for one", statistics.run_delay_us),
        ("waiting", statistics.wait_us),
        ("without work", statistics.starved_us),
    ];
    let total: f64 = parts.iter().map(|(_, us)| *us as f64).sum();
    let part = |(words, us): &(&str, u64)| {
        format!("{} {words} ({})", duration(*us), percent(*us as f64, total))
    };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn runs(statistics: &Statistics) -> String {
    let mut text = grouped(statistics.phases.len() as u64);
    for (number, phase) in statistics.phases.iter().take(RUNS).enumerate() {
        let before = if number == 0 { ": " } else { ", " };
        let name = printable(&phase.name);
        let length = duration(phase.end_us.saturating_sub(phase.begin_us));
        let _ = write!(text, "{before}{name} {length}");
    }
    if statistics.phases.len() > RUNS {
        text.push_str(", ...");
    }
    text
}

/// The name without control characters, which could affect a terminal.
pub fn printable(name: &str) -> String {
    name.chars()
        .take(40)
        .map(|character| {
            if character.is_control() {
                '?'
            } else {
                character
            }
        })
        .collect()
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.1} %", 100.0 * part / whole.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_engine::{Phase, Point};

    fn statistics() -> Statistics {
        let mut latency = vec![0; 32];
        latency[3] = 90;
        latency[10] = 10;
        let point = |at_us, queue, workers, starved_us| Point {
            at_us,
            queue,
            queue_min: queue,
            queue_max: queue,
            workers,
            target: 8,
            starved_us,
        };
        Statistics {
            wall_us: 2_000_000,
            tasks: 20,
            operations: 100,
            bytes: 5_000_000,
            in_flight_max: 8,
            queue_max: 1200,
            queue_empty: 3,
            starved_us: 1_500_000,
            starved_wall_us: 450_000,
            latency_sum_us: 6400,
            latency,
            cpu_us: 1_500_000,
            wait_us: 7_000_000,
            peak_memory_bytes: Some(42_000_000),
            phases: vec![Phase {
                name: "check\x1bout".into(),
                begin_us: 100_000,
                end_us: 1_900_000,
            }],
            series: vec![
                point(100_000, 0, 0, 0),
                point(1_400_000, 20, 8, 0),
                point(1_900_000, 0, 5, 1_500_000),
            ],
            ..Statistics::default()
        }
    }

    #[test]
    fn people_read_one_subject_a_line() {
        let expected = "\
The queue ran empty while workers had nothing to do for 450 ms of 1.80 s (25.0 %), 1.50 s of \
worker time; the longest stretch lies between 1.40 s and 1.90 s.
The file system limited the run: workers waited for it, or for one another, for 7.00 s \
(70 % of their time). More calls at a time (-j) or a faster file system would help.

time            2.00 s
runs            1: check?out 1.80 s
tasks           20
operations      100 (50 a second)
bytes           5.0 MB (2.5 MB a second)
workers         8 at most, 6.8 on average, out of at most 8
queue           1,200 at most, 13.7 on average; workers went to sleep 3 times
latency         64 us on average; 50 % below 8 us, 90 % below 8 us, 99 % below 1.02 ms
worker time     1.50 s on a processor (15.0 %), 0 us in the queue for one (0.0 %), 7.00 s waiting \
(70.0 %), 1.50 s without work (15.0 %)
memory          42.0 MB at most, besides mapped files
";
        assert_eq!(summary(&statistics()), expected);
    }

    #[test]
    fn the_first_line_says_whether_work_ran_out() {
        let nothing = summary(&Statistics::default());
        assert!(nothing.starts_with("Nothing was recorded.\n"));
        assert!(nothing.ends_with("unknown\n"));
        let mut busy = statistics();
        busy.starved_us = 0;
        assert!(verdict(&busy).contains("never"));
    }

    #[test]
    fn many_runs_are_not_all_named() {
        let mut many = statistics();
        many.phases = vec![Phase::default(); 1000];
        assert!(runs(&many).starts_with("1,000: "));
        assert!(runs(&many).ends_with(", ..."));
    }
}
