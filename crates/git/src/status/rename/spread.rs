//! Distributes work on many contents among workers.

use super::Contents;
use crate::{Error, Result};
use hedgerow_engine::{run_tasks, Options, Scope};
use std::ops::Range;
use std::sync::Mutex;

/// Number of items that a worker takes at a time.
const CHUNK: usize = 16;

/// The results of `work` for each number below `count`, in order. `work` runs on any worker and
/// receives that worker's state: the one of `contents`, and the one that `scratch` creates.
pub(crate) fn map<C: Contents, S, T: Send>(
    contents: &C,
    engine: &Options,
    count: usize,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut C::Worker, &mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let chunks = (0..count).step_by(CHUNK);
    let chunks: Vec<Range<usize>> = chunks.map(|at| at..count.min(at + CHUNK)).collect();
    let done: Mutex<Vec<(usize, Vec<T>)>> = Mutex::default();
    let worker = |_| (contents.worker(), scratch());
    let run = |worker: &mut (C::Worker, S), chunk: Range<usize>, scope: &Scope<'_, _>| {
        let (start, (contents, scratch)) = (chunk.start, worker);
        let results =
            chunk.map(|at| scope.operation("compare contents", || work(contents, scratch, at)));
        let results = results.collect::<Result<Vec<T>>>()?;
        done.lock().map_err(|_| poisoned())?.push((start, results));
        Ok(())
    };
    run_tasks(engine, chunks, worker, run).map_err(Error::from)?;
    let mut done = done.into_inner().map_err(|_| poisoned())?;
    done.sort_unstable_by_key(|(start, _)| *start);
    Ok(done.into_iter().flat_map(|(_, results)| results).collect())
}

fn poisoned() -> Error {
    Error::Internal {
        reason: "a lock was poisoned".to_owned(),
    }
}
