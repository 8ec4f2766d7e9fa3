use crate::handles::Handle;
use crate::opener::Opener;
use crate::visitor::{Plan, Visitor, Wanted};
use crate::{Operation, Place, ScanError};
use hedgerow_engine::{run_tasks, Failure, Report, Scope};
use hedgerow_fs::{Listing, OpenDirectory, ReadBuffer, Stat};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of entries statted by one task.
const CHUNK: usize = 64;
/// A directory with more entries than this is listed completely before the worker that lists it
/// stats any of them.
const LARGE: usize = 4 * CHUNK;
/// While more tasks than this wait, workers have enough to do, and directories are not split.
const BUSY: usize = 256;
/// While more tasks than this wait, the tree is scanned depth first, to limit new tasks.
const BREADTH_LIMIT: usize = 1024;
/// While more tasks than this wait, listing of a directory is suspended, because it may add
/// millions.
const WAITING_LIMIT: usize = 2048;

/// Options of a scan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The engine's options.
    pub engine: hedgerow_engine::Options,
    /// Does not descend into directories of other file systems.
    pub one_file_system: bool,
}

/// Scans the tree below `root`, in parallel and in no particular order. `data` is the visitor's
/// data for the root.
///
/// Symbolic links are not followed and nothing is visited twice. Directories are published to the
/// other workers before entries are statted; entries are statted as soon as they are listed and in
/// that order, a few names at a time. The number of open directories is limited by the process's
/// descriptor limit, and the number of waiting tasks by the depth of the tree and the size of its
/// directories.
///
/// Fails with the visitor's error, or if it was cancelled.
pub fn scan<V: Visitor>(
    root: OpenDirectory,
    data: V::Directory,
    visitor: &V,
    options: &Options,
) -> Result<Report, Failure<V::Error>> {
    scan_places(
        root,
        vec![Place::at(Box::default(), data)],
        visitor,
        options,
    )
}

/// Like [`scan`], but begins with some directories below `root` instead of with itself. None of them
/// is below another.
pub(crate) fn scan_places<V: Visitor>(
    root: OpenDirectory,
    places: Vec<Place<V::Directory>>,
    visitor: &V,
    options: &Options,
) -> Result<Report, Failure<V::Error>> {
    let scan = Scan {
        visitor,
        opener: Opener::new(root, options.one_file_system),
    };
    let first = places.into_iter().map(|place| Task::Directory {
        place,
        parent: None,
    });
    let worker = |_| Worker::new(visitor.worker());
    run_tasks(
        &options.engine,
        first.collect(),
        worker,
        |worker, task, scope| scan.run(worker, task, scope),
    )
}

struct Scan<'v, V> {
    visitor: &'v V,
    opener: Opener,
}

enum Task<D> {
    /// List a directory. The parent is given if it is still open.
    Directory {
        place: Place<D>,
        parent: Option<Arc<Handle>>,
    },
    /// Continue listing a directory.
    Rest(Arc<Opened<D>>),
    /// Stat some of the entries of a directory.
    Stat {
        batch: Arc<Batch<D>>,
        span: Range<usize>,
    },
    /// Query the kinds of some of the entries of a directory.
    Kinds {
        unknown: Arc<Unknown<D>>,
        span: Range<usize>,
    },
}

/// Entries of a directory, shared by several tasks.
struct Batch<D> {
    directory: Arc<Opened<D>>,
    listing: Listing,
    /// Stats of entries that were already queried; empty if none were.
    states: Vec<Option<Stat>>,
    wanted: Vec<Wanted>,
}

/// Entries whose kinds the file system does not report in the listing.
struct Unknown<D> {
    directory: Arc<Opened<D>>,
    listing: Listing,
    entries: Vec<u32>,
    found: Mutex<Vec<(u32, io::Result<Stat>)>>,
    left: AtomicUsize,
}

/// The part of a directory's entries that was listed.
#[derive(Clone, Copy)]
enum Part {
    /// There may be more.
    Some,
    /// There are no more, or another task lists them.
    Last,
}

struct Opened<D> {
    place: Place<D>,
    handle: Arc<Handle>,
    /// Number of parts of the listing whose kinds are being queried, plus one for the listing
    /// itself.
    parts: AtomicUsize,
}

struct Worker<V: Visitor> {
    visitor: V::Worker,
    buffer: ReadBuffer,
    plan: Plan<V::Directory>,
    states: Vec<(Wanted, io::Result<Stat>)>,
    /// The directories that it visits in their turn, the next one last.
    turns: Vec<Turn<V::Directory>>,
}

