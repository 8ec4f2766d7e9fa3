//! The limit of walking a tree: `stat_limit DIRECTORY THREADS`.
//!
//! Opens and lists every directory below DIRECTORY and stats every entry, and does nothing else:
//! nothing is kept, printed or put in order. No program that lists and stats the tree can be
//! faster without fewer calls. Prints one JSON object.
#![allow(clippy::print_stdout)]

use hedgerow_fs::{FileKind, Listing, OpenDirectory, ReadBuffer};
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A directory that nobody has opened yet, below one that is open.
type Task = (Arc<OpenDirectory>, Vec<u8>);

/// The directories to do, deepest last, so that few are open at a time.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    tasks: Vec<Task>,
    /// Tasks that were taken and may still bring more.
    running: usize,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, tasks: Vec<Task>) {
        self.lock().tasks.extend(tasks);
        self.changed.notify_all();
    }

    /// The next task; `None` when all are done. [`Queue::done`] must follow each.
    fn take(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop() {
                state.running += 1;
                return Some(task);
            }
            if state.running == 0 {
                return None;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self) {
        self.lock().running -= 1;
        self.changed.notify_all();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [root, threads] = arguments.as_slice() else {
        return Err("stat_limit DIRECTORY THREADS".into());
    };
    let threads: usize = threads.to_str().ok_or("THREADS is not a number")?.parse()?;
    let started = Instant::now();
    let root = Arc::new(OpenDirectory::open(root.as_ref())?);
    let queue = Queue::default();
    queue.add(vec![(root, Vec::new())]);
    let entries = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| work(&queue, &entries)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("a thread panicked"))
    })?;
    println!(
        "{{\"seconds\": {:.4}, \"entries\": {}, \"threads\": {threads}}}",
        started.elapsed().as_secs_f64(),
        entries.into_inner(),
    );
    Ok(())
}

fn work(queue: &Queue, entries: &AtomicU64) -> io::Result<()> {
    let (mut buffer, mut listing) = (ReadBuffer::default(), Listing::default());
    while let Some(task) = queue.take() {
        let found = visit(queue, task, &mut buffer, &mut listing);
        queue.done();
        entries.fetch_add(found?, Ordering::Relaxed);
    }
    Ok(())
}

/// Lists a directory and stats what is in it; its directories become tasks first. How many
/// entries it has.
fn visit(
    queue: &Queue,
    (parent, name): Task,
    buffer: &mut ReadBuffer,
    listing: &mut Listing,
) -> io::Result<u64> {
    let directory = Arc::new(parent.open_below(&name)?);
    drop(parent);
    listing.clear();
    while directory.read(buffer, listing)? {}
    let children = listing
        .entries()
        .iter()
        .filter(|entry| entry.kind == Some(FileKind::Directory))
        .map(|entry| (Arc::clone(&directory), listing.name(entry).to_vec()));
    let children: Vec<Task> = children.collect();
    if !children.is_empty() {
        queue.add(children);
    }
    for entry in listing.entries() {
        std::hint::black_box(directory.stat(listing.name(entry))?);
    }
    Ok(listing.len() as u64)
}
