//! thin slice
#![allow(missing_docs)]
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jobs {
    #[default]
    Auto,
    Fixed(NonZeroUsize),
}
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>, Option<&'static AtomicBool>);
impl CancelToken {
    pub fn from_static(f: &'static AtomicBool) -> Self {
        CancelToken(Arc::default(), Some(f))
    }
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed)
    }
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
#[derive(Debug, Default)]
pub struct Recorder;
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub jobs: Jobs,
    pub cancel: CancelToken,
    pub name: &'static str,
    pub recorder: Option<Arc<Recorder>>,
}
#[derive(Debug, Default)]
pub struct Report {
    pub workers_peak: usize,
}
#[derive(Debug)]
pub enum Failure<E> {
    Cancelled,
    Failed(E),
    Panicked(String),
}
struct State<T> {
    first: VecDeque<T>,
    rest: VecDeque<T>,
    running: usize,
    stop: bool,
}
struct Shared<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
}
pub struct Scope<'a, T> {
    shared: &'a Shared<T>,
    cancel: &'a CancelToken,
}
impl<T> Scope<'_, T> {
    pub fn spawn(&self, task: T) {
        self.shared.state.lock().unwrap().rest.push_back(task);
        self.shared.wake.notify_one();
    }
    pub fn spawn_first(&self, task: T) {
        self.shared.state.lock().unwrap().first.push_back(task);
        self.shared.wake.notify_one();
    }
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
    pub fn record_operation(&self, _: Duration) {}
    pub fn add_bytes(&self, _: u64) {}
}
pub fn run_tasks<T: Send, W, E: Send>(
    options: &Options,
    initial: Vec<T>,
    worker: impl Fn(usize) -> W + Sync,
    work: impl Fn(&mut W, T, &Scope<'_, T>) -> Result<(), E> + Sync,
) -> Result<Report, Failure<E>> {
    let n = match options.jobs {
        Jobs::Auto => 4,
        Jobs::Fixed(n) => n.get(),
    };
    let shared = Shared {
        state: Mutex::new(State {
            first: VecDeque::new(),
            rest: initial.into(),
            running: 0,
            stop: false,
        }),
        wake: Condvar::new(),
    };
    let error: Mutex<Option<E>> = Mutex::new(None);
    let body = |i: usize| {
        let mut w = worker(i);
        let scope = Scope {
            shared: &shared,
            cancel: &options.cancel,
        };
        loop {
            let task = {
                let mut s = shared.state.lock().unwrap();
                loop {
                    if s.stop {
                        return;
                    }
                    if let Some(t) = s.first.pop_front() {
                        s.running += 1;
                        break t;
                    }
                    if let Some(t) = s.rest.pop_front() {
                        s.running += 1;
                        break t;
                    }
                    if s.running == 0 {
                        s.stop = true;
                        shared.wake.notify_all();
                        return;
                    }
                    s = shared.wake.wait(s).unwrap();
                }
            };
            let r = work(&mut w, task, &scope);
            let mut s = shared.state.lock().unwrap();
            s.running -= 1;
            if let Err(e) = r {
                *error.lock().unwrap() = Some(e);
                s.stop = true;
            }
            if options.cancel.is_cancelled() {
                s.stop = true;
            }
            if s.stop || (s.running == 0 && s.first.is_empty() && s.rest.is_empty()) {
                s.stop = true;
                shared.wake.notify_all();
                return;
            }
        }
    };
    std::thread::scope(|s| {
        for i in 1..n {
            let body = &body;
            s.spawn(move || body(i));
        }
        body(0);
    });
    if options.cancel.is_cancelled() {
        return Err(Failure::Cancelled);
    }
    match error.into_inner().unwrap() {
        Some(e) => Err(Failure::Failed(e)),
        None => Ok(Report { workers_peak: n }),
    }
}