/// A directory, and its parent if that is still open.
type Turn<D> = (Place<D>, Option<Arc<Handle>>);

impl<V: Visitor> Worker<V> {
    fn new(visitor: V::Worker) -> Self {
        Worker {
            visitor,
            buffer: ReadBuffer::default(),
            plan: Plan::default(),
            states: Vec::new(),
            turns: Vec::new(),
        }
    }
}

type Tasks<'s, V> = Scope<'s, Task<<V as Visitor>::Directory>>;
type Done<V> = Result<(), <V as Visitor>::Error>;

impl<V: Visitor> Scan<'_, V> {
    fn run(
        &self,
        worker: &mut Worker<V>,
        task: Task<V::Directory>,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        self.run_one(worker, task, scope)?;
        while let Some((place, parent)) = worker.turns.pop() {
            if scope.is_cancelled() {
                worker.turns.clear();
            } else if self.visitor.in_turn(&place) {
                self.directory(worker, place, parent, scope)?;
            } else {
                let rest = worker.turns.drain(..).rev();
                let rest = std::iter::once((place, parent)).chain(rest);
                let task = |(place, parent)| Task::Directory { place, parent };
                scope.spawn_all_next(rest.map(task));
            }
        }
        Ok(())
    }

    fn run_one(
        &self,
        worker: &mut Worker<V>,
        task: Task<V::Directory>,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        match task {
            Task::Directory { place, parent } => self.directory(worker, place, parent, scope),
            Task::Stat { batch, span } => {
                let wanted = batch
                    .wanted
                    .get(span)
                    .expect("the span of a task is within its batch");
                self.stat(
                    worker,
                    &batch.directory,
                    &batch.listing,
                    &batch.states,
                    wanted,
                    scope,
                )
            }
            Task::Kinds { unknown, span } => self.kinds(worker, unknown, span, scope),
            Task::Rest(directory) => self.list(worker, directory, scope),
        }
    }

    fn directory(
        &self,
        worker: &mut Worker<V>,
        place: Place<V::Directory>,
        parent: Option<Arc<Handle>>,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        if !self.visitor.is_needed(&place) {
            return self.visitor.complete(&mut worker.visitor, &place);
        }
        let known = self.visitor.known(&place);
        let opened = scope.operation("open directory", || {
            self.opener.open(place.path(), parent.as_deref(), false)
        });
        drop(parent);
        let handle = match opened {
            Ok(Some(directory)) => self.opener.handles.count(directory),
            Ok(None) => return self.visitor.complete(&mut worker.visitor, &place),
            Err(source) => return self.not_opened(worker, place, known, source, scope),
        };
        let directory = Arc::new(Opened {
            place,
            handle,
            parts: AtomicUsize::new(1),
        });
        if let Some(listing) = known {
            self.entries(worker, &directory, listing, Part::Last, scope)?;
            return self.part_done(worker, &directory);
        }
        self.list(worker, directory, scope)
    }

    /// Lists a directory completely, or as far as other workers keep up.
    fn list(
        &self,
        worker: &mut Worker<V>,
        directory: Arc<Opened<V::Directory>>,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        let whole = self.visitor.wants_whole(&directory.place);
        let mut listing = Listing::default();
        let mut listed = 0;
        loop {
            if scope.is_cancelled() {
                return Ok(());
            }
            let read = || directory.handle.read(&mut worker.buffer, &mut listing);
            let read = scope.operation("read directory", read);
            if whole && matches!(read, Ok(true)) {
                continue;
            }
            let listing = std::mem::take(&mut listing);
            listed += listing.len();
            let part = match read {
                Ok(true) if listed > LARGE => Part::Some,
                _ => Part::Last,
            };
            self.entries(worker, &directory, listing, part, scope)?;
            match read {
                // The rest becomes a task only if the directory can stay open.
                Ok(true) if scope.waiting() > WAITING_LIMIT && self.opener.handles.may_keep() => {
                    scope.spawn(Task::Rest(directory));
                    return Ok(());
                }
                Ok(true) => {}
                Ok(false) => return self.part_done(worker, &directory),
                Err(source) => return self.not_listed(worker, &directory, source, scope),
            }
        }
    }

    fn not_opened(
        &self,
        worker: &mut Worker<V>,
        place: Place<V::Directory>,
        known: Option<Listing>,
        source: io::Error,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        let may_stat = source.kind() == io::ErrorKind::PermissionDenied;
        let listing = match (known, may_stat) {
            (Some(listing), true) => Some(listing),
            _ => {
                let operation = Operation::Open;
                let error = ScanError { operation, source };
                self.visitor.failed(&mut worker.visitor, &place, error)?
            }
        };
        let Some(listing) = listing else {
            return Ok(());
        };
        match self.opener.open(place.path(), None, true) {
            Ok(Some(directory)) => {
                let directory = Arc::new(Opened {
                    place,
                    handle: self.opener.handles.count(directory),
                    parts: AtomicUsize::new(1),
                });
                self.entries(worker, &directory, listing, Part::Last, scope)?;
                self.part_done(worker, &directory)
            }
            Ok(None) => self.visitor.complete(&mut worker.visitor, &place),
            Err(error) => self.visitor.lost(&mut worker.visitor, &place, &error),
        }
    }

    fn not_listed(
        &self,
        worker: &mut Worker<V>,
        directory: &Arc<Opened<V::Directory>>,
        source: io::Error,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        let operation = Operation::List;
        let error = ScanError { operation, source };
        let place = &directory.place;
        if let Some(listing) = self.visitor.failed(&mut worker.visitor, place, error)? {
            self.entries(worker, directory, listing, Part::Last, scope)?;
            return self.part_done(worker, directory);
        }
        Ok(())
    }

    /// A part of a directory's listing was passed to the visitor.
    fn part_done(&self, worker: &mut Worker<V>, directory: &Arc<Opened<V::Directory>>) -> Done<V> {
        if directory.parts.fetch_sub(1, Ordering::AcqRel) == 1 {
            return self.visitor.complete(&mut worker.visitor, &directory.place);
        }
        Ok(())
    }

    /// Handles listed entries: queries the kinds that are unknown.
    fn entries(
        &self,
        worker: &mut Worker<V>,
        directory: &Arc<Opened<V::Directory>>,
        listing: Listing,
        part: Part,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        if listing.is_empty() && !self.visitor.wants_whole(&directory.place) {
            return Ok(());
        }
        let is_unknown = |number: &u32| listing.entries()[*number as usize].kind.is_none();
        let entries: Vec<u32> = (0..listing.len() as u32).filter(is_unknown).collect();
        if entries.is_empty() {
            return self.arrange(worker, directory, listing, Vec::new(), part, scope);
        }
        directory.parts.fetch_add(1, Ordering::AcqRel);
        let split = self.may_split(entries.len(), scope);
        let size = if split { CHUNK } else { entries.len() };
        let unknown = Arc::new(Unknown {
            directory: directory.clone(),
            listing,
            left: AtomicUsize::new(entries.len()),
            found: Mutex::new(Vec::with_capacity(entries.len())),
            entries,
        });
        let spans = spans(size..unknown.entries.len(), size);
        scope.spawn_all(spans.map(|span| Task::Kinds {
            unknown: unknown.clone(),
            span,
        }));
        self.kinds(worker, unknown, 0..size, scope)
    }

    fn kinds(
        &self,
        worker: &mut Worker<V>,
        unknown: Arc<Unknown<V::Directory>>,
        span: Range<usize>,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        let entries = unknown
            .entries
            .get(span)
            .expect("the span of a task is within its batch");
        let ask = |entry: &u32| {
            let name = unknown.listing.name_of(*entry);
            let state = scope.operation("stat", || unknown.directory.handle.stat(name));
            (*entry, state)
        };
        let found: Vec<_> = entries.iter().map(ask).collect();
        let all = || unknown.found.lock().unwrap_or_else(PoisonError::into_inner);
        all().extend(found);
        if unknown.left.fetch_sub(entries.len(), Ordering::AcqRel) != entries.len() {
            return Ok(());
        }
        let all = std::mem::take(&mut *all());
        let (listing, states) = resolve(&unknown.listing, all);
        self.arrange(
            worker,
            &unknown.directory,
            listing,
            states,
            Part::Last,
            scope,
        )?;
        self.part_done(worker, &unknown.directory)
    }

    /// Passes entries to the visitor and carries out its plan.
    fn arrange(
        &self,
        worker: &mut Worker<V>,
        directory: &Arc<Opened<V::Directory>>,
        listing: Listing,
        states: Vec<Option<Stat>>,
        part: Part,
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        let mut plan = std::mem::take(&mut worker.plan);
        let place = &directory.place;
        self.visitor
            .opened(&mut worker.visitor, place, &directory.handle, &listing)?;
        self.visitor
            .listed(&mut worker.visitor, place, &listing, &mut plan)?;
        self.descend(directory, &listing, &mut plan, &mut worker.turns, scope);
        // A worker with more to list does that first: only it can do that, but any worker can stat.
        let own = match part {
            Part::Some => 0,
            Part::Last => CHUNK,
        };
        let splits = match part {
            Part::Some => plan.stat.len() > CHUNK && self.opener.handles.may_keep(),
            Part::Last => self.may_split(plan.stat.len(), scope),
        };
        if splits {
            let batch = Arc::new(Batch {
                directory: directory.clone(),
                listing,
                states,
                wanted: std::mem::take(&mut plan.stat),
            });
            let others = spans(own..batch.wanted.len(), CHUNK).map(|span| Task::Stat {
                batch: batch.clone(),
                span,
            });
            scope.spawn_all(others);
            worker.plan = plan;
            if own == 0 {
                return Ok(());
            }
            let wanted = &batch.wanted[..own];
            let (listing, states) = (&batch.listing, &batch.states);
            return self.stat(worker, directory, listing, states, wanted, scope);
        }
        for wanted in plan.stat.chunks(CHUNK) {
            if scope.is_cancelled() {
                return Ok(());
            }
            self.stat(worker, directory, &listing, &states, wanted, scope)?;
        }
        plan.stat.clear();
        worker.plan = plan;
        Ok(())
    }

    fn descend(
        &self,
        directory: &Arc<Opened<V::Directory>>,
        listing: &Listing,
        plan: &mut Plan<V::Directory>,
        turns: &mut Vec<Turn<V::Directory>>,
        scope: &Tasks<'_, V>,
    ) {
        if plan.descend.is_empty() {
            return;
        }
        let parent = self.opener.handles.may_keep().then_some(&directory.handle);
        let child = |(entry, data)| {
            let place = directory.place.child(listing.name_of(entry), data);
            (place, parent.cloned())
        };
        let children = plan.descend.drain(..).map(child);
        let first = turns.len();
        let others: Vec<_> = children
            .filter_map(|(place, parent)| {
                if self.visitor.in_turn(&place) {
                    turns.push((place, parent));
                    return None;
                }
                Some(Task::Directory { place, parent })
            })
            .collect();
        turns[first..].reverse();
        let tasks = others.into_iter();
        if scope.waiting() > BREADTH_LIMIT {
            scope.spawn_all_next(tasks)
        } else {
            scope.spawn_all(tasks)
        }
    }

    fn stat(
        &self,
        worker: &mut Worker<V>,
        directory: &Opened<V::Directory>,
        listing: &Listing,
        states: &[Option<Stat>],
        wanted: &[Wanted],
        scope: &Tasks<'_, V>,
    ) -> Done<V> {
        worker.states.clear();
        for wanted in wanted {
            let state = match states.get(wanted.entry as usize) {
                Some(Some(state)) => Ok(*state),
                _ => {
                    let name = listing.name_of(wanted.entry);
                    scope.operation("stat", || directory.handle.stat(name))
                }
            };
            worker.states.push((*wanted, state));
        }
        self.visitor.statted(
            &mut worker.visitor,
            &directory.place,
            listing,
            &worker.states,
        )
    }

    /// Whether this many entries of one directory are worth sharing with other workers.
    fn may_split(&self, entries: usize, scope: &Tasks<'_, V>) -> bool {
        entries > 2 * CHUNK && scope.waiting() < BUSY && self.opener.handles.may_keep()
    }
}

fn spans(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range
        .step_by(size.max(1))
        .map(move |start| start..(start + size).min(end))
}

/// The listing with the kinds that were found, without missing entries, and their stats.
fn resolve(listing: &Listing, found: Vec<(u32, io::Result<Stat>)>) -> (Listing, Vec<Option<Stat>>) {
    let mut states: Vec<Option<io::Result<Stat>>> = Vec::new();
    states.resize_with(listing.len(), || None);
    for (entry, state) in found {
        states[entry as usize] = Some(state);
    }
    let mut resolved = Listing::default();
    let mut known = Vec::with_capacity(listing.len());
    for (entry, state) in listing.entries().iter().zip(states) {
        let (kind, state) = match state {
            None => (entry.kind, None),
            Some(Ok(state)) => (Some(state.kind), Some(state)),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => continue,
            Some(Err(_)) => (None, None),
        };
        // It fitted into the listing that it comes from.
        if resolved.push(listing.name(entry), kind).is_ok() {
            known.push(state);
        }
    }
    (resolved, known)
}
