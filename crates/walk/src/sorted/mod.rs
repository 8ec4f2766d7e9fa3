//! Lists a tree in canonical order, in parallel and with bounded memory.
//!
//! Workers take the least pending unit in canonical order ([`agenda`]). Results found before their
//! turn are held, up to a memory limit. The worker that completes the next result reports
//! everything that can then be reported ([`stage`]).

mod agenda;
mod node;
mod stage;

use crate::handles::Handle;
use crate::metadata::metadata;
use crate::opener::Opener;
use crate::selection::{node_kind, Filter, Level};
use crate::walk::is_gone;
use crate::{Operation, Receiver, WalkOptions};
use agenda::{Agenda, Front, Site, Unit, BUDGET_BYTES};
use hedgerow_engine::{run_tasks, Failure, Report};
use hedgerow_fs::{Listing, OpenDirectory, ReadBuffer, Stat};
use hedgerow_tree::{Entry, Omission};
use node::{states_bytes, Item, Node, States, CHUNK};
use stage::{finished_bytes, Finished, Next, Run, Stage};
use std::io;
use std::iter::repeat_n;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A directory with more entries than this is always statted in chunks, so that their stats need
/// not all be held at the same time.
const LARGE: usize = 4096;
/// While more units than this wait, workers have enough to do, and directories are not split.
const BUSY: usize = 256;

/// Lists the tree below the directory at `path` like [`walk`](crate::walk), but in canonical order
/// ([`hedgerow_tree::canonical_order`]).
///
/// Only one receiver worker is created, and entries are reported one at a time, on any thread.
/// Omissions are reported when they occur. A directory that must be statted but cannot be is
/// skipped with everything below it.
///
/// Memory is used for the names in the directory being reported and in its ancestors, for at most
/// 64 MiB of results found ahead, and for the current work of each worker.
pub fn walk_sorted<R>(
    root: OpenDirectory,
    path: &Path,
    receiver: &R,
    options: &WalkOptions,
) -> Result<Report, Failure<R::Error>>
where
    R: Receiver,
    R::Worker: Send,
{
    walk_within(root, path, receiver, options, BUDGET_BYTES)
}

fn walk_within<R>(
    root: OpenDirectory,
    path: &Path,
    receiver: &R,
    options: &WalkOptions,
    budget: usize,
) -> Result<Report, Failure<R::Error>>
where
    R: Receiver,
    R::Worker: Send,
{
    let filter = Filter::new(options.selection.clone());
    if !filter.enters_root() {
        return Ok(Report::default());
    }
    let root_level = filter.root(Some(path));
    let sorted = Sorted {
        receiver,
        told: Mutex::new(receiver.worker()),
        metadata: options.metadata,
        filter,
        root_level,
        opener: Opener::new(root, options.one_file_system),
        state: Mutex::new(State {
            agenda: Agenda::new(budget),
            stage: Stage::default(),
            front: Front::Root,
            telling: false,
            nodes: 0,
        }),
    };
    let buffer = |_| ReadBuffer::default();
    run_tasks(
        &options.execution.options("walk"),
        vec![()],
        buffer,
        |buffer, (), scope| sorted.run(buffer, scope),
    )
}

type Scope<'s> = hedgerow_engine::Scope<'s, ()>;
type Opened = Option<Arc<Handle>>;

struct Sorted<'r, R: Receiver> {
    receiver: &'r R,
    told: Mutex<R::Worker>,
    metadata: bool,
    filter: Filter,
    root_level: Level,
    opener: Opener,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    agenda: Agenda,
    stage: Stage,
    front: Front,
    /// Whether a worker is reporting results.
    telling: bool,
    /// Number of directories listed.
    nodes: u64,
}

/// The content of a listed directory.
struct Contents {
    listing: Listing,
    /// Stats that were queried because nothing else gave the kind.
    states: Vec<Option<Stat>>,
}

