//! Lists directories ahead of a reader who goes through a tree depth first.

mod agenda;
mod contents;
mod pace;

use crate::handles::{Handle, Handles};
use agenda::{Agenda, Known, Site, Unit};
use contents::Scratch;
use hedgerow_engine::{run_tasks, CancelToken, Execution, Failure};
use hedgerow_fs::{threads, FileKind, OpenDirectory};
use pace::Pace;
use std::ffi::OsStr;
use std::io;
use std::iter::repeat_n;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use contents::Contents;

/// Size of what may be listed ahead, in bytes.
const BUDGET_BYTES: usize = 32 << 20;
/// Maximum number of directories kept open: the process is not ours.
const HANDLES_LIMIT: usize = 128;
/// Maximum number of tokens put into a run at once.
const TOKENS_AT_ONCE: usize = 256;
/// How long the reader lists directories alone where threads took what it needed, or could not start.
const SHORTAGE_TIME: Duration = Duration::from_secs(1);
/// How often a waiting reader is asked whether it was interrupted.
const POLL_TIME: Duration = Duration::from_millis(20);

/// The place of a directory in the tree: from the root down, which of the subdirectories that are
/// listed ahead ([`Contents::entered`]) leads to it. The root's is empty.
pub type Position = Vec<u32>;

/// How directories are listed ahead.
#[derive(Clone, Debug)]
pub struct AheadOptions {
    /// How to run; its cancellation is not used.
    pub execution: Execution,
    /// Enters links to directories.
    pub follow_links: bool,
    /// A directory that became a link since it was listed is not entered.
    pub skip_new_links: bool,
    /// Threads start when the reader has listed directories for this long, or when those that wait would
    /// take it longer: a small tree is listed before they could help.
    pub alone: Duration,
}

impl Default for AheadOptions {
    /// The reader is alone for two milliseconds; links are not followed.
    fn default() -> Self {
        AheadOptions {
            execution: Execution::default(),
            follow_links: false,
            skip_new_links: false,
            alone: Duration::from_millis(2),
        }
    }
}

/// Lists directories ahead of a reader who goes through a tree depth first, in the order of the
/// file system, and may leave out parts.
///
/// A reader who [enters](Ahead::enter) a directory gets what a listing at that moment would give: a
/// directory that was listed ahead is statted, and is listed again if it is another one or has
/// changed since.
///
/// What is needed next is listed first, by as many threads as the file system needs; at most 32 MiB
/// of entries are held. There are threads only while there is something to list and room for it.
///
/// ```
/// use hedgerow_walk::{Ahead, AheadOptions, Entered};
/// use std::path::Path;
///
/// let top = Path::new(env!("CARGO_MANIFEST_DIR"));
/// let ahead = Ahead::new(AheadOptions::default());
/// let Entered::Contents(contents) = ahead.enter(&vec![], top, &|| false) else {
///     panic!("it cannot be listed");
/// };
/// assert_eq!(contents.entered_name(0).is_some(), !contents.directories().is_empty());
/// ```
#[derive(Debug)]
pub struct Ahead {
    shared: Arc<Shared>,
    run: Mutex<Option<Run>>,
}

#[derive(Debug)]
struct Run {
    thread: JoinHandle<()>,
    cancel: CancelToken,
}

/// What a reader finds.
#[derive(Debug)]
pub enum Entered {
    /// The entries of the directory.
    Contents(Arc<Contents>),
    /// A link, which is not to be followed.
    Link,
    /// The directory cannot be listed.
    Failed(io::Error),
    /// The reader was interrupted while it waited.
    Interrupted,
}

#[derive(Debug)]
struct Shared {
    options: AheadOptions,
    /// Whether the reader goes through the names of each directory in their order.
    is_sorted: AtomicBool,
    handles: Handles,
    /// How long listing a directory takes, of late.
    pace: Pace,
    state: Mutex<State>,
    /// Something was finished, or a run has ended.
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    agenda: Agenda,
    /// Tokens in the run; each lists one directory.
    tokens: usize,
    /// Whether a run is going on.
    is_running: bool,
    /// Whether none may start.
    is_stopped: bool,
    /// Until when none may start, and no directory is kept open.
    alone_until: Option<Instant>,
    /// The directory that the reader waits for.
    awaited: Option<Position>,
}

