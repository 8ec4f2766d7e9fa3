//! Progress as git shows it: a line for each phase, rewritten until it ends with "done".

use super::is_wanted;
use crate::environment;
use crate::global::Global;
pub use hedgerow::progress::Phase;
use hedgerow_fs::threads::start;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(250);
/// Delay before progress of usually short phases is shown, in seconds.
const DELAY_SECONDS: u64 = 2;

/// When progress is shown.
#[derive(Clone, Copy, Debug)]
pub enum Showing {
    No,
    /// From the start.
    AtOnce,
    /// After `GIT_PROGRESS_DELAY` seconds, two by default.
    Delayed,
}

impl Showing {
    /// At once, if the user wants progress at all.
    pub fn at_once(global: &Global) -> Self {
        if is_wanted(global) {
            Showing::AtOnce
        } else {
            Showing::No
        }
    }

    /// Delayed, if the user wants progress at all.
    pub fn delayed(global: &Global) -> Self {
        if is_wanted(global) {
            Showing::Delayed
        } else {
            Showing::No
        }
    }
}

/// A thread that shows phases, one after the other, until this is finished or dropped.
#[derive(Default)]
pub struct Lines {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    /// `phases` returns the current state, always of the same phases.
    pub fn start(showing: Showing, phases: impl Fn() -> Vec<Phase> + Send + 'static) -> Lines {
        let delay = match showing {
            Showing::No => return Lines::default(),
            Showing::AtOnce => Duration::ZERO,
            Showing::Delayed => usual_delay(),
        };
        let (stop, stopped) = channel();
        Lines {
            stop: Some(stop),
            // If no thread can be started, nothing is shown.
            thread: start("progress", move || show(&phases, delay, &stopped)).ok(),
        }
    }

    /// The work is complete: shows the final lines.
    pub fn finish(mut self) {
        if let Some(stop) = self.stop.take() {
            // A failed thread has nothing more to show.
            let _ = stop.send(());
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Does `work`, shown as a phase of one step.
pub fn during<T, E>(
    showing: Showing,
    title: &'static str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let done = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&done);
    let lines = Lines::start(showing, move || {
        vec![Phase {
            title: title.into(),
            done: shown.load(Ordering::Relaxed),
            total: Some(1),
            ..Phase::default()
        }]
    });
    let outcome = work()?;
    done.store(1, Ordering::Relaxed);
    lines.finish();
    Ok(outcome)
}

fn usual_delay() -> Duration {
    let asked = environment::variable("GIT_PROGRESS_DELAY");
    let asked = asked.and_then(|text| text.to_str()?.parse().ok());
    Duration::from_secs(asked.unwrap_or(DELAY_SECONDS))
}

fn show(phases: &dyn Fn() -> Vec<Phase>, delay: Duration, stopped: &Receiver<()>) {
    let mut screen = Screen {
        over: 0,
        start: Instant::now(),
    };
    match stopped.recv_timeout(delay) {
        Err(RecvTimeoutError::Timeout) => {}
        Ok(()) if delay.is_zero() => return screen.show(&phases(), true),
        _ => return,
    }
    loop {
        screen.show(&phases(), false);
        match stopped.recv_timeout(INTERVAL) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) => return screen.show(&phases(), true),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Screen {
    /// The number of phases whose last line was printed.
    over: usize,
    /// Start time of the first of the other phases.
    start: Instant,
}

impl Screen {
    /// Shows the phases without a last line, up to the first that has not ended.
    fn show(&mut self, phases: &[Phase], is_end: bool) {
        let mut text = String::new();
        for phase in phases.iter().skip(self.over) {
            let is_over = phase.is_over || is_end;
            let is_begun = phase.done > 0 || !is_over && phase.total.is_some_and(|total| total > 0);
            if is_begun {
                text += &phase.line(self.start.elapsed(), is_over);
            }
            if !is_over {
                break;
            }
            self.over += 1;
            self.start = Instant::now();
        }
        // If standard error is gone, there is nowhere left to report it.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}
