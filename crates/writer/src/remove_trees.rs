//! Removes whole trees: every directory is listed, its files are removed, and it is removed itself
//! once it is empty; many directories at a time.

use crate::Error;
use hedgerow_engine::{directories_to_keep, run_tasks, Options, Report, Scope};
use hedgerow_fs::{FileKind, Listing, OpenDirectory, ReadBuffer};
use hedgerow_tree::split_path;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is to be removed: files, and directories with all that is in them.
pub trait TreeRemoval: Sync {
    /// Number of things to remove.
    fn count(&self) -> usize;
    /// The path of one, relative to the root, without a slash at its end.
    fn path(&self, number: usize) -> &[u8];
    /// Whether it is a directory.
    fn is_directory(&self, number: usize) -> bool;
    /// Whether the directory `path` is kept with all that is in it. It is asked for each directory
    /// before anything in it is removed; `listing` is `None` if it cannot be listed.
    fn keeps(&self, path: &[u8], listing: Option<&Listing>) -> bool;
    /// A directory that is kept even if it becomes empty: the user's current directory.
    fn current_directory(&self) -> Option<&[u8]>;
    /// Nothing is removed: only what would happen is found out.
    fn is_dry_run(&self) -> bool;
}

/// What happened to one of the things to remove.
#[derive(Debug, Default)]
pub struct RemovedTree {
    /// Nothing of it is left.
    pub is_gone: bool,
    /// What happened in it, if something is left; directory by directory, in the file system's
    /// order, with what a directory holds before the directory.
    pub events: Vec<RemovalEvent>,
}

/// What happened to a path in a tree of which something is left.
#[derive(Debug)]
pub enum RemovalEvent {
    /// It was removed, with all that was in it.
    Removed(Vec<u8>),
    /// It could not be removed.
    Failed(Vec<u8>, io::Error),
    /// It could not be examined, and neither could the rest of its directory.
    Unknown(Vec<u8>, io::Error),
    /// It was kept with all that is in it.
    Kept(Vec<u8>),
    /// It is empty and kept, because it is the current directory.
    CurrentDirectory,
}

/// The results of a removal.
#[derive(Debug)]
pub struct RemovedTrees {
    /// One for each of the things to remove; `None` if it did not exist, or if the removal was
    /// cancelled before it was done with it.
    pub trees: Vec<Option<RemovedTree>>,
    /// The directories, among all that were not kept, whose entries could not be listed, or not all
    /// of them; in no order. Those that somebody else removed are not among them.
    pub unlisted: Vec<Unlisted>,
    /// How the run went, or why it ended early.
    pub ended: Result<Report, Error>,
}

/// A directory whose entries could not be listed.
#[derive(Debug)]
pub struct Unlisted {
    /// Its path, relative to the root, without a slash at its end.
    pub path: Vec<u8>,
    /// Whether it was opened, and reading failed.
    pub is_open: bool,
    /// Why.
    pub error: io::Error,
}

/// While more tasks than this wait, directories are entered depth first, to limit new tasks.
const BREADTH_LIMIT: usize = 1024;
/// Maximum number of directories kept open for the directories in them.
const KEPT_LIMIT: usize = 1024;

/// Removes everything that `removal` names below the directory `root`. Symbolic links are removed
/// and never followed: what is reached only through one is left, and reported as failed.
pub fn remove_trees<R: TreeRemoval>(
    root: &Path,
    removal: &R,
    options: &Options,
) -> io::Result<RemovedTrees> {
    let remover = Remover {
        root: OpenDirectory::open(root)?,
        removal,
        trees: (0..removal.count()).map(|_| Mutex::default()).collect(),
        unlisted: Mutex::default(),
        kept: AtomicUsize::new(0),
        kept_limit: directories_to_keep().min(KEPT_LIMIT),
    };
    let worker = |_| ReadBuffer::default();
    let work = |buffer: &mut ReadBuffer, task: Task, scope: &Scope<'_, Task>| {
        remover.work(buffer, task, scope);
        Ok::<(), Infallible>(())
    };
    let ended = run_tasks(options, initial(removal), worker, work);
    fn inner<T>(mutex: Mutex<T>) -> T {
        mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
    Ok(RemovedTrees {
        trees: remover.trees.into_iter().map(inner).collect(),
        unlisted: inner(remover.unlisted),
        ended: ended.map_err(Error::from),
    })
}

