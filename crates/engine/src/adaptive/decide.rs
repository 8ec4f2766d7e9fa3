use std::time::Duration;

/// Evidence is needed from this many windows on end before there are more workers...
const WINDOWS_TO_GROW: u32 = 2;
/// ... and from this many before there are fewer.
const WINDOWS_TO_SHRINK: u32 = 3;

/// What some of the workers did over a window of time, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// Time on a processor.
    pub cpu: Duration,
    /// Time at work, but neither on a processor nor ready for one, in seconds. Less than nothing
    /// if what passed for waiting before turns out to have been a queue for a processor: the
    /// kernel tells of that only when it is over.
    pub wait_s: f64,
    /// Whether the time in the queue for a processor is known and left out of the wait.
    pub knows_delay: bool,
    /// Whether more tasks wait than there are workers for.
    pub queued: bool,
}

/// The number of workers, and what led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    /// Workers there may be.
    pub target: usize,
    processors: usize,
    limit: usize,
    too_few: u32,
    too_many: u32,
    /// Windows since the target changed or seemed about to.
    pub steady: u32,
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
}

/// The state after a window.
///
/// While a worker that uses a processor for `cpu` waits for `wait`, `wait / cpu` others can use
/// that processor: `processors * (1 + wait / cpu)` workers keep all of them busy. The target
/// goes there when it is far off for some windows on end. Where nothing but processors is waited
/// for, this is the number of processors, or, where that queue cannot be told from other waits,
/// the number of workers there are: neither runs away.
pub(crate) fn decide(sample: &Sample, state: State) -> State {
    let wanted = wanted(sample, &state);
    let too_few = sample.queued && wanted > state.target as f64 * 1.5;
    let too_many = wanted < state.target as f64 * 0.5;
    let mut next = State {
        too_few: if too_few { state.too_few + 1 } else { 0 },
        too_many: if too_many { state.too_many + 1 } else { 0 },
        steady: state.steady.saturating_add(1),
        ..state
    };
    if too_few || too_many {
        next.steady = 0;
    }
    if next.too_few >= WINDOWS_TO_GROW {
        next.target = wanted.ceil() as usize;
        (next.too_few, next.too_many) = (0, 0);
    } else if next.too_many >= WINDOWS_TO_SHRINK {
        next.target = (wanted.ceil() as usize).max(state.target / 2);
        (next.too_few, next.too_many) = (0, 0);
    }
    next
}

fn wanted(sample: &Sample, state: &State) -> f64 {
    let processors = state.processors as f64;
    let cpu = sample.cpu.as_secs_f64();
    let wanted = match sample.wait_s > 0.0 {
        true if cpu > 0.0 => processors * (1.0 + sample.wait_s / cpu),
        true => state.limit as f64,
        // Nothing was at work: no reason for more or fewer.
        false if cpu == 0.0 => state.target as f64,
        false => processors,
    };
    let limit = match sample.knows_delay {
        true => state.limit,
        // What looks like waiting may be the queue for processors that others keep busy.
        false => state.limit.min((8 * state.processors).max(16)),
    };
    wanted.min(limit.max(state.processors) as f64)
}
