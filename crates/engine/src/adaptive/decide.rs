use std::time::Duration;

/// Number of consecutive windows with evidence before the number of workers grows...
const WINDOWS_TO_GROW: u32 = 2;
/// ... and before it shrinks.
const WINDOWS_TO_SHRINK: u32 = 3;
/// Length of a window at first, and while there are signs that the target is wrong.
const WINDOW: Duration = Duration::from_millis(2);
/// Windows without a change before they get longer...
const WINDOWS_UNTIL_STEADY: u32 = 3;
/// ... and how many times the length can double.
const WINDOW_DOUBLINGS: u32 = 3;

/// What some of the workers did in a window of time, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// CPU time.
    pub cpu: Duration,
    /// Time at work that was neither on a processor nor in the run queue, in seconds. Negative if
    /// time counted as waiting before turns out to have been spent in the run queue.
    pub wait_s: f64,
    /// Time at work that is not classified yet, in seconds.
    pub unknown_s: f64,
    /// Whether the time in the run queue is known and left out of the wait.
    pub knows_delay: bool,
    /// Whether more tasks wait than there are workers for.
    pub queued: bool,
}

/// The number of workers, and the evidence for changing it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    /// The number of workers allowed.
    pub target: usize,
    processors: usize,
    limit: usize,
    too_few: u32,
    too_many: u32,
    /// Windows since the target changed.
    steady: u32,
}

impl State {
    pub(crate) fn new(target: usize, processors: usize, limit: usize) -> Self {
        State {
            target,
            processors,
            limit,
            too_few: 0,
            too_many: 0,
            steady: 0,
        }
    }

    /// Length of the next window: short while there is evidence of a wrong target, and longer the
    /// longer there is none. A check costs a few microseconds per worker.
    pub(crate) fn window(&self) -> Duration {
        let doublings = if self.too_few == 0 && self.too_many == 0 {
            self.steady
                .saturating_sub(WINDOWS_UNTIL_STEADY)
                .min(WINDOW_DOUBLINGS)
        } else {
            0
        };
        WINDOW * 2_u32.pow(doublings)
    }
}

/// The state after a window.
///
/// While a worker that uses a processor for `cpu` waits for `wait`, `wait / cpu` other workers can
/// use that processor: `processors * (1 + wait / cpu)` workers keep all processors busy. The target
/// moves there when it is far off for several consecutive windows. If workers wait for nothing but
/// processors, the result is the number of processors, or, where the time in the run queue cannot
/// be told from other waits, the current number of workers: neither grows without bound.
///
/// A window in which most of the time is unclassified changes nothing.
pub(crate) fn decide(sample: &Sample, state: State) -> State {
    if sample.unknown_s > sample.cpu.as_secs_f64() + sample.wait_s.max(0.0) {
        return State {
            steady: state.steady.saturating_add(1),
            ..state
        };
    }
    let wanted = wanted(sample, &state);
    let too_few = sample.queued && wanted > state.target as f64 * 1.5;
    let too_many = wanted < state.target as f64 * 0.5;
    let mut next = State {
        too_few: if too_few { state.too_few + 1 } else { 0 },
        too_many: if too_many { state.too_many + 1 } else { 0 },
        steady: state.steady.saturating_add(1),
        ..state
    };
    if next.too_few >= WINDOWS_TO_GROW {
        next.target = wanted.ceil() as usize;
        (next.too_few, next.too_many) = (0, 0);
    } else if next.too_many >= WINDOWS_TO_SHRINK {
        next.target = (wanted.ceil() as usize).max(state.target / 2);
        (next.too_few, next.too_many) = (0, 0);
    }
    if next.target != state.target {
        next.steady = 0;
    }
    next
}

