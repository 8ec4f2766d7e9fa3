use super::decide::{decide, Sample, State};
use super::Alarm;
use crate::slot::{nanoseconds_since, Slot};
use crate::{Level, Options};
use crossbeam_utils::CachePadded;
use hedgerow_fs::thread_time::{ThreadId, ThreadMeter, ThreadTime};
use std::time::{Duration, Instant};

/// A worker whose unexplained time is less than this share of its time is not examined closely.
const EXPLAINED_SHARE: f64 = 0.1;
/// Number of workers examined per window; the others follow in the next windows.
const WORKERS_A_WINDOW: usize = 16;

/// A run whose number of workers can change.
pub(crate) trait Watched {
    /// The slots of its workers; those without a thread are not occupied.
    fn slots(&self) -> &[CachePadded<Slot>];
    /// When the run started.
    fn epoch(&self) -> Instant;
    /// The number of workers allowed.
    fn target(&self) -> usize;
    /// Whether more tasks wait than may be taken.
    fn has_backlog(&self) -> bool;
    /// Sets the number of workers allowed.
    fn set_target(&self, target: usize);
}

/// Adapts the number of workers of a run until the alarm rings.
pub(crate) fn watch(run: &impl Watched, alarm: &Alarm, options: &Options) {
    let processors = hedgerow_fs::cpu::available();
    let mut state = State::new(run.target(), processors, run.slots().len());
    let mut gauges = Gauges::default();
    while !alarm.wait(state.window()) {
        let sample = gauges.sample(run);
        let next = decide(&sample, state);
        if next.target != state.target {
            options.log.tell(Level::Debug, || {
                let (name, before) = (options.name, state.target);
                let (cpu, wait_s) = (sample.cpu.as_secs_f64(), sample.wait_s);
                format!(
                    "run '{name}' now has {} workers instead of {before}: measured {:.1} ms on \
                     processors, {:.1} ms waiting",
                    next.target,
                    cpu * 1e3,
                    wait_s * 1e3
                )
            });
            run.set_target(next.target);
        }
        state = next;
    }
}

/// Measurements of each worker.
#[derive(Default)]
struct Gauges {
    gauges: Vec<Gauge>,
    turn: usize,
}

struct Gauge {
    meter: ThreadMeter,
    before: Reading,
    /// Seconds at work that are neither on a processor nor, so far, known to be in the run queue.
    unexplained_s: f64,
    /// How often the worker had been given a processor when this time began.
    turns: u64,
}

/// Total times of a worker up to a moment.
#[derive(Clone, Copy, Default)]
struct Reading {
    at_ns: u64,
    idle_ns: u64,
    time: ThreadTime,
}

impl Gauges {
    fn sample(&mut self, run: &impl Watched) -> Sample {
        self.admit(run);
        let mut sample = Sample {
            knows_delay: true,
            queued: run.has_backlog(),
            ..Sample::default()
        };
        let slots = run.slots();
        for _ in 0..self.gauges.len().min(WORKERS_A_WINDOW) {
            self.turn = (self.turn + 1) % self.gauges.len();
            self.gauges[self.turn].add_to(&mut sample, &slots[self.turn], run.epoch());
        }
        sample
    }

    /// Starts to measure new workers. Threads occupy their slots in any order; one whose
    /// predecessor is late has to wait.
    fn admit(&mut self, run: &impl Watched) {
        for slot in &run.slots()[self.gauges.len()..] {
            let Some((thread, started_ns)) = slot.occupant() else {
                break;
            };
            let meter = ThreadMeter::new(ThreadId::from_raw(thread));
            let mut before = Reading {
                at_ns: started_ns,
                ..Reading::default()
            };
            if self.gauges.is_empty() {
                // The calling thread is older than the run.
                before = Reading::of(&meter, slot, run.epoch()).unwrap_or(before);
            }
            self.gauges.push(Gauge {
                meter,
                before,
                unexplained_s: 0.0,
                turns: before.time.schedule.unwrap_or_default().turns,
            });
        }
    }
}

impl Gauge {
    fn add_to(&mut self, sample: &mut Sample, slot: &Slot, epoch: Instant) {
        let Some(now) = Reading::of(&self.meter, slot, epoch) else {
            return;
        };
        let before = std::mem::replace(&mut self.before, now);
        let delay = |reading: &Reading| reading.time.schedule.unwrap_or_default().delay;
        let delay = delay(&now).saturating_sub(delay(&before)).as_secs_f64();
        let cpu = now.time.cpu.saturating_sub(before.time.cpu);
        let busy = now.busy_since(&before).as_secs_f64();
        self.unexplained_s += busy - cpu.as_secs_f64() - delay;
        sample.cpu += cpu;
        sample.knows_delay &= now.time.schedule.is_some();
        if self.unexplained_s > busy * EXPLAINED_SHARE && !self.knows_wait(&now) {
            sample.unknown_s += self.unexplained_s;
            if now.time.schedule.is_none() {
                self.unexplained_s = 0.0;
            }
            return;
        }
        self.turns = now.time.schedule.unwrap_or_default().turns;
        sample.wait_s += std::mem::take(&mut self.unexplained_s);
    }

    /// Whether unexplained time was spent waiting for something other than a processor.
    ///
    /// If the worker has not run since, that is decided when it runs again: it may wait for a lock
    /// whose owner has no processor. And while it is runnable, it may be in the run queue; the
    /// kernel reports that time only once the worker runs.
    fn knows_wait(&self, now: &Reading) -> bool {
        let has_run = now
            .time
            .schedule
            .is_none_or(|schedule| schedule.turns != self.turns);
        has_run && self.meter.is_runnable() != Some(true)
    }
}

impl Reading {
    /// Time at work since `before`.
    fn busy_since(&self, before: &Reading) -> Duration {
        let idle_ns = self.idle_ns.saturating_sub(before.idle_ns);
        Duration::from_nanos(
            self.at_ns
                .saturating_sub(before.at_ns)
                .saturating_sub(idle_ns),
        )
    }

    fn of(meter: &ThreadMeter, slot: &Slot, epoch: Instant) -> Option<Self> {
        let time = meter.read()?;
        let at_ns = nanoseconds_since(epoch);
        Some(Reading {
            at_ns,
            idle_ns: slot.idle_until(at_ns),
            time,
        })
    }
}