impl<R: Receiver> Sorted<'_, R> {
    /// Processes the least unit, and reports what can then be reported.
    fn run(&self, buffer: &mut ReadBuffer, scope: &Scope<'_>) -> Result<(), R::Error> {
        let mut state = self.lock();
        let front = state.front;
        let Some(unit) = state.agenda.take(front) else {
            return Ok(());
        };
        drop(state);
        match unit {
            Unit::Root => self.root(buffer, scope)?,
            Unit::List { site, place } => self.child(&site, place, buffer, scope)?,
            Unit::Stat { site, chunk } => self.chunk(&site, chunk, scope)?,
        }
        self.tell_all(scope)
    }

    fn root(&self, buffer: &mut ReadBuffer, scope: &Scope<'_>) -> Result<(), R::Error> {
        let level = self.root_level.clone();
        let finished = self.list(Box::default(), level, None, buffer, scope)?;
        let mut state = self.lock();
        state.agenda.hold(finished_bytes(&finished));
        state.stage.root_is_finished(finished);
        Ok(())
    }

    fn child(
        &self,
        site: &Arc<Site>,
        place: usize,
        buffer: &mut ReadBuffer,
        scope: &Scope<'_>,
    ) -> Result<(), R::Error> {
        let path = site.path_of(place).into_boxed_slice();
        let level = self.filter.below(&site.level);
        let finished = self.list(path, level, Some(site), buffer, scope)?;
        let mut state = self.lock();
        state.agenda.hold(finished_bytes(&finished));
        state.stage.is_finished(site.node.id, place, finished);
        Ok(())
    }

    /// Lists a directory and publishes the work in it; `None` if it is skipped.
    fn list(
        &self,
        path: Box<[u8]>,
        level: Level,
        parent: Option<&Arc<Site>>,
        buffer: &mut ReadBuffer,
        scope: &Scope<'_>,
    ) -> Result<Option<Finished>, R::Error> {
        let parent = parent.and_then(|site| site.handle.as_deref());
        let opened = scope.operation("open directory", || self.opener.open(&path, parent, false));
        let directory = match opened {
            Ok(Some(directory)) => self.opener.handles.count(directory),
            Ok(None) => return Ok(None),
            Err(error) => {
                self.omit_directory(&path, Operation::Open, error)?;
                return Ok(None);
            }
        };
        let contents = self.read(&path, &directory, buffer, scope)?;
        let Contents { listing, states } = contents;
        let read = self
            .filter
            .read_patterns(&level, &path, &directory, &listing);
        if let Err(error) = read {
            let path = join(&path, crate::gitignore::FILE_NAME);
            self.omit(path, error.operation, error.source)?;
        }
        let items = self.judge(&path, &level, &listing);
        let listed = items.iter().filter(|item| item.is_listed()).count();
        let in_chunks = self.metadata
            && (listed > LARGE
                || listed > 2 * CHUNK && scope.waiting() < BUSY && self.opener.handles.may_keep());
        let states = if self.metadata && !in_chunks {
            Some(self.stat(&path, &directory, &listing, &items, &states, scope)?)
        } else {
            None
        };
        let node = Node::new(self.number(), listing, items, in_chunks);
        let states = states.map(|states| node.in_order(&states));
        let node = Arc::new(node);
        let keeps = self.opener.handles.may_keep();
        let site = Arc::new(Site {
            node: node.clone(),
            path,
            level,
            handle: keeps.then_some(directory),
        });
        let tokens = self.lock().agenda.add(&site);
        scope.spawn_all(repeat_n((), tokens));
        Ok(Some(Finished { node, states }))
    }

    /// Reads a directory completely, and queries the kinds that the listing does not contain.
    fn read(
        &self,
        path: &[u8],
        directory: &OpenDirectory,
        buffer: &mut ReadBuffer,
        scope: &Scope<'_>,
    ) -> Result<Contents, R::Error> {
        let mut listing = Listing::default();
        loop {
            match scope.operation("read directory", || directory.read(buffer, &mut listing)) {
                Ok(true) if !scope.is_cancelled() => {}
                Ok(_) => break,
                Err(error) => {
                    self.omit_directory(path, Operation::List, error)?;
                    break;
                }
            }
        }
        let mut states = Vec::new();
        for number in 0..listing.len() {
            if listing.entries()[number].kind.is_some() {
                continue;
            }
            let name = listing.name_of(number as u32);
            match scope.operation("stat", || directory.stat(name)) {
                Ok(stat) => {
                    states.resize(listing.len(), None);
                    states[number] = Some(stat);
                    listing.entries_mut()[number].kind = Some(stat.kind);
                }
                Err(error) if is_gone(&error) => {}
                Err(error) => self.omit(join(path, name), "stat", error)?,
            }
        }
        Ok(Contents { listing, states })
    }

    /// Decides about the entries. One without a kind is gone, or was already skipped.
    fn judge(&self, path: &[u8], level: &Level, listing: &Listing) -> Vec<Item> {
        let mut full = path.to_vec();
        if !full.is_empty() {
            full.push(b'/');
        }
        let prefix = full.len();
        let mut items = Vec::with_capacity(listing.len());
        for (number, entry) in (0..).zip(listing.entries()) {
            full.truncate(prefix);
            full.extend_from_slice(listing.name(entry));
            if entry.kind.is_some() {
                items.extend(Item::new(
                    number,
                    self.filter.judge(level, &full, entry.kind),
                ));
            }
        }
        items
    }

    /// Stats the entries to be listed; the result is indexed by their number in the listing. They
    /// are statted in listing order: a network file system may have sent their attributes with the
    /// listing.
    fn stat(
        &self,
        path: &[u8],
        directory: &OpenDirectory,
        listing: &Listing,
        items: &[Item],
        known: &[Option<Stat>],
        scope: &Scope<'_>,
    ) -> Result<Vec<Option<Stat>>, R::Error> {
        let mut states = vec![None; listing.len()];
        for item in items.iter().filter(|item| item.is_listed()) {
            let entry = item.entry() as usize;
            states[entry] = match known.get(entry) {
                Some(Some(stat)) => Some(*stat),
                _ => self.stat_one(path, directory, listing.name_of(item.entry()), scope)?,
            };
        }
        Ok(states)
    }

    fn stat_one(
        &self,
        path: &[u8],
        directory: &OpenDirectory,
        name: &[u8],
        scope: &Scope<'_>,
    ) -> Result<Option<Stat>, R::Error> {
        match scope.operation("stat", || directory.stat(name)) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => {
                self.omit(join(path, name), "stat", error)?;
                Ok(None)
            }
        }
    }

    /// Stats a chunk.
    fn chunk(&self, site: &Site, chunk: usize, scope: &Scope<'_>) -> Result<(), R::Error> {
        let node = &site.node;
        let items = node.items().get(node.chunk(chunk));
        let items = items.expect("a chunk is one of its directory");
        let mut states = vec![None; items.len()];
        if let Some(directory) = self.opened_again(site, scope)? {
            for (item, state) in items.iter().zip(&mut states) {
                if item.is_listed() && !scope.is_cancelled() {
                    *state = self.stat_one(&site.path, &directory, node.name(*item), scope)?;
                }
            }
        }
        let states = States::from(states);
        let mut state = self.lock();
        state.agenda.hold(states_bytes(&states));
        state.stage.is_statted(node.id, chunk, states);
        Ok(())
    }

    /// The open directory of a site: reopened if it was closed meanwhile.
    fn opened_again(&self, site: &Site, scope: &Scope<'_>) -> Result<Opened, R::Error> {
        if let Some(handle) = &site.handle {
            return Ok(Some(handle.clone()));
        }
        match scope.operation("open directory", || {
            self.opener.open(&site.path, None, false)
        }) {
            Ok(opened) => Ok(opened.map(|directory| self.opener.handles.count(directory))),
            Err(error) => {
                self.omit_directory(&site.path, Operation::Open, error)?;
                Ok(None)
            }
        }
    }

    /// Reports everything whose turn it is, unless another worker is doing so; and calls back as
    /// many workers as there is then room for.
    fn tell_all(&self, scope: &Scope<'_>) -> Result<(), R::Error> {
        let mut path = Vec::new();
        let mut state = self.lock();
        let mut told = false;
        while !state.telling {
            let (run, released) = match state.stage.next(self.metadata, &mut path) {
                Next::Run(run, released) => (Some(run), released),
                Next::Wait(front, released) => {
                    state.front = front;
                    (None, released)
                }
            };
            state.agenda.release(released);
            let Some(run) = run else {
                break;
            };
            state.telling = true;
            let front = state.front;
            // Workers are called before reporting, so that they work ahead meanwhile.
            let called = state.agenda.call(front);
            drop(state);
            scope.spawn_all(repeat_n((), called));
            self.tell(&run, &mut path)?;
            told = true;
            state = self.lock();
            state.telling = false;
        }
        // The front may have changed; without this call its token could stay parked.
        let front = state.front;
        let called = state.agenda.call(front);
        drop(state);
        scope.spawn_all(repeat_n((), called));
        if told {
            self.receiver.pause(&mut lock(&self.told))
        } else {
            Ok(())
        }
    }

    /// Reports entries of one directory, whose path with a trailing slash is `path`.
    fn tell(&self, run: &Run, path: &mut Vec<u8>) -> Result<(), R::Error> {
        if run.muted {
            return Ok(());
        }
        let prefix = path.len();
        let mut worker = lock(&self.told);
        for place in run.span.clone() {
            let item = &run.node.items()[place];
            if !item.is_listed() {
                continue;
            }
            path.truncate(prefix);
            path.extend_from_slice(run.node.name(*item));
            let state = run.states.as_ref().and_then(|(first, states)| {
                let state = states.get(place.checked_sub(*first)?)?;
                state.as_ref()
            });
            let metadata = match (self.metadata, state) {
                (true, Some(state)) => Some(metadata(state)),
                (true, None) => continue,
                (false, _) => None,
            };
            let kind = state.map(|state| state.kind).or(run.node.kind(*item));
            let Some(kind) = kind.map(node_kind) else {
                continue;
            };
            let entry = Entry {
                path,
                kind,
                metadata: metadata.as_ref(),
            };
            match state {
                Some(state) if self.metadata => self.receiver.statted(&mut worker, entry, state)?,
                _ => self.receiver.entry(&mut worker, entry)?,
            }
        }
        Ok(())
    }

    fn omit_directory(
        &self,
        path: &[u8],
        operation: Operation,
        source: io::Error,
    ) -> Result<(), R::Error> {
        if !path.is_empty() && is_gone(&source) {
            Ok(())
        } else {
            self.omit(path.to_vec(), operation.verb(), source)
        }
    }

    fn omit(
        &self,
        path: Vec<u8>,
        operation: &'static str,
        source: io::Error,
    ) -> Result<(), R::Error> {
        let omission = Omission {
            path,
            operation,
            source,
        };
        self.receiver.omitted(&mut lock(&self.told), omission)
    }

    fn number(&self) -> u64 {
        let mut state = self.lock();
        state.nodes += 1;
        state.nodes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn join(path: &[u8], name: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        name.to_vec()
    } else {
        [path, b"/", name].concat()
    }
}
