//! Progress, as a line on standard error or as numbers on standard output.

use crate::applets::console::Console;
use crate::global::Global;
use crate::progress::Meter;
use clap::{Args, Parser};
use hedgerow::{Progress, Stage};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub struct ProgressOptions {
    /// Show progress
    #[arg(long, overrides_with = "no_progress")]
    progress: bool,
    /// Do not show progress, which is the default
    #[arg(long)]
    no_progress: bool,
    /// Print the progress as a percentage, for 'dialog --gauge'
    #[arg(long)]
    percentage: bool,
}

/// The options of progress as other commands have them.
#[derive(Debug, Parser)]
struct Shared {
    #[command(flatten)]
    global: Global,
}

/// Shows progress until it is finished.
pub struct Shown {
    _meter: Option<Meter>,
    percentage: Option<(Sender<()>, JoinHandle<()>)>,
    console: Console,
}

impl ProgressOptions {
    /// Starts to show progress, if that is wanted. `what` describes the work.
    pub fn start(&self, what: &str, progress: &Arc<Progress>, console: Console) -> Shown {
        let meter = self.progress.then(|| {
            let global = Shared::parse_from(["", "--progress"]);
            Meter::start(&global.global, what, progress, Stage::Entries)
        });
        Shown {
            _meter: meter,
            percentage: if self.percentage && !self.no_progress {
                percentage(progress, console)
            } else {
                None
            },
            console,
        }
    }
}

/// Prints each new percentage. Without a thread, only the last one is printed.
fn percentage(progress: &Arc<Progress>, console: Console) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = channel::<()>();
    let progress = Arc::clone(progress);
    let show = move || {
        let mut last = None;
        loop {
            let steps = progress.stage(Stage::Entries);
            // Before the number of entries is known, nothing is done.
            let percent = (steps.done() * 100)
                .checked_div(steps.total())
                .unwrap_or(0)
                .min(99);
            if last != Some(percent) {
                console.say(percent);
                last = Some(percent);
            }
            if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    };
    let thread = hedgerow_fs::threads::start("progress", show).ok()?;
    Some((stop, thread))
}

impl Shown {
    /// Ends the display.
    pub fn finish(mut self, is_done: bool) {
        if let Some((stop, thread)) = self.percentage.take() {
            drop(stop);
            // A panic of the thread has been recorded.
            let _ = thread.join();
            if is_done {
                self.console.say(100);
            }
        }
    }
}