enum Task {
    /// Files, all in one directory.
    Files(Vec<usize>),
    /// A directory to empty and to remove.
    Directory(Arc<Node>),
    /// A directory in which nothing remains to be done: removes it and tells the one above.
    Emptied(Arc<Node>),
}

/// A directory that is being removed.
struct Node {
    path: Box<[u8]>,
    above: Above,
    /// The directories in it that are not done yet, plus one for itself.
    pending: AtomicUsize,
    state: Mutex<State>,
}

/// Whom to tell when a directory is done.
enum Above {
    /// It is one of the things to remove.
    Tree(usize),
    /// It is the entry of that number in this directory.
    Directory(Arc<Node>, usize),
}

#[derive(Default)]
struct State {
    /// The directory, while directories in it are to be removed.
    handle: Option<Arc<OpenDirectory>>,
    /// Its entries; none before it was listed.
    listing: Option<Arc<Listing>>,
    /// What became of them.
    entries: Vec<EntryState>,
    /// The reason why nothing more was done in it.
    stopped: Option<RemovalEvent>,
    /// Whether it could not be listed and is only removed if it is empty.
    is_unlisted: bool,
    is_kept: bool,
}

/// What became of an entry.
enum EntryState {
    Pending,
    Gone,
    /// Nothing was to be done, because somebody else removed it.
    Vanished,
    Left(Vec<RemovalEvent>),
}

/// Files are grouped by directory: removals in one directory cannot overlap.
fn initial<R: TreeRemoval>(removal: &R) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut files: Vec<usize> = Vec::new();
    let directory = |number: usize| split_path(removal.path(number)).0;
    for number in 0..removal.count() {
        if removal.is_directory(number) {
            let node = Node::new(removal.path(number).into(), Above::Tree(number));
            tasks.push(Task::Directory(Arc::new(node)));
            continue;
        }
        if files
            .last()
            .is_some_and(|last| directory(*last) != directory(number))
        {
            tasks.push(Task::Files(std::mem::take(&mut files)));
        }
        files.push(number);
    }
    if !files.is_empty() {
        tasks.push(Task::Files(files));
    }
    tasks
}

struct Remover<'a, R> {
    root: OpenDirectory,
    removal: &'a R,
    trees: Vec<Mutex<Option<RemovedTree>>>,
    unlisted: Mutex<Vec<Unlisted>>,
    /// Number of directories kept open.
    kept: AtomicUsize,
    kept_limit: usize,
}

