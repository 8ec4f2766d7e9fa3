//! Progress on a terminal or on request: in git's format (`lines`), or after one second as a bar, or as
//! a line now and then where nobody redraws a bar, as in the log of a build.

pub mod lines;

use self::lines::{Lines, Phase, Showing};
use crate::as_git;
use crate::global::Global;
use hedgerow::progress::{Moment, Shown};
use hedgerow::{Progress, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

const DELAY: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);
/// Between two lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
const WITH_TOTAL: &str = "{line} {wide_bar}";
const WITHOUT_TOTAL: &str = "{line}";

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
        let shown = Shown::new(what, progress, stage);
        let is_asked = global.progress;
        let show = move || {
            let is_terminal = std::io::stderr().is_terminal();
            match stopped.recv_timeout(DELAY) {
                Err(RecvTimeoutError::Timeout) if is_terminal => draw(&shown, &stopped),
                Err(RecvTimeoutError::Timeout) => log(&shown, &stopped),
                _ => {}
            }
            if is_asked {
                tell(&shown, Moment::Last);
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
    is_watched && !global.no_progress && !global.quiet && !global.json
}

/// Draws a bar until `stopped`.
fn draw(shown: &Shown, stopped: &Receiver<()>) {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(None, target);
    let mut template = "";
    loop {
        let (done, total) = shown.share();
        let wanted = if total > 0 { WITH_TOTAL } else { WITHOUT_TOTAL };
        if std::mem::replace(&mut template, wanted) != wanted {
            bar.set_style(style(shown.clone(), template));
        }
        // One update, so that all that is drawn belongs to one moment.
        bar.update(|state| {
            state.set_len(total);
            state.set_pos(done);
        });
        if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
            return bar.finish_and_clear();
        }
    }
}

fn style(shown: Shown, template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("both templates are tested");
    let line = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        // A line that cannot be formatted is not reported.
        let _ = out.write_str(&shown.line(Moment::Drawn));
    };
    style.with_key("line", line)
}

/// Writes a line at once and every ten seconds, until `stopped`.
fn log(shown: &Shown, stopped: &Receiver<()>) {
    let mut goes_on = true;
    while goes_on {
        tell(shown, Moment::Logged);
        goes_on = stopped.recv_timeout(LOG_INTERVAL) == Err(RecvTimeoutError::Timeout);
    }
}

fn tell(shown: &Shown, moment: Moment) {
    // A failure of standard error cannot be reported.
    let _ = writeln!(std::io::stderr().lock(), "{}", shown.line(moment));
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
    use super::{ProgressStyle, WITHOUT_TOTAL, WITH_TOTAL};

    #[test]
    fn both_forms_are_templates() {
        for template in [WITH_TOTAL, WITHOUT_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
