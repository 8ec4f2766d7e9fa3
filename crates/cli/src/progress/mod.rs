//! Progress on a terminal or on request: in git's format (`lines`), or after one second as a bar, or as
//! a line now and then where nobody redraws a bar, as in the log of a build.

pub mod lines;

use self::lines::{Lines, Phase, Showing};
use crate::as_git;
use crate::global::Global;
use hedgerow::numbers::counted;
use hedgerow::{Progress, Stage, Steps};
use indicatif::{
    DecimalBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState,
    ProgressStyle,
};
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const DELAY: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);
/// Between two lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
const WITH_TOTAL: &str = "{percent:>3}% ({pos}/{len}), {msg}, {rate}, {left} left {wide_bar}";
const WITHOUT_TOTAL: &str = "{pos} entries, {msg}, {rate}, {elapsed} so far";

/// A thread that shows progress until this is dropped.
#[derive(Default)]
pub struct Meter {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Git's form of it.
    lines: Option<Lines>,
}

impl Meter {
    /// `what` describes the work, as in `Updating files`.
    pub fn start(global: &Global, what: &str, progress: &Arc<Progress>, stage: Stage) -> Meter {
        if !is_wanted(global) {
            return Meter::default();
        }
        if as_git::is_active() {
            return Meter::of_git(global, what, progress, stage);
        }
        let (stop, stopped) = channel::<()>();
        let progress = progress.clone();
        let what = what.to_owned();
        let show = move || {
            let started = Instant::now();
            let is_terminal = std::io::stderr().is_terminal();
            let steps = progress.stage(stage);
            let is_short = stopped.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout);
            match (is_terminal, is_short) {
                (true, true) => {}
                (true, false) => draw(&what, steps, &stopped),
                (false, true) => tell(&what, steps, started.elapsed(), true),
                (false, false) => log(&what, steps, started, &stopped),
            }
        };
        Meter {
            stop: Some(stop),
            // If no thread can be started, nothing is shown.
            thread: hedgerow_fs::threads::start("progress", show).ok(),
            lines: None,
        }
    }

    /// The same where git does not show the progress of this work at all.
    pub fn of_our_own(
        global: &Global,
        what: &str,
        progress: &Arc<Progress>,
        stage: Stage,
    ) -> Meter {
        if as_git::is_active() {
            return Meter::default();
        }
        Meter::start(global, what, progress, stage)
    }

    fn of_git(global: &Global, what: &str, progress: &Arc<Progress>, stage: Stage) -> Meter {
        let (title, progress) = (what.to_owned(), Arc::clone(progress));
        let phases = move || {
            let steps = progress.stage(stage);
            vec![Phase {
                title: title.clone().into(),
                done: steps.done(),
                total: Some(steps.total()),
                ..Phase::default()
            }]
        };
        Meter {
            stop: None,
            thread: None,
            lines: Some(Lines::start(Showing::delayed(global), phases)),
        }
    }
}

/// Whether the user wants to see progress.
pub fn is_wanted(global: &Global) -> bool {
    let is_watched = global.progress || std::io::stderr().is_terminal();
    is_watched && !global.no_progress && !global.quiet
}

/// Draws a bar until `stopped`.
fn draw(what: &str, steps: &Steps, stopped: &Receiver<()>) {
    let total = || Some(steps.total()).filter(|total| *total > 0);
    let bar = bar(what, total());
    loop {
        bar.set_message(DecimalBytes(steps.bytes()).to_string());
        if let Some(total) = total() {
            bar.set_length(total);
        }
        bar.set_position(steps.done());
        if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
            bar.finish_and_clear();
            return;
        }
    }
}

/// Writes a line at once and every ten seconds, until `stopped`, and then a last one.
fn log(what: &str, steps: &Steps, started: Instant, stopped: &Receiver<()>) {
    let mut goes_on = true;
    while goes_on {
        tell(what, steps, started.elapsed(), false);
        goes_on = stopped.recv_timeout(LOG_INTERVAL) == Err(RecvTimeoutError::Timeout);
    }
    tell(what, steps, started.elapsed(), true);
}