impl<R: TreeRemoval> Remover<'_, R> {
    fn work(&self, buffer: &mut ReadBuffer, task: Task, scope: &Scope<'_, Task>) {
        match task {
            Task::Files(numbers) => self.files(&numbers, scope),
            Task::Directory(node) => self.directory(buffer, &node, scope),
            Task::Emptied(node) => self.emptied(&node, scope),
        }
    }

    fn files(&self, numbers: &[usize], scope: &Scope<'_, Task>) {
        let Some(first) = numbers.first() else {
            return;
        };
        let parent = split_path(self.removal.path(*first)).0;
        let handle = if self.removal.is_dry_run() {
            None
        } else {
            Some(self.root.open_below(parent))
        };
        for number in numbers {
            if scope.is_cancelled() {
                return;
            }
            let path = self.removal.path(*number);
            let outcome = match &handle {
                None => Ok(()),
                Some(Ok(handle)) => {
                    scope.operation("remove file", || handle.remove_file(split_path(path).1))
                }
                Some(Err(error)) => Err(same(error)),
            };
            let tree = match outcome {
                Ok(()) => RemovedTree {
                    is_gone: true,
                    events: Vec::new(),
                },
                Err(error) if is_gone(&error) => continue,
                Err(error) => RemovedTree {
                    is_gone: false,
                    events: vec![RemovalEvent::Failed(path.into(), error)],
                },
            };
            *lock(&self.trees[*number]) = Some(tree);
        }
    }

    /// Lists a directory, starts on the directories in it, and removes its files meanwhile.
    fn directory(&self, buffer: &mut ReadBuffer, node: &Arc<Node>, scope: &Scope<'_, Task>) {
        if scope.is_cancelled() {
            return;
        }
        let opened = scope.operation("open directory", || self.open(node));
        let mut listing = Listing::default();
        let handle = match opened {
            Ok(handle) => Arc::new(handle),
            Err(error) => return self.not_opened(node, error, scope),
        };
        let mut unread = None;
        while unread.is_none() {
            match scope.operation("read directory", || handle.read(buffer, &mut listing)) {
                Ok(true) => {}
                Ok(false) => break,
                // What was listed is removed; then the directory is not empty.
                Err(error) => unread = Some(error),
            }
            if scope.is_cancelled() {
                return;
            }
        }
        if self.removal.keeps(&node.path, Some(&listing)) {
            node.lock().is_kept = true;
            return self.one_less(node, scope);
        }
        if let Some(error) = unread {
            self.not_listed(node, true, error);
        }
        let listing = Arc::new(listing);
        let (inner, files) = self.examine(node, &handle, &listing, scope);
        node.pending.fetch_add(inner.len(), Ordering::AcqRel);
        if !inner.is_empty() && self.kept.fetch_add(1, Ordering::Relaxed) < self.kept_limit {
            node.lock().handle = Some(handle.clone());
        } else if !inner.is_empty() {
            self.kept.fetch_sub(1, Ordering::Relaxed);
        }
        if scope.waiting() > BREADTH_LIMIT {
            scope.spawn_all_next(inner.into_iter().map(Task::Directory));
        } else {
            scope.spawn_all(inner.into_iter().map(Task::Directory));
        }
        self.remove_files(node, &handle, (&listing, &files), scope);
        self.one_less(node, scope);
    }

    /// Opens a directory below the one above if that is still open, else below the root; never
    /// through a link.
    fn open(&self, node: &Node) -> io::Result<OpenDirectory> {
        match node.handle_above() {
            Some(handle) => handle.open_below(split_path(&node.path).1),
            None => self.root.open_below(&node.path),
        }
    }

    /// The directories in a listed directory, which are pending until they are removed, and the
    /// numbers of its other entries.
    fn examine(
        &self,
        node: &Arc<Node>,
        handle: &OpenDirectory,
        listing: &Arc<Listing>,
        scope: &Scope<'_, Task>,
    ) -> (Vec<Arc<Node>>, Vec<u32>) {
        let (mut inner, mut files) = (Vec::new(), Vec::new());
        let mut state = node.lock();
        state.listing = Some(listing.clone());
        state.entries.reserve_exact(listing.len());
        for (number, entry) in listing.entries().iter().enumerate() {
            let name = listing.name(entry);
            let kind = match entry.kind {
                Some(kind) => Ok(kind),
                None => scope
                    .operation("stat", || handle.stat(name))
                    .map(|stat| stat.kind),
            };
            match kind {
                Ok(FileKind::Directory) => {
                    let above = Above::Directory(node.clone(), number);
                    let path = join(&node.path, name);
                    inner.push(Arc::new(Node::new(path, above)));
                    state.entries.push(EntryState::Pending);
                }
                Ok(_) => {
                    files.push(number as u32);
                    state.entries.push(EntryState::Gone);
                }
                Err(error) if is_gone(&error) => state.entries.push(EntryState::Vanished),
                Err(error) => {
                    let path = join(&node.path, name).into_vec();
                    state.stopped = Some(RemovalEvent::Unknown(path, error));
                    break;
                }
            }
        }
        (inner, files)
    }

    /// Removes the files of a directory; those that remain are noted.
    fn remove_files(
        &self,
        node: &Node,
        handle: &OpenDirectory,
        (listing, files): (&Listing, &[u32]),
        scope: &Scope<'_, Task>,
    ) {
        if self.removal.is_dry_run() {
            return;
        }
        for number in files {
            let name = listing.name_of(*number);
            let outcome = if scope.is_cancelled() {
                Err(io::ErrorKind::Interrupted.into())
            } else {
                scope.operation("remove file", || handle.remove_file(name))
            };
            let left = match outcome {
                Ok(()) => continue,
                Err(error) if is_gone(&error) => EntryState::Vanished,
                Err(error) => {
                    let path = join(&node.path, name).into_vec();
                    EntryState::Left(vec![RemovalEvent::Failed(path, error)])
                }
            };
            node.lock().entries[*number as usize] = left;
        }
    }

    /// A directory that cannot be listed can still be removed if it is empty.
    fn not_opened(&self, node: &Arc<Node>, error: io::Error, scope: &Scope<'_, Task>) {
        if is_gone(&error) {
            return self.tell(node, EntryState::Vanished, scope);
        }
        if error.kind() != io::ErrorKind::PermissionDenied {
            self.not_listed(node, false, same(&error));
            let event = RemovalEvent::Failed(node.path.to_vec(), error);
            return self.tell(node, EntryState::Left(vec![event]), scope);
        }
        let mut state = node.lock();
        state.is_kept = self.removal.keeps(&node.path, None);
        state.is_unlisted = true;
        if !state.is_kept {
            self.not_listed(node, false, error);
        }
        drop(state);
        self.one_less(node, scope);
    }

    fn not_listed(&self, node: &Node, is_open: bool, error: io::Error) {
        lock(&self.unlisted).push(Unlisted {
            path: node.path.to_vec(),
            is_open,
            error,
        });
    }

    fn one_less(&self, node: &Arc<Node>, scope: &Scope<'_, Task>) {
        if node.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            scope.spawn_first(Task::Emptied(node.clone()));
        }
    }

    /// Removes a directory if nothing is left in it, and tells the one above what became of it.
    fn emptied(&self, node: &Arc<Node>, scope: &Scope<'_, Task>) {
        let mut state = node.lock();
        if state.handle.take().is_some() {
            self.kept.fetch_sub(1, Ordering::Relaxed);
        }
        let state = std::mem::take(&mut *state);
        let outcome = self.outcome(node, state, scope);
        self.tell(node, outcome, scope);
    }

    fn outcome(&self, node: &Node, state: State, scope: &Scope<'_, Task>) -> EntryState {
        if state.is_kept {
            return EntryState::Left(vec![RemovalEvent::Kept(node.path.to_vec())]);
        }
        let mut events = Vec::new();
        let mut removed = Vec::new();
        let mut is_empty = state.stopped.is_none();
        for (number, entry) in (0..).zip(state.entries) {
            match entry {
                EntryState::Gone => removed.push(number),
                EntryState::Vanished => {}
                EntryState::Left(left) => {
                    events.extend(left);
                    is_empty = false;
                }
                EntryState::Pending => is_empty = false,
            }
        }
        events.extend(state.stopped);
        let is_current = self.removal.current_directory() == Some(&*node.path);
        if is_empty && is_current && !state.is_unlisted {
            events.push(RemovalEvent::CurrentDirectory);
        } else if is_empty {
            match self.remove_directory(node, scope) {
                Ok(()) => return EntryState::Gone,
                Err(error) if is_gone(&error) => return EntryState::Vanished,
                Err(error) => events.push(RemovalEvent::Failed(node.path.to_vec(), error)),
            }
        }
        if let Some(listing) = state.listing {
            let path = |number| join(&node.path, listing.name_of(number)).into_vec();
            events.extend(removed.into_iter().map(path).map(RemovalEvent::Removed));
        }
        EntryState::Left(events)
    }

    fn remove_directory(&self, node: &Node, scope: &Scope<'_, Task>) -> io::Result<()> {
        if self.removal.is_dry_run() {
            return Ok(());
        }
        let (parent, name) = split_path(&node.path);
        match node.handle_above() {
            Some(handle) => scope.operation("remove directory", || handle.remove_dir(name)),
            None => {
                let parent = self.root.open_below(parent)?;
                scope.operation("remove directory", || parent.remove_dir(name))
            }
        }
    }

    fn tell(&self, node: &Arc<Node>, outcome: EntryState, scope: &Scope<'_, Task>) {
        match &node.above {
            Above::Directory(above, number) => {
                above.lock().entries[*number] = outcome;
                self.one_less(above, scope);
            }
            Above::Tree(number) => {
                *lock(&self.trees[*number]) = match outcome {
                    EntryState::Vanished | EntryState::Pending => None,
                    EntryState::Gone => Some(RemovedTree {
                        is_gone: true,
                        events: Vec::new(),
                    }),
                    EntryState::Left(events) => Some(RemovedTree {
                        is_gone: false,
                        events,
                    }),
                };
            }
        }
    }
}

impl Node {
    fn new(path: Box<[u8]>, above: Above) -> Self {
        Node {
            path,
            above,
            pending: AtomicUsize::new(1),
            state: Mutex::default(),
        }
    }

    /// The directory above, if it is open.
    fn handle_above(&self) -> Option<Arc<OpenDirectory>> {
        match &self.above {
            Above::Directory(above, _) => above.lock().handle.clone(),
            Above::Tree(_) => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn join(directory: &[u8], name: &[u8]) -> Box<[u8]> {
    [directory, b"/", name].concat().into()
}

/// Whether somebody else removed it.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The same error for another path.
fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => error.kind().into(),
    }
}
