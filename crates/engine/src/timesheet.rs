use crate::recorder::StageRecorder;
use hedgerow_fs::thread_time::{ThreadId, ThreadMeter, ThreadTime};
use std::time::{Duration, Instant};

/// Measures the times of the calling thread from its start to its end.
pub(crate) struct Timesheet<'a> {
    recorder: &'a StageRecorder,
    worker: usize,
    meter: ThreadMeter,
    started: Instant,
    before: ThreadTime,
}

impl<'a> Timesheet<'a> {
    pub(crate) fn begin(recorder: &'a StageRecorder, worker: usize) -> Self {
        let meter = ThreadMeter::new(ThreadId::current());
        Timesheet {
            recorder,
            worker,
            started: Instant::now(),
            before: meter.read().unwrap_or_default(),
            meter,
        }
    }

    /// Adds the times since the start; `idle` is the part in which the worker was idle.
    pub(crate) fn end(self, idle: Duration) {
        let now = self.meter.read().unwrap_or(self.before);
        let cpu = now.cpu.saturating_sub(self.before.cpu);
        let delay = |time: ThreadTime| time.schedule.unwrap_or_default().delay;
        let run_delay = delay(now).saturating_sub(delay(self.before));
        let busy = self.started.elapsed().saturating_sub(idle);
        let wait = busy.saturating_sub(cpu + run_delay);
        self.recorder.add_times(self.worker, cpu, run_delay, wait);
    }
}
