//! The second pass: every delta is applied to its base, in parallel, to determine the object's id.
//!
//! A worker takes an object that is not a delta and descends into the deltas based on it, depth
//! first, keeping the contents of objects with more deltas to come. The memory for these is
//! limited: contents that do not fit are dropped and rebuilt when needed. Idle workers get deltas
//! from workers that have several for one base.

use super::build::Builder;
use super::check::Findings;
use super::examine::{Examination, Examiner};
use super::resolve_input::{ResolveInput, Resolved};
use super::Refusal;
use crate::error::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_engine::Stage;
use hedgerow_object::ObjectKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum size of contents kept by all workers together, in bytes.
const HELD_BYTES: usize = 48 << 20;

/// Resolves all deltas that stand on `roots`, largest family first. Returns them in no order.
pub(crate) fn resolve(
    ground: ResolveInput<'_>,
    roots: &[u32],
    examination: Examination<'_>,
) -> Result<(Vec<Resolved>, Findings)> {
    let board = WorkQueue::new(roots);
    let threads = examination.execution.threads().get();
    let budget = HELD_BYTES / threads;
    let work = || {
        let mut worker = Worker::new(ground, &board, examination, budget);
        let outcome = worker.run();
        if outcome.is_err() {
            board.stop();
        }
        outcome.map(|()| (worker.resolved, worker.examiner.findings))
    };
    let outcomes = hedgerow_fs::threads::together("resolve", threads - 1, work);
    let mut resolved = Vec::new();
    let mut findings = Findings::default();
    for outcome in outcomes {
        let (more, found) = outcome.expect("resolving does not panic")?;
        if resolved.is_empty() {
            resolved = more
        } else {
            resolved.extend(more)
        }
        findings.append(found);
    }
    Ok((resolved, findings))
}

/// A unit of work.
enum Task {
    /// An object that is not a delta, with all deltas based on it.
    Root(u32),
    /// Some of the deltas against one base whose content is available.
    Deltas {
        base: u32,
        kind: ObjectKind,
        content: Arc<Vec<u8>>,
        deltas: Vec<u32>,
    },
}

/// The tasks shared by all workers.
struct WorkQueue<'r> {
    state: Mutex<State<'r>>,
    changed: Condvar,
    /// Whether a worker is idle.
    is_wanted: AtomicBool,
    is_stopped: AtomicBool,
}

struct State<'r> {
    roots: std::slice::Iter<'r, u32>,
    tasks: Vec<Task>,
    /// Number of workers with a task, which may give a part of it away.
    busy: usize,
}

