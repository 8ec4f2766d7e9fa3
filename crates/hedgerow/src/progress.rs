//! The progress of a command in words: a line that a person reads while it runs, or in a log.

mod phase;

pub use phase::Phase;

use hedgerow_engine::{Progress, Stage, Steps};
use hedgerow_stats::grouped;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A time left is told from this share of the work on, in percent: before, it would be a guess.
const TOLD_FROM_PERCENT: u64 = 5;

/// When a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Again and again, at the same place of a screen.
    Drawn,
    /// Now and then, below the lines before.
    Logged,
    /// After the work.
    Last,
}

/// Some work that is shown from its start on.
#[derive(Clone, Debug)]
pub struct Shown {
    what: String,
    progress: Arc<Progress>,
    stage: Stage,
    started: Instant,
}

impl Shown {
    /// The work `what`, as in `Updating files`, whose steps are those of `stage`.
    pub fn new(what: &str, progress: &Arc<Progress>, stage: Stage) -> Self {
        progress.watch();
        Shown {
            what: what.to_owned(),
            progress: Arc::clone(progress),
            stage,
            started: Instant::now(),
        }
    }

    /// How many steps of the stage in progress are done, and how many there are; 0 while that is
    /// unknown.
    pub fn share(&self) -> (u64, u64) {
        let reached = reached(&self.progress, self.stage);
        (reached.done, reached.total)
    }

    /// The line about them.
    pub fn line(&self, moment: Moment) -> String {
        let elapsed = self.started.elapsed();
        line(&self.what, &self.progress, self.stage, elapsed, moment)
    }
}

/// How far the stage in progress is.
#[derive(Clone, Copy, Debug)]
struct Reached {
    stage: Stage,
    done: u64,
    total: u64,
    bytes: u64,
}

/// How far `stage` is; after the last of the entries of an image was read, how far its contents are
/// stored. Until all of them are read, too, the sizes of the entries tell how much that is.
fn reached(progress: &Progress, stage: Stage) -> Reached {
    let (own, contents) = (progress.stage(stage), progress.stage(Stage::Contents));
    let total = match contents.total() {
        0 => own.bytes(),
        total => total,
    };
    let is_stored = stage == Stage::Entries && own.is_over() && contents.done() > 0;
    if is_stored && contents.done() < total {
        Reached {
            stage: Stage::Contents,
            done: contents.done(),
            total,
            bytes: 0,
        }
    } else {
        Reached::of(own, stage)
    }
}

impl Reached {
    fn of(steps: &Steps, stage: Stage) -> Self {
        Reached {
            stage,
            done: steps.done(),
            total: steps.total(),
            bytes: steps.bytes(),
        }
    }
}

/// The line about the work `what`, whose steps are those of `stage`, after the time `elapsed`.
///
/// ```
/// use hedgerow::progress::{line, Moment};
/// use hedgerow::{Progress, Stage};
/// use std::time::Duration;
///
/// let progress = Progress::default();
/// progress.stage(Stage::Files).expect(7_005);
/// progress.stage(Stage::Files).step(3_471);
/// let second = Duration::from_secs(1);
/// assert_eq!(
///     line("Updating files", &progress, Stage::Files, second, Moment::Logged),
///     "Updating files: 49% (3,471/7,005), 3,471 files/s, 1 s so far"
/// );
/// ```
pub fn line(
    what: &str,
    progress: &Progress,
    stage: Stage,
    elapsed: Duration,
    moment: Moment,
) -> String {
    let reached = match moment {
        Moment::Last => Reached::of(progress.stage(stage), stage),
        _ => reached(progress, stage),
    };
    let (shown, done, total) = (reached.stage, reached.done, reached.total);
    let mut parts = Vec::new();
    let noun = if shown == Stage::Files {
        "file"
    } else {
        "entry"
    };
    if total > 0 {
        let percent = percent(done, total);
        parts.push(match (shown, moment) {
            (Stage::Contents, _) => {
                format!("{percent}%, {} of {}", decimal(done), decimal(total))
            }
            (_, Moment::Drawn) => format!("{percent:>3}% ({}/{})", grouped(done), grouped(total)),
            _ => format!("{percent}% ({}/{})", grouped(done), grouped(total)),
        });
    } else if done > 0 || moment == Moment::Last {
        let noun = hedgerow_numbers::noun_for(done, noun);
        parts.push(format!("{} {noun}", grouped(done)));
    }
    if reached.bytes > 0 {
        parts.push(decimal(reached.bytes));
    }
    let rate = per_second(done, elapsed);
    if shown == Stage::Contents {
        parts.push(format!("{}/s", decimal(rate)));
    } else if done > 0 {
        let noun = hedgerow_numbers::noun_for(u64::MAX, noun);
        parts.push(format!("{} {noun}/s", grouped(rate)));
    }
    match moment {
        Moment::Last => parts.push(format!("done in {:.1} s", elapsed.as_secs_f64())),
        Moment::Drawn if total > 0 => {
            parts.extend(time_left(done, total, elapsed).map(|left| format!("{left} left")));
        }
        _ => parts.push(format!("{} s so far", elapsed.as_secs())),
    }
    let what = match shown {
        Stage::Contents => &shown.to_string(),
        _ => what,
    };
    format!("{what}: {}", parts.join(", "))
}