fn tell(what: &str, steps: &Steps, elapsed: Duration, is_last: bool) {
    let line = line(what, steps, elapsed, is_last);
    // A failure of standard error cannot be reported.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

fn line(what: &str, steps: &Steps, elapsed: Duration, is_last: bool) -> String {
    let (done, total) = (steps.done(), steps.total());
    let amount = match (done * 100).checked_div(total) {
        Some(percent) => format!("{percent}% ({done}/{total})"),
        None => counted(done, "entry"),
    };
    let bytes = DecimalBytes(steps.bytes());
    let rate = HumanCount(per_second(done, elapsed));
    let time = if is_last {
        format!("done in {:.1} s", elapsed.as_secs_f64())
    } else {
        format!("{} s so far", elapsed.as_secs())
    };
    format!("{what}: {amount}, {bytes}, {rate}/s, {time}\n")
}

fn bar(what: &str, total: Option<u64>) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(total, target);
    if let Ok(style) = ProgressStyle::with_template(&template(what, total)) {
        let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let rate = per_second(state.pos(), state.elapsed());
            // A line that cannot be formatted is not reported.
            let _ = write!(out, "{}/s", HumanCount(rate));
        };
        let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let total = state.len().unwrap_or_default();
            let left = time_left(state.pos(), total, state.elapsed());
            let _ = write!(out, "{}", HumanDuration(left));
        };
        bar.set_style(style.with_key("rate", rate).with_key("left", left));
    }
    // The work done by now took that long.
    bar.with_elapsed(DELAY)
}

fn per_second(done: u64, elapsed: Duration) -> u64 {
    (done as f64 / elapsed.as_secs_f64().max(0.001)) as u64
}

/// Estimated from the average pace, in whole seconds: zero only if all is done.
fn time_left(done: u64, total: u64, elapsed: Duration) -> Duration {
    let rest = total.saturating_sub(done) as f64;
    let seconds = elapsed.as_secs_f64() * rest / done.max(1) as f64;
    Duration::from_secs(seconds.ceil() as u64)
}

fn template(what: &str, total: Option<u64>) -> String {
    let amounts = match total {
        Some(_) => WITH_TOTAL,
        None => WITHOUT_TOTAL,
    };
    format!("{what}: {amounts}")
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(lines) = self.lines.take() {
            lines.finish();
        }
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A failed meter has nothing more to show.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{line, per_second, template, time_left};
    use hedgerow::{Progress, Stage};
    use indicatif::ProgressStyle;
    use std::time::Duration;

    #[test]
    fn the_pace_is_that_of_the_whole_time() {
        let elapsed = Duration::from_millis(1500);
        assert_eq!(per_second(3000, elapsed), 2000);
        assert_eq!(time_left(24, 100, elapsed), Duration::from_secs(5));
        assert_eq!(time_left(99_999, 100_000, elapsed), Duration::from_secs(1));
        assert_eq!(time_left(100, 100, elapsed), Duration::ZERO);
        assert_eq!(per_second(0, Duration::ZERO), 0);
    }

    #[test]
    fn there_is_a_form_with_and_without_a_total() {
        for total in [None, Some(7)] {
            let template = template("Packing", total);
            assert!(template.starts_with("Packing: {"));
            assert!(
                ProgressStyle::with_template(&template).is_ok(),
                "{template}"
            );
        }
    }

    #[test]
    fn a_line_of_a_log_says_it_all() {
        let progress = Progress::default();
        let steps = progress.stage(Stage::Files);
        steps.step(30);
        steps.add_bytes(2_000_000);
        let elapsed = Duration::from_secs(10);
        let expected = "Packing: 30 entries, 2.00 MB, 3/s, 10 s so far\n";
        assert_eq!(line("Packing", steps, elapsed, false), expected);
        let expected = "Packing: 30 entries, 2.00 MB, 3/s, done in 10.0 s\n";
        assert_eq!(line("Packing", steps, elapsed, true), expected);
        steps.expect(40);
        let expected = "Packing: 75% (30/40), 2.00 MB, 3/s, 10 s so far\n";
        assert_eq!(line("Packing", steps, elapsed, false), expected);
    }
}
