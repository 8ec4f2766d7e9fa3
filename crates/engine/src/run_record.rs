use crate::counters::Counters;
use crate::{Options, Recorder};
use std::sync::Arc;

/// A recorder's data about one run. The recorder sums over several runs, so each run reports only
/// changes, and takes back its share when it ends.
#[derive(Debug)]
pub(crate) struct RunRecord {
    recorder: Arc<Recorder>,
    counters: Arc<Counters>,
    begin_us: u64,
    phase: Option<usize>,
    queue: usize,
    target: usize,
    starving: usize,
}

impl RunRecord {
    /// Starts a run with `queue` tasks waiting; `None` if there is no recorder.
    pub(crate) fn begin(options: &Options, queue: usize, target: usize) -> Option<Self> {
        let recorder = options.recorder.clone()?;
        let mut series = recorder.mark();
        let begin_us = recorder.now_us();
        let phase = series.begin_phase(begin_us, options.name, queue);
        drop(series);
        let mut record = RunRecord {
            counters: recorder.counters(options.name),
            begin_us,
            recorder,
            phase,
            queue: 0,
            target: 0,
            starving: 0,
        };
        record.tell_queue(queue);
        record.tell_target(target);
        Some(record)
    }

    /// Reports the number of tasks waiting.
    pub(crate) fn tell_queue(&mut self, queue: usize) {
        let before = std::mem::replace(&mut self.queue, queue);
        if before != queue {
            self.recorder.change_queue(before, queue);
        }
    }

    /// Reports the number of workers allowed.
    pub(crate) fn tell_target(&mut self, target: usize) {
        let before = std::mem::replace(&mut self.target, target);
        if before != target {
            self.recorder.change_target(before, target);
        }
    }

    /// Reports the number of idle workers.
    pub(crate) fn tell_starving(&mut self, starving: usize) {
        let before = std::mem::replace(&mut self.starving, starving);
        if before != starving {
            self.recorder.change_starving(before, starving);
        }
    }

    /// Reports one idle worker more or less.
    pub(crate) fn count_starving(&mut self, is_starving: bool) {
        let before = self.starving;
        self.tell_starving(if is_starving {
            before + 1
        } else {
            before.saturating_sub(1)
        });
    }
}

impl Drop for RunRecord {
    fn drop(&mut self) {
        let mut series = self.recorder.mark();
        let now_us = self.recorder.now_us();
        if let Some(phase) = self.phase {
            series.end_phase(now_us, phase);
        }
        let wall_us = now_us.saturating_sub(self.begin_us);
        self.counters.add_run(wall_us);
        drop(series);
        self.tell_queue(0);
        self.tell_starving(0);
        self.tell_target(0);
    }
}
