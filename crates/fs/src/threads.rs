//! Starting threads, of which there may be fewer than wanted: the system has limits (`ulimit -u`,
//! `pids.max`), and the caller continues with the threads that it gets.

use crate::fault::{self, Op};
use crate::{Error, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts a thread that outlives the caller.
///
/// Fails if no more threads can be created.
pub fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    fault::check(Op::Thread)
        .and_then(|()| Builder::new().name(name.into()).spawn(work))
        .map_err(|source| Error::new("start the thread", name, source))
}

/// Starts a thread of `scope`.
///
/// Fails if no more threads can be created.
pub fn start_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    fault::check(Op::Thread)
        .and_then(|()| Builder::new().name(name.into()).spawn_scoped(scope, work))
        .map_err(|source| Error::new("start the thread", name, source))
}

/// Runs `work` in this thread and in up to `others` more threads. Returns all results, this
/// thread's first; a panic in another thread is an error.
pub fn together<T: Send>(
    name: &str,
    others: usize,
    work: impl Fn() -> T + Sync,
) -> Vec<std::thread::Result<T>> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..others)
            .map_while(|_| start_scoped(scope, name, &work).ok())
            .collect();
        let own = work();
        let others = others.into_iter().map(ScopedJoinHandle::join);
        [Ok(own)].into_iter().chain(others).collect()
    })
}

/// Starts a thread of `scope`, or runs the work at once if no thread can be created.
pub fn start_or_do<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Share<'scope, T> {
    // A failed start drops its closure, so a second reference keeps the work.
    let kept = Arc::new(Mutex::new(Some(work)));
    let handed = Arc::clone(&kept);
    let take = |work: &Mutex<Option<_>>| {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.expect("it is done by one of the two")
    };
    match start_scoped(scope, name, move || take(&handed)()) {
        Ok(thread) => Share::Started(thread),
        Err(_) => Share::Done(take(&kept)()),
    }
}

/// Runs both, `first` in a thread of its own if possible; a panic of that thread is an error.
pub fn both<A: Send, B>(
    name: &str,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (std::thread::Result<A>, B) {
    std::thread::scope(|scope| {
        let first = start_or_do(scope, name, first);
        let second = second();
        (first.join(), second)
    })
}

/// The results of `work` for each of `items`, in order: each runs in a thread of its own, or in
/// this one if no thread can be created. A panic of another thread is an error.
pub fn each<I: Send, T: Send>(
    name: &str,
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<std::thread::Result<T>> {
    std::thread::scope(|scope| {
        let work = &work;
        let start = |item| start_or_do(scope, name, move || work(item));
        let shares: Vec<_> = items.into_iter().map(start).collect();
        shares.into_iter().map(Share::join).collect()
    })
}

/// A part of the work, running or done.
#[derive(Debug)]
pub enum Share<'scope, T> {
    /// A thread runs it.
    Started(ScopedJoinHandle<'scope, T>),
    /// It is done, with this result.
    Done(T),
}

impl<T> Share<'_, T> {
    /// Waits for it. A panic of the thread is an error.
    pub fn join(self) -> std::thread::Result<T> {
        match self {
            Share::Started(thread) => thread.join(),
            Share::Done(result) => Ok(result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_work_is_done_and_panics_are_told() {
        let next = AtomicUsize::new(0);
        let done = together("test", 3, || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            numbers.take_while(|number| *number < 100).count()
        });
        let done: Vec<usize> = done.into_iter().map(|count| count.unwrap()).collect();
        assert_eq!((done.len(), done.iter().sum::<usize>()), (4, 100));
        let squares = each("test", [1, 2, 3], |number| number * number);
        let squares: Vec<i32> = squares.into_iter().map(|square| square.unwrap()).collect();
        assert_eq!(squares, [1, 4, 9]);
        let panicked = each("test", [1, 2], |number| assert_eq!(number, 1));
        assert!(panicked[0].is_ok() && panicked[1].is_err());
        let (first, second) = both("test", || 1, || 2);
        assert_eq!((first.unwrap(), second), (1, 2));
    }
}