impl<'r> WorkQueue<'r> {
    fn new(roots: &'r [u32]) -> Self {
        WorkQueue {
            state: Mutex::new(State {
                roots: roots.iter(),
                tasks: Vec::new(),
                busy: 0,
            }),
            changed: Condvar::new(),
            is_wanted: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'r>> {
        // The lists are consistent even if a thread panicked while it held the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task; waits while there is none but busy workers may add one. The caller then
    /// counts as busy.
    fn take(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return None;
            }
            let task = match state.tasks.pop() {
                None => state.roots.next().map(|root| Task::Root(*root)),
                task => task,
            };
            if task.is_some() {
                state.busy += 1;
                return task;
            }
            if state.busy == 0 {
                return None;
            }
            self.is_wanted.store(true, Ordering::Relaxed);
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give(&self, task: Task) {
        self.lock().tasks.push(task);
        self.is_wanted.store(false, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// The caller has finished its task.
    fn done(&self) {
        let mut state = self.lock();
        state.busy -= 1;
        if state.busy == 0 {
            self.changed.notify_all();
        }
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let _state = self.lock();
        self.changed.notify_all();
    }
}

/// A base whose deltas are being resolved.
struct Frame {
    number: u32,
    kind: ObjectKind,
    /// `None` if it was dropped.
    content: Option<Arc<Vec<u8>>>,
    /// The start of its deltas in the list of pending ones.
    pending: usize,
}

struct Worker<'g> {
    ground: ResolveInput<'g>,
    board: &'g WorkQueue<'g>,
    examination: Examination<'g>,
    builder: Builder<'g>,
    examiner: Examiner<'g>,
    frames: Vec<Frame>,
    /// The deltas of all frames, one frame after the other.
    pending: Vec<u32>,
    /// The size of the contents of the frames, in bytes.
    held: usize,
    budget: usize,
    resolved: Vec<Resolved>,
}

impl<'g> Worker<'g> {
    fn new(
        ground: ResolveInput<'g>,
        board: &'g WorkQueue<'g>,
        examination: Examination<'g>,
        budget: usize,
    ) -> Self {
        Worker {
            ground,
            board,
            examination,
            builder: Builder::new(ground),
            examiner: Examiner::new(examination),
            frames: Vec::new(),
            pending: Vec::new(),
            held: 0,
            budget,
            resolved: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<()> {
        while let Some(task) = self.board.take() {
            let outcome = self.start(task).and_then(|()| self.descend());
            self.board.done();
            outcome?;
        }
        Ok(())
    }

    fn start(&mut self, task: Task) -> Result<()> {
        match task {
            Task::Root(number) => {
                let records = self.ground.records;
                match records.get(number as usize) {
                    Some(record) => {
                        let (kind, content) = self.builder.root(number)?;
                        self.push(number, &record.id, kind, content);
                    }
                    None => self.start_outside(number)?,
                }
            }
            Task::Deltas {
                base,
                kind,
                content,
                deltas,
            } => {
                self.pending.extend(deltas);
                self.held += content.len();
                self.frames.push(Frame {
                    number: base,
                    kind,
                    content: Some(content),
                    pending: 0,
                });
            }
        }
        Ok(())
    }

    /// Starts with a base from outside the pack, if deltas still wait for it: it may have been
    /// found in the pack meanwhile. Deltas on a damaged base keep waiting.
    fn start_outside(&mut self, number: u32) -> Result<()> {
        let at = number as usize - self.ground.records.len();
        let id = self.ground.outside.get(at);
        let id = *id.ok_or(Error::ForeignLocation)?;
        if !self.ground.delta_trees.is_wanted(&id) {
            return Ok(());
        }
        match self.builder.root(number) {
            Ok((kind, content)) => self.push(number, &id, kind, content),
            Err(Error::Refused(Refusal::LocalCorrupt(_))) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Resolves all pending deltas.
    fn descend(&mut self) -> Result<()> {
        while let Some(top) = self.frames.last() {
            if self.pending.len() <= top.pending {
                self.pop();
                continue;
            }
            if self.board.is_stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.examination.go_on()?;
            if self.board.is_wanted.load(Ordering::Relaxed) {
                self.share()?;
            }
            self.resolve_next()?;
        }
        Ok(())
    }

    fn resolve_next(&mut self) -> Result<()> {
        let delta = self.pending.pop().expect("something is pending");
        let base = self.content_of_top()?;
        let top = self.frames.last().expect("what is pending has a base");
        let (kind, is_last) = (top.kind, self.pending.len() == top.pending);
        let content = self.builder.apply(delta, &base)?;
        drop(base);
        if is_last {
            self.pop();
        }
        let id = self.examiner.examine(kind, &content)?;
        self.examination
            .execution
            .progress
            .stage(Stage::Resolving)
            .step(1);
        self.resolved.push(Resolved {
            number: delta,
            id,
            kind,
        });
        self.push(delta, &id, kind, content);
        Ok(())
    }

    /// Descends into the deltas against `number`, if there are any.
    fn push(&mut self, number: u32, id: &ObjectId, kind: ObjectKind, content: Vec<u8>) {
        let pending = self.pending.len();
        self.ground.delta_trees.claim(number, id, &mut self.pending);
        if self.pending.len() == pending {
            self.builder.recycle(content);
            return;
        }
        self.held += content.len();
        self.frames.push(Frame {
            number,
            kind,
            content: Some(Arc::new(content)),
            pending,
        });
        self.drop_over_budget();
    }

    fn pop(&mut self) {
        let content = self.frames.pop().and_then(|frame| frame.content);
        if let Some(content) = content {
            self.held -= content.len();
            if let Ok(content) = Arc::try_unwrap(content) {
                self.builder.recycle(content);
            }
        }
    }

    /// Drops the contents needed last until the rest fits the budget, but never the one needed
    /// next.
    fn drop_over_budget(&mut self) {
        let (_, below) = self.frames.split_last_mut().expect("a base was pushed");
        for frame in below {
            if self.held <= self.budget {
                return;
            }
            if let Some(content) = frame.content.take() {
                self.held -= content.len();
            }
        }
    }

    /// The content of the current base, rebuilt if it was dropped.
    fn content_of_top(&mut self) -> Result<Arc<Vec<u8>>> {
        let top = self.frames.last().expect("what is pending has a base");
        if let Some(content) = &top.content {
            return Ok(content.clone());
        }
        let content = Arc::new(self.builder.rebuild(top.number)?);
        self.held += content.len();
        let top = self.frames.last_mut().expect("it was there just now");
        top.content = Some(content.clone());
        self.drop_over_budget();
        Ok(content)
    }

    /// Gives half of the pending deltas of the current base to an idle worker.
    fn share(&mut self) -> Result<()> {
        let top = self.frames.last().expect("what is pending has a base");
        let (base, kind) = (top.number, top.kind);
        let count = (self.pending.len() - top.pending) / 2;
        if count == 0 {
            return Ok(());
        }
        let content = self.content_of_top()?;
        let deltas = self.pending.split_off(self.pending.len() - count);
        self.board.give(Task::Deltas {
            base,
            kind,
            content,
            deltas,
        });
        Ok(())
    }
}