fn percent(done: u64, total: u64) -> u64 {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    percent.min(100) as u64
}

fn per_second(done: u64, elapsed: Duration) -> u64 {
    (done as f64 / elapsed.as_secs_f64().max(0.001)) as u64
}

/// Estimated from the average pace, and rounded up; `None` while it would be a guess, and at
/// the end.
fn time_left(done: u64, total: u64, elapsed: Duration) -> Option<String> {
    if percent(done, total) < TOLD_FROM_PERCENT || done >= total {
        return None;
    }
    let rest = total.saturating_sub(done) as f64;
    let seconds = (elapsed.as_secs_f64() * rest / done.max(1) as f64).ceil() as u64;
    Some(match seconds {
        0..=90 => format!("{seconds} s"),
        91..=5400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    })
}

/// A number of bytes with a decimal unit, as in `14.87 MB`.
fn decimal(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    let mut unit = None;
    for name in units {
        // What would be shown as 1000.00 has the next unit.
        if value < 999.995 {
            break;
        }
        value /= 1000.0;
        unit = Some(name);
    }
    match unit {
        None => format!("{bytes} B"),
        Some(unit) => format!("{value:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Duration = Duration::from_secs(10);

    fn entries(done: u64, total: u64, bytes: u64) -> Progress {
        let progress = Progress::default();
        let steps = progress.stage(Stage::Entries);
        steps.step(done);
        steps.expect(total);
        steps.add_bytes(bytes);
        progress
    }

    fn packing(progress: &Progress, moment: Moment) -> String {
        line("Packing", progress, Stage::Entries, TEN, moment)
    }

    #[test]
    fn no_time_left_is_told_before_five_percent() {
        for (done, expected) in [
            (0, "Packing:   0% (0/7,005), 30.23 MB"),
            (350, "Packing:   4% (350/7,005), 30.23 MB, 35 entries/s"),
            (
                351,
                "Packing:   5% (351/7,005), 30.23 MB, 35 entries/s, 4 min left",
            ),
            (
                7_004,
                "Packing:  99% (7,004/7,005), 30.23 MB, 700 entries/s, 1 s left",
            ),
            (
                7_005,
                "Packing: 100% (7,005/7,005), 30.23 MB, 700 entries/s",
            ),
        ] {
            let progress = entries(done, 7_005, 30_230_000);
            assert_eq!(packing(&progress, Moment::Drawn), expected);
        }
    }

    #[test]
    fn a_line_of_a_log_says_it_all() {
        let progress = entries(30_000, 0, 2_000_000);
        assert_eq!(
            packing(&progress, Moment::Logged),
            "Packing: 30,000 entries, 2.00 MB, 3,000 entries/s, 10 s so far"
        );
        assert_eq!(
            packing(&progress, Moment::Last),
            "Packing: 30,000 entries, 2.00 MB, 3,000 entries/s, done in 10.0 s"
        );
        let progress = entries(30_000, 40_000, 2_000_000);
        assert_eq!(
            packing(&progress, Moment::Logged),
            "Packing: 75% (30,000/40,000), 2.00 MB, 3,000 entries/s, 10 s so far"
        );
    }

    #[test]
    fn nothing_done_is_one_sensible_line() {
        let progress = Progress::default();
        let tell = |moment| line("Updating files", &progress, Stage::Files, TEN, moment);
        assert_eq!(
            tell(Moment::Last),
            "Updating files: 0 files, done in 10.0 s"
        );
        assert_eq!(tell(Moment::Logged), "Updating files: 10 s so far");
    }

    #[test]
    fn storing_is_a_stage_once_all_entries_were_read() {
        let progress = entries(40, 0, 20_000_000);
        let contents = progress.stage(Stage::Contents);
        contents.step(5_000_000);
        assert!(packing(&progress, Moment::Logged).starts_with("Packing: 40 entries, "));
        progress.stage(Stage::Entries).end();
        assert_eq!(
            packing(&progress, Moment::Drawn),
            "Compressing and storing: 25%, 5.00 MB of 20.00 MB, 500.00 kB/s, 30 s left"
        );
        // Some contents were there already.
        contents.expect(10_000_000);
        assert_eq!(
            packing(&progress, Moment::Drawn),
            "Compressing and storing: 50%, 5.00 MB of 10.00 MB, 500.00 kB/s, 10 s left"
        );
        contents.step(5_000_000);
        assert_eq!(
            packing(&progress, Moment::Drawn),
            "Packing: 100% (40/40), 20.00 MB, 4 entries/s"
        );
        assert_eq!(
            packing(&progress, Moment::Last),
            "Packing: 100% (40/40), 20.00 MB, 4 entries/s, done in 10.0 s"
        );
    }

    #[test]
    fn units_are_never_too_small() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (999_994, "999.99 kB"),
            (999_996, "1.00 MB"),
            (u64::MAX, "18.45 EB"),
        ] {
            assert_eq!(decimal(bytes), expected);
        }
        let hours = time_left(50, 100, Duration::from_secs(7_500));
        assert_eq!(hours.as_deref(), Some("2 h 5 min"));
    }
}