fn wanted(sample: &Sample, state: &State) -> f64 {
    let processors = state.processors as f64;
    let cpu = sample.cpu.as_secs_f64();
    let wanted = match sample.wait_s > 0.0 {
        true if cpu > 0.0 => processors * (1.0 + sample.wait_s / cpu),
        true => state.limit as f64,
        // Nothing was at work, so there is no reason for a change.
        false if cpu == 0.0 => state.target as f64,
        false => processors,
    };
    let limit = if sample.knows_delay {
        state.limit
    } else {
        // Apparent waiting may be time in the run queue of processors that other processes keep
        // busy.
        state.limit.min((8 * state.processors).max(16))
    };
    wanted.min(limit.max(state.processors) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESSORS: usize = 2;
    const WINDOW_S: f64 = 0.002;

    /// A simulated machine that workers share, and what a window on it looks like.
    struct Machine {
        /// Seconds on a processor and of waiting for each operation.
        cpu_s: f64,
        wait_s: f64,
        knows_delay: bool,
        queued: bool,
    }

    impl Machine {
        fn new(cpu_us: f64, wait_us: f64) -> Self {
            Machine {
                cpu_s: cpu_us / 1e6,
                wait_s: wait_us / 1e6,
                knows_delay: true,
                queued: true,
            }
        }

        fn window(&self, workers: usize) -> Sample {
            let busy_s = workers as f64 * WINDOW_S;
            let alone_s = busy_s * self.cpu_s / (self.cpu_s + self.wait_s);
            let cpu_s = alone_s.min(PROCESSORS as f64 * WINDOW_S);
            let wait_s = if self.knows_delay {
                cpu_s * self.wait_s / self.cpu_s
            } else {
                busy_s - cpu_s
            };
            Sample {
                cpu: Duration::from_secs_f64(cpu_s),
                wait_s,
                unknown_s: 0.0,
                knows_delay: self.knows_delay,
                queued: self.queued,
            }
        }

        /// The target after each of `windows` windows.
        fn run(&self, mut state: State, windows: usize) -> Vec<usize> {
            let step = |_| {
                state = decide(&self.window(state.target), state);
                state.target
            };
            (0..windows).map(step).collect()
        }
    }

    fn start() -> State {
        State::new(2 * PROCESSORS, PROCESSORS, 64)
    }

    #[test]
    fn round_trips_are_hidden_within_a_few_windows() {
        for round_trip_us in [1000.0, 5000.0] {
            let targets = Machine::new(25.0, round_trip_us).run(start(), 5);
            assert_eq!(targets, [4, 64, 64, 64, 64]);
        }
        // 200 us waiting and 20 us on a processor: 22 workers keep two processors busy.
        let targets = Machine::new(20.0, 200.0).run(start(), 50);
        assert_eq!((targets[1], targets[49]), (22, 22));
    }

    #[test]
    fn a_local_disk_does_not_run_away() {
        // Waits of a sixth of the time, and a run queue that grows with the workers.
        let targets = Machine::new(50.0, 10.0).run(start(), 200);
        assert!(targets.iter().all(|target| *target == 4), "{targets:?}");
        let mut many = start();
        many.target = 64;
        let targets = Machine::new(50.0, 10.0).run(many, 30);
        assert_eq!(targets[29], 4, "{targets:?}");
    }

    #[test]
    fn work_without_waits_stays_as_it_is() {
        for knows_delay in [true, false] {
            let machine = Machine {
                knows_delay,
                ..Machine::new(50.0, 0.001)
            };
            assert_eq!(machine.run(start(), 100)[99], 4);
        }
    }

    #[test]
    fn one_window_is_no_evidence() {
        let (waits, works) = (Machine::new(20.0, 900.0), Machine::new(20.0, 1.0));
        let mut state = start();
        for _ in 0..50 {
            state = decide(&waits.window(state.target), state);
            state = decide(&works.window(state.target), state);
        }
        assert_eq!(state.target, 4);
    }

    /// All workers wait in step, 5 ms each time: only every third window shows it.
    #[test]
    fn windows_that_tell_nothing_change_nothing() {
        let mut state = start();
        let nothing = Sample {
            unknown_s: 4.0 * WINDOW_S,
            knows_delay: true,
            queued: true,
            ..Sample::default()
        };
        let waits = Machine::new(25.0, 5000.0).window(4);
        for (sample, target) in [&nothing, &nothing, &waits, &nothing, &nothing, &waits]
            .into_iter()
            .zip([4, 4, 4, 4, 4, 64])
        {
            state = decide(sample, state);
            assert_eq!(state.target, target);
        }
    }

    #[test]
    fn an_empty_queue_asks_for_nobody() {
        let machine = Machine {
            queued: false,
            ..Machine::new(20.0, 5000.0)
        };
        assert_eq!(machine.run(start(), 20)[19], 4);
        let idle = Sample {
            queued: true,
            knows_delay: true,
            ..Sample::default()
        };
        let mut state = start();
        state.target = 40;
        (0..20).for_each(|_| state = decide(&idle, state));
        assert_eq!(state.target, 40);
    }

    #[test]
    fn a_burst_at_the_end_is_met_and_its_end_too() {
        let mut state = start();
        let mut run = |machine: Machine, windows: usize| {
            (0..windows).for_each(|_| state = decide(&machine.window(state.target), state));
            state.target
        };
        assert_eq!(run(Machine::new(50.0, 5.0), 500), 4);
        assert_eq!(run(Machine::new(25.0, 1000.0), 2), 64);
        assert!(run(Machine::new(50.0, 5.0), 15) <= 4);
    }

    #[test]
    fn without_the_delay_growth_is_bounded() {
        // Other processes keep the processors busy: three quarters of the time is spent in the run
        // queue.
        let sample = |workers: usize| Sample {
            cpu: Duration::from_secs_f64(workers as f64 * WINDOW_S * 0.05),
            wait_s: workers as f64 * WINDOW_S * 0.95,
            unknown_s: 0.0,
            knows_delay: false,
            queued: true,
        };
        let mut state = start();
        (0..100).for_each(|_| state = decide(&sample(state.target), state));
        assert_eq!(state.target, 16);
    }

    #[test]
    fn windows_get_longer_while_nothing_changes() {
        let (waits, works) = (Machine::new(20.0, 900.0), Machine::new(20.0, 10.0));
        let mut state = start();
        let mut windows_ms = Vec::new();
        for _ in 0..8 {
            windows_ms.push(state.window().as_millis());
            state = decide(&works.window(state.target), state);
        }
        assert_eq!(windows_ms, [2, 2, 2, 2, 4, 8, 16, 16]);
        // Evidence shortens the window at once; if it is not confirmed, the length is restored.
        state = decide(&waits.window(state.target), state);
        assert_eq!(state.window().as_millis(), 2);
        state = decide(&works.window(state.target), state);
        assert_eq!(state.window().as_millis(), 16);
        state = decide(&waits.window(state.target), state);
        state = decide(&waits.window(state.target), state);
        assert_eq!((state.target, state.window().as_millis()), (64, 2));
    }
}
