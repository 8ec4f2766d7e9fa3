//! The answer as a set: the same objects as a listing, in no order, found by many threads.
//!
//! One thread walks the commits; the others read trees as soon as their commits are known, and the
//! first thread joins them when it is done. Each object is entered by the thread that inserts it
//! into the set.

mod seen;
mod worker;

pub use seen::{Met, Seen, SeenIds};

use crate::filter::{not_spared, Filter};
use crate::finder::Finder;
use crate::ids::IdSet;
use crate::marks::{mark, Marks};
use crate::request::{Missing, Request};
use crate::source::Source;
use crate::walk::Walk;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_fs::threads::start_scoped;
use hedgerow_pack::ObjectKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Mutex, PoisonError};
use worker::Worker;

/// Number of trees that a thread takes at a time: trees of neighbouring commits are similar.
const BATCH: usize = 64;

/// State shared by all threads of a walk.
struct Shared<'w, S> {
    source: Source<'w>,
    seen: &'w S,
    finder: Finder<'w>,
    marks: &'w Marks<'w>,
    has_blobs: bool,
    /// Blobs are left out, and need not be looked at.
    passes_blobs: bool,
    tree_depth: usize,
    is_stopped: AtomicBool,
}

impl Request {
    /// Whether [`walk_set`] supports the request: nothing may depend on how an object is reached,
    /// and missing objects must be errors.
    pub fn is_set(&self) -> bool {
        let filter = matches!(self.filter, None | Some(Filter::BlobNone));
        let tips = self.filter.is_none() || !self.filter_tips && !self.keep_omitted;
        filter && tips && self.missing == Missing::Error && !self.exclude_promised && !self.boundary
    }
}

/// Inserts the objects that `request` asks for into `seen`, with `threads` threads. Order and edges
/// are not determined.
///
/// # Errors
/// As [`Walk::list`]; [`Error::Filter`] if [`Request::is_set`] is false.
pub fn walk_set<S: Seen>(
    source: Source<'_>,
    request: Request,
    threads: usize,
    seen: &S,
) -> Result<()> {
    if !request.is_set() {
        return Err(Error::Filter("the answer depends on an order".into()));
    }
    let mut walk = Walk::new(source, Request { threads, ..request })?;
    let with_objects = !walk.request.only_commits();
    let finder = Finder::new(source.store);
    let marks = std::mem::replace(&mut walk.marks, Marks::new(finder));
    let has_blobs = walk.request.filter.is_none();
    let shared = Shared {
        source,
        seen,
        finder,
        marks: &marks,
        has_blobs,
        passes_blobs: !has_blobs && walk.commits.false_commits().is_empty(),
        tree_depth: walk.request.tree_depth,
        is_stopped: AtomicBool::new(false),
    };
    let (sender, receiver) = channel::<Vec<ObjectId>>();
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        let run = || {
            let done = work(&shared, &receiver);
            if done.is_err() {
                shared.is_stopped.store(true, Ordering::Relaxed);
            }
            done
        };
        let count = if with_objects {
            threads.saturating_sub(1)
        } else {
            0
        };
        let others: Vec<_> = (0..count)
            .map_while(|_| start_scoped(scope, "set", run).ok())
            .collect();
        let send = |batch| {
            // All receivers are gone only after an error, which is reported elsewhere.
            let _ = sender.send(batch);
        };
        let walked = walk_commits(&mut walk, &shared, send, with_objects);
        drop(sender);
        if walked.is_err() {
            shared.is_stopped.store(true, Ordering::Relaxed);
        }
        let own = run();
        let others = others.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(_) => Err(Error::Panicked),
        });
        let others: Vec<Result<()>> = others.collect();
        walked.and(own)?;
        others.into_iter().collect()
    })
}

/// Walks the commits, and sends their trees to the other threads in batches.
fn walk_commits<S: Seen>(
    walk: &mut Walk<'_>,
    shared: &Shared<'_, S>,
    send: impl Fn(Vec<ObjectId>),
    with_objects: bool,
) -> Result<()> {
    let mut trees = Vec::with_capacity(BATCH);
    let mut worker = Worker::new(shared);
    let not_spared = not_spared_tips(walk, shared)?;
    for pending in std::mem::take(&mut walk.pending) {
        match pending.kind {
            _ if not_spared.contains(&pending.id) => {}
            ObjectKind::Tree => trees.push(pending.id),
            kind => worker.add_tip(&pending.id, kind, &pending.name)?,
        }
    }
    while let Some(found) = walk.next_commit()? {
        if shared.is_stopped.load(Ordering::Relaxed) {
            break;
        }
        let node = walk.commits.node(found.commit);
        let position = walk.commits.place(found.commit);
        let met = Met {
            id: &node.id,
            position,
            kind: ObjectKind::Commit,
            name_hash: 0,
        };
        if shared.seen.insert(met) {
            let location = if shared.seen.wants_locations() {
                shared.finder.location(&node.id, position)?
            } else {
                None
            };
            shared.seen.found(&node.id, ObjectKind::Commit, location);
        }
        if with_objects {
            trees.push(node.tree);
        }
        if trees.len() >= BATCH {
            send(std::mem::replace(&mut trees, Vec::with_capacity(BATCH)));
        }
    }
    send(trees);
    Ok(())
}

/// The tips that the filter leaves out.
fn not_spared_tips<S>(walk: &Walk<'_>, shared: &Shared<'_, S>) -> Result<IdSet> {
    let Some(filter) = &walk.request.filter else {
        return Ok(IdSet::default());
    };
    let is_file = |kind| matches!(kind, ObjectKind::Tree | ObjectKind::Blob);
    let named = walk.pending.iter().filter(|tip| is_file(tip.kind));
    let named: Vec<(ObjectId, ObjectKind)> = named.map(|tip| (tip.id, tip.kind)).collect();
    let is_had = |id: &ObjectId| shared.marks.has(id, mark::UNINTERESTING);
    not_spared(filter, &named, &walk.commits, |_| false, is_had)
}

/// Reads trees until there are no more.
fn work<S: Seen>(shared: &Shared<'_, S>, batches: &Mutex<Receiver<Vec<ObjectId>>>) -> Result<()> {
    let mut worker = Worker::new(shared);
    loop {
        let batch = {
            let receiver = batches.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv()
        };
        let Ok(batch) = batch else {
            return Ok(());
        };
        for tree in batch {
            if shared.is_stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            worker.add_root(&tree)?;
        }
    }
}
