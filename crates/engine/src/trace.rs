//! When each thread did what: spans, recorded per thread, for display on a time axis.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Maximum number of events in a trace: a few tens of megabytes. Later ones are only counted.
pub const TRACE_EVENTS: usize = 1_000_000;
/// Number of events that a thread reserves at a time.
const RESERVED: usize = 64;

thread_local! {
    /// Whether the thread is traced: all that is looked at where nothing is traced.
    static IS_TRACED: Cell<bool> = const { Cell::new(false) };
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// What the calling thread records.
struct Current {
    trace: Arc<Trace>,
    lane: usize,
    events: Vec<TraceEvent>,
    /// Number of events that may still be recorded before more are reserved.
    reserved: usize,
    dropped: u64,
}

/// Records spans of any number of threads, from its creation on.
#[derive(Debug)]
pub struct Trace {
    started: Instant,
    limit: usize,
    reserved: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lanes: Vec<TraceLane>,
    /// For each lane, whether a thread has it.
    taken: Vec<bool>,
    dropped: u64,
}

/// Everything recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRecord {
    /// The lanes, in the order in which threads first took them.
    pub lanes: Vec<TraceLane>,
    /// Number of events beyond the limit, which are missing.
    pub dropped: u64,
}

/// The spans of one thread, or of several threads of the same name that followed each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceLane {
    /// The name of the thread.
    pub name: String,
    /// Spans in the order in which they ended. Two of a lane are nested or apart.
    pub events: Vec<TraceEvent>,
}

/// A span of time in which a thread did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// What it did.
    pub name: &'static str,
    /// When it began, in nanoseconds since the trace was created.
    pub begin_ns: u64,
    /// How long it took, in nanoseconds.
    pub length_ns: u64,
}

impl Default for Trace {
    fn default() -> Self {
        Trace::with_limit(TRACE_EVENTS)
    }
}

impl Trace {
    /// A trace of at most `limit` events.
    pub fn with_limit(limit: usize) -> Self {
        Trace {
            started: Instant::now(),
            limit,
            reserved: AtomicUsize::new(0),
            state: Mutex::default(),
        }
    }

    /// Spans of the calling thread are recorded while the result lives. A thread that is traced
    /// already stays in its lane.
    pub fn enter(self: &Arc<Self>, name: &str) -> Lane {
        if IS_TRACED.get() {
            return Lane { is_taken: false };
        }
        let mut state = self.lock();
        let free = |(lane, taken): (&TraceLane, &bool)| !taken && lane.name == name;
        let found = state.lanes.iter().zip(&state.taken).position(free);
        let lane = found.unwrap_or(state.lanes.len());
        if found.is_some() {
            state.taken[lane] = true;
        } else {
            state.taken.push(true);
            state.lanes.push(TraceLane {
                name: name.to_owned(),
                events: Vec::new(),
            });
        }
        drop(state);
        CURRENT.set(Some(Current {
            trace: Arc::clone(self),
            lane,
            events: Vec::new(),
            reserved: 0,
            dropped: 0,
        }));
        IS_TRACED.set(true);
        Lane { is_taken: true }
    }

    /// What was recorded so far. The spans of a thread are added when it leaves its lane.
    pub fn snapshot(&self) -> TraceRecord {
        let state = self.lock();
        TraceRecord {
            lanes: state.lanes.clone(),
            dropped: state.dropped,
        }
    }

    fn reserve(&self) -> usize {
        let before = self.reserved.fetch_add(RESERVED, Ordering::Relaxed);
        self.limit.saturating_sub(before).min(RESERVED)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn record(&mut self, name: &'static str, began: Instant) {
        if self.reserved == 0 && self.dropped == 0 {
            self.reserved = self.trace.reserve();
        }
        if self.reserved == 0 {
            self.dropped += 1;
            return;
        }
        self.reserved -= 1;
        let begin = began.saturating_duration_since(self.trace.started);
        self.events.push(TraceEvent {
            name,
            begin_ns: begin.as_nanos() as u64,
            length_ns: began.elapsed().as_nanos() as u64,
        });
    }
}

/// While it lives, the thread that created it is traced.
#[derive(Debug)]
#[must_use]
pub struct Lane {
    is_taken: bool,
}

impl Drop for Lane {
    fn drop(&mut self) {
        if !self.is_taken {
            return;
        }
        IS_TRACED.set(false);
        let Some(current) = CURRENT.take() else {
            return;
        };
        // What was reserved and not used is free again for others.
        let trace = &current.trace;
        trace
            .reserved
            .fetch_sub(current.reserved, Ordering::Relaxed);
        let mut state = trace.lock();
        state.dropped += current.dropped;
        state.taken[current.lane] = false;
        state.lanes[current.lane].events.extend(current.events);
    }
}

/// The time until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Span {
    name: &'static str,
    began: Option<Instant>,
}

/// In a traced thread, records the time until the result is dropped under this name; otherwise does
/// nothing, and does not read the clock.
#[inline]
pub fn span(name: &'static str) -> Span {
    Span {
        name,
        began: IS_TRACED.get().then(Instant::now),
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some(began) = self.began {
            record(self.name, began);
        }
    }
}

#[cold]
fn record(name: &'static str, began: Instant) {
    CURRENT.with_borrow_mut(|current| {
        if let Some(current) = current {
            current.record(name, began);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(record: &TraceRecord) -> Vec<(&str, Vec<&str>)> {
        let events = |lane: &'_ TraceLane| lane.events.iter().map(|event| event.name).collect();
        let lanes = record.lanes.iter();
        lanes.map(|lane| (&*lane.name, events(lane))).collect()
    }

    #[test]
    fn spans_belong_to_the_lane_of_their_thread() {
        let trace = Arc::new(Trace::default());
        drop(span("before"));
        let lane = trace.enter("main");
        let outer = span("outer");
        drop(span("inner"));
        drop(trace.enter("nested"));
        std::thread::scope(|threads| {
            threads.spawn(|| drop(span("untraced")));
            for _ in 0..2 {
                let spawned = threads.spawn(|| {
                    let _lane = trace.enter("worker-1");
                    drop(span("work"));
                });
                spawned.join().unwrap();
            }
        });
        drop(outer);
        drop(lane);
        drop(span("after"));
        let record = trace.snapshot();
        let expected = [
            ("main", vec!["inner", "outer"]),
            ("worker-1", vec!["work", "work"]),
        ];
        assert_eq!(names(&record), expected);
        let [inner, outer] = record.lanes[0].events[..] else {
            panic!("{record:?}");
        };
        assert!(outer.begin_ns <= inner.begin_ns);
        assert!(inner.begin_ns + inner.length_ns <= outer.begin_ns + outer.length_ns);
        assert_eq!(record.dropped, 0);
    }

    #[test]
    fn two_threads_of_a_name_have_two_lanes() {
        let trace = Arc::new(Trace::default());
        let _lane = trace.enter("twin");
        std::thread::scope(|threads| {
            threads.spawn(|| drop(trace.enter("twin")));
        });
        assert_eq!(trace.snapshot().lanes.len(), 2);
    }

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let trace = Arc::new(Trace::with_limit(100));
        for _ in 0..3 {
            let _lane = trace.enter("main");
            (0..50).for_each(|_| drop(span("event")));
        }
        let record = trace.snapshot();
        assert_eq!((record.lanes[0].events.len(), record.dropped), (100, 50));
    }
}