impl Ahead {
    /// For a reader of one tree. Nothing is listed before its root is entered.
    pub fn new(options: AheadOptions) -> Self {
        let shared = Shared {
            options,
            is_sorted: AtomicBool::new(false),
            handles: Handles::with_limit(HANDLES_LIMIT),
            pace: Pace::default(),
            state: Mutex::new(State {
                agenda: Agenda::new(),
                tokens: 0,
                is_running: false,
                is_stopped: false,
                alone_until: None,
                awaited: None,
            }),
            changed: Condvar::new(),
        };
        Ahead {
            shared: Arc::new(shared),
            run: Mutex::default(),
        }
    }

    /// The contents of the directory at `path`, whose place in the tree is `position`. While the
    /// reader waits for a thread that lists it, `is_interrupted` is asked.
    pub fn enter(
        &self,
        position: &Position,
        path: &Path,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Entered {
        let Some(known) = self.shared.taken(position, is_interrupted) else {
            return Entered::Interrupted;
        };
        self.start_if_due();
        let shared = &self.shared;
        let is_root = position.is_empty();
        let now = if is_root {
            None
        } else {
            hedgerow_fs::identity(path, shared.options.follow_links).ok()
        };
        let is_link = now.is_some_and(|now| now.kind == FileKind::Symlink);
        if is_link && shared.options.skip_new_links {
            shared.lock().agenda.forget_below(position);
            return Entered::Link;
        }
        match (known, now) {
            (Some(contents), Some(now)) if contents.is_of(&now) => Entered::Contents(contents),
            _ => {
                if !is_root {
                    shared.lock().agenda.forget_below(position);
                }
                self.with_descriptors(|| shared.list_now(position, path))
            }
        }
    }

    /// Lists a directory whose place in the tree is unknown, with nothing ahead.
    pub fn enter_unknown(&self, path: &Path) -> Entered {
        let options = &self.shared.options;
        let now = hedgerow_fs::identity(path, false).ok();
        let is_link = now.is_some_and(|now| now.kind == FileKind::Symlink);
        if is_link && options.skip_new_links {
            return Entered::Link;
        }
        self.with_descriptors(|| {
            let read = OpenDirectory::open(path).and_then(|directory| {
                let scratch = &mut Scratch::default();
                Contents::read(&directory, path, scratch, options.follow_links, || false)
            });
            match read {
                Ok(contents) => Entered::Contents(Arc::new(contents.expect("it is not cancelled"))),
                Err(error) => Entered::Failed(error),
            }
        })
    }

    /// Lists a directory in the reader's thread. If there are no descriptors for that, ours may be the ones
    /// that are missing: they are given back, and it is tried again.
    fn with_descriptors(&self, list: impl Fn() -> Entered) -> Entered {
        match list() {
            Entered::Failed(error) if is_of_descriptors(&error) => {
                let mut state = self.shared.lock();
                state.alone_until = Some(Instant::now() + SHORTAGE_TIME);
                state.agenda.close_directories();
                drop(state);
                self.end_run();
                // What the threads have added meanwhile.
                self.shared.lock().agenda.close_directories();
                list()
            }
            listed => listed,
        }
    }

    /// The reader goes through the names of each directory in their order, not in the file system's: lists
    /// ahead in that order from now on. `contents` are those of the root at `path`; returns them in that
    /// order.
    pub fn expect_sorted(&self, path: &Path, contents: &Contents) -> Arc<Contents> {
        let shared = &self.shared;
        shared.is_sorted.store(true, Ordering::Relaxed);
        let sorted = Arc::new(contents.sorted());
        let site = Site {
            position: Vec::new(),
            path: path.as_os_str().as_bytes().to_vec(),
            contents: sorted.clone(),
            handle: None,
        };
        let mut state = shared.lock();
        state.agenda.forget_below(&Vec::new());
        state.agenda.add(Arc::new(site));
        sorted
    }

    /// The reader will not enter the directory at `position`, nor what is below.
    pub fn forget(&self, position: &Position) {
        self.shared.lock().agenda.forget(position);
    }

    /// The reader will enter nothing more below the directory at `position`.
    pub fn forget_below(&self, position: &Position) {
        self.shared.lock().agenda.forget_below(position);
    }

    /// Ends all threads, after their current calls; no more are started before
    /// [`resume`](Ahead::resume). What was listed stays, and the reader may go on without them.
    pub fn stop(&self) {
        self.shared.lock().is_stopped = true;
        self.end_run();
    }

    /// Ends the threads that there are, after their current calls.
    fn end_run(&self) {
        let run = lock(&self.run).take();
        if let Some(run) = run {
            run.cancel.cancel();
            // Its panic was told to nobody who waits: what it did not list, the reader lists.
            let _ = run.thread.join();
        }
    }

    /// Threads may start again.
    pub fn resume(&self) {
        self.shared.lock().is_stopped = false;
    }

    /// The same in the child of a fork before which it was [stopped](Ahead::stop), and which no reader
    /// in another thread is in: such a reader does not exist in the child, and what it has locked
    /// stays locked there. Nothing waits for it, and this may not be entered.
    pub fn resume_in_child(&self) {
        if let Ok(mut state) = self.shared.state.try_lock() {
            state.is_stopped = false;
        }
    }

    fn start_if_due(&self) {
        let mut run = lock(&self.run);
        let mut state = self.shared.lock();
        let is_idle = !state.is_running && !state.is_stopped && !state.is_reader_alone();
        let agenda = &state.agenda;
        let has_room = agenda.held() < BUDGET_BYTES / 2;
        if !is_idle || !has_room || !self.shared.is_worth_threads(agenda.units()) {
            return;
        }
        let tokens = agenda.units().min(TOKENS_AT_ONCE);
        state.tokens = tokens;
        state.is_running = true;
        drop(state);
        if let Some(ended) = run.take() {
            let _ = ended.thread.join();
        }
        let cancel = CancelToken::default();
        let (shared, token) = (self.shared.clone(), cancel.clone());
        match threads::start("walk-0", move || shared.run(tokens, token)) {
            Ok(thread) => *run = Some(Run { thread, cancel }),
            // Without threads, the reader lists everything.
            Err(_) => {
                let mut state = self.shared.lock();
                state.is_running = false;
                state.alone_until = Some(Instant::now() + SHORTAGE_TIME);
            }
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.stop();
    }
}

impl State {
    /// Whether there was too little for threads, of late.
    fn is_reader_alone(&mut self) -> bool {
        let is_alone = self.alone_until.is_some_and(|end| Instant::now() < end);
        if !is_alone {
            self.alone_until = None;
        }
        is_alone
    }
}

/// Whether a call failed because there are no more descriptors, for this process or at all.
fn is_of_descriptors(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

type Scope<'s> = hedgerow_engine::Scope<'s, ()>;

impl Shared {
    fn is_worth_threads(&self, waiting: usize) -> bool {
        self.pace.is_worth_threads(waiting, self.options.alone)
    }

    /// What is known about a directory that the reader comes to; `None` if it was interrupted.
    fn taken(
        &self,
        position: &Position,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Option<Option<Arc<Contents>>> {
        let mut state = self.lock();
        let mut patience = self.pace.patience();
        loop {
            match state.agenda.take(position) {
                Known::Finished(contents) => return Some(contents),
                Known::Nothing => return Some(None),
                Known::Running => {}
            }
            let time = patience.map_or(POLL_TIME, |left| left.min(POLL_TIME));
            state.awaited = Some(position.clone());
            let waited = self.changed.wait_timeout(state, time);
            let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.awaited = None;
            if timeout.timed_out() {
                patience = patience.map(|left| left.saturating_sub(time));
                if patience.is_some_and(|left| left.is_zero()) {
                    // What the thread finds is not kept.
                    let known = state.agenda.take(position);
                    state.agenda.forget(position);
                    return Some(known.into_contents());
                }
                drop(state);
                if is_interrupted() {
                    return None;
                }
                state = self.lock();
            }
        }
    }

    /// Lists a directory in the reader's thread.
    fn list_now(&self, position: &Position, path: &Path) -> Entered {
        let started = Instant::now();
        let opened = OpenDirectory::open(path).map(|directory| self.handles.count(directory));
        let read = opened.and_then(|directory| {
            let scratch = &mut Scratch::default();
            let follow = self.options.follow_links;
            let contents = Contents::read(&directory, path, scratch, follow, || false)?;
            let contents = contents.expect("it is not cancelled");
            Ok((directory, self.in_order(contents)))
        });
        self.pace.add_of_reader(started.elapsed());
        match read {
            Ok((directory, contents)) => {
                let contents = Arc::new(contents);
                let path = path.as_os_str().as_bytes().to_vec();
                let mut state = self.lock();
                let may_keep = !state.is_reader_alone();
                let site = self.site(
                    position.clone(),
                    path,
                    directory,
                    contents.clone(),
                    may_keep,
                );
                state.agenda.add(site);
                drop(state);
                Entered::Contents(contents)
            }
            Err(error) => Entered::Failed(error),
        }
    }

    fn site(
        &self,
        position: Position,
        path: Vec<u8>,
        directory: Arc<Handle>,
        contents: Arc<Contents>,
        may_keep: bool,
    ) -> Arc<Site> {
        let may_keep = may_keep && self.handles.may_keep();
        Arc::new(Site {
            position,
            path,
            handle: may_keep.then_some(directory),
            contents,
        })
    }

    /// Lists directories until none waits, or there is no room for more.
    fn run(&self, tokens: usize, cancel: CancelToken) {
        let mut options = self.options.execution.options("walk");
        options.cancel = cancel;
        let scratch = |_| Scratch::default();
        let ran: Result<_, Failure<()>> =
            run_tasks(&options, vec![(); tokens], scratch, |scratch, (), scope| {
                self.work(scratch, scope);
                Ok(())
            });
        let mut state = self.lock();
        if ran.is_err() {
            state.agenda.abandon();
        }
        state.is_running = false;
        drop(state);
        self.changed.notify_all();
    }

    /// Lists the first directory that waits.
    fn work(&self, scratch: &mut Scratch, scope: &Scope<'_>) {
        let mut state = self.lock();
        state.tokens -= 1;
        if state.agenda.held() >= BUDGET_BYTES {
            return;
        }
        let Some(unit) = state.agenda.begin_first() else {
            return;
        };
        drop(state);
        let position = [&unit.site.position[..], &[unit.index]].concat();
        let started = Instant::now();
        let listed = self.list(&unit, scratch, scope);
        self.pace.add(started.elapsed());
        let mut state = self.lock();
        if !state.agenda.end(&position) {
            return;
        }
        let is_awaited = state.awaited.as_ref() == Some(&position);
        match listed {
            Ok(Some((path, directory, contents))) => {
                state.agenda.keep(position.clone(), Some(contents.clone()));
                let may_keep = !state.is_reader_alone();
                let site = self.site(position, path, directory, contents, may_keep);
                state.agenda.add(site);
            }
            Ok(None) => {}
            Err(_) => state.agenda.keep(position, None),
        }
        let missing = state.agenda.units().saturating_sub(state.tokens);
        let missing = missing.min(TOKENS_AT_ONCE);
        state.tokens += missing;
        drop(state);
        if is_awaited {
            self.changed.notify_all();
        }
        scope.spawn_all(repeat_n((), missing));
    }

    /// Lists a directory; `None` if the run is cancelled. Its error does not matter: the reader
    /// tries again.
    fn list(&self, unit: &Unit, scratch: &mut Scratch, scope: &Scope<'_>) -> io::Result<Listed> {
        let name = unit.site.contents.entered_name(unit.index);
        let name = name.expect("the index is one of its directory");
        let mut path = unit.site.path.clone();
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        let open = || match &unit.site.handle {
            Some(parent) if !self.options.follow_links => parent.open(name, false),
            _ => OpenDirectory::open(&PathBuf::from(std::ffi::OsString::from_vec(path.clone()))),
        };
        let directory = scope.operation("open directory", open)?;
        let directory = self.handles.count(directory);
        let contents = scope.operation("read directory", || {
            let follow = self.options.follow_links;
            let path = Path::new(OsStr::from_bytes(&path));
            Contents::read(&directory, path, scratch, follow, || scope.is_cancelled())
        })?;
        Ok(contents.map(|contents| (path, directory, Arc::new(self.in_order(contents)))))
    }

    fn in_order(&self, mut contents: Contents) -> Contents {
        if self.is_sorted.load(Ordering::Relaxed) {
            contents.sort();
        }
        contents
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

type Listed = Option<(Vec<u8>, Arc<Handle>, Arc<Contents>)>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
