//! Showing how far a checkout is: after one second, on a terminal or if asked.

use crate::arguments::Global;
use hedgerow_git::checkout::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

const DELAY: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);
const TEMPLATE: &str =
    "Updating files: {percent:>3}% ({pos}/{len}), {msg}, {per_sec}, {eta} left {wide_bar}";

/// A thread that shows progress until this is dropped.
pub struct Meter {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    pub fn start(global: &Global, progress: &Arc<Progress>) -> Meter {
        let wanted = global.progress || std::io::stderr().is_terminal();
        if !wanted || global.no_progress || global.quiet {
            return Meter {
                stop: None,
                thread: None,
            };
        }
        let (stop, stopped) = channel::<()>();
        let progress = progress.clone();
        let thread = std::thread::spawn(move || {
            if stopped.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = bar(&progress);
            loop {
                bar.set_length(progress.files_total());
                bar.set_position(progress.files());
                bar.set_message(indicatif::DecimalBytes(progress.bytes()).to_string());
                if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    bar.finish_and_clear();
                    return;
                }
            }
        });
        Meter {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

fn bar(progress: &Progress) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(Some(progress.files_total()), target);
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A meter that failed has nothing to tell.
            let _ = thread.join();
        }
    }
}
