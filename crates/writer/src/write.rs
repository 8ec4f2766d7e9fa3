use crate::lane::{LaneWriter, TaskLane};
use crate::{Error, Problem, Sink};
use hedgerow_engine::{run_tasks, Options, Report, Scope};
use hedgerow_fs::{Dir, Stat};
use hedgerow_tree::{split_path, Layout};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// What an entry becomes on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A regular file, permissions 0666 less the umask.
    File,
    /// A regular file, permissions 0777 less the umask.
    Executable,
    /// A symbolic link whose target is the content.
    Symlink,
    /// A directory, empty or as it is.
    Directory,
}

/// One entry that has been dealt with.
#[derive(Debug)]
pub struct Written {
    /// Its row.
    pub row: u32,
    /// Its state on disk right after it was written, or why it was not.
    pub outcome: Result<Stat, Problem>,
}

/// A list of entries to write, and where their content comes from. Rows are positions in the
/// list, which is in ascending byte order of path.
pub trait Plan: Sync {
    /// What a worker keeps from entry to entry: buffers, readers.
    type Worker;

    /// How many entries there are.
    fn count(&self) -> usize;
    /// The path of a row, relative to the root, already checked by [`hedgerow_tree::check_path`].
    fn path(&self, row: u32) -> &[u8];
    /// What the row becomes.
    fn form(&self, row: u32) -> Form;
    /// Whether a file that is in the row's place goes first.
    fn replaces(&self, row: u32) -> bool;
    /// What a new worker starts with.
    fn worker(&self) -> Self::Worker;
    /// Gives the content of a row, which is not a directory, to `sink`.
    fn fill(&self, worker: &mut Self::Worker, row: u32, sink: &mut Sink<'_>)
        -> Result<(), Problem>;

    /// Told from any worker of every entry once, in batches.
    fn written(&self, batch: Vec<Written>);

    /// Rows whose content comes in an order that is not ours, as from one long-running filter:
    /// a lane is run as one task beside the others, and its rows are left out of theirs.
    fn lanes(&self) -> &[Vec<u32>] {
        &[]
    }
    /// The lane a row is in.
    fn in_lane(&self, _row: u32) -> bool {
        false
    }
    /// Writes all rows of a lane.
    fn run_lane(&self, _worker: &mut Self::Worker, _lane: usize, _writer: &mut dyn LaneWriter) {}
}

/// Entries a worker takes at a time from a directory: few, so that a large directory is spread,
/// enough that opening the directory again costs nothing.
const CHUNK_ROWS: usize = 32;

/// Workers that may be in one directory at least. One creates while another waits for the end of
/// its file; a third would only wait for the lock of the directory, and more of them than there
/// are processors have nothing to compute meanwhile.
const MIN_WORKERS_A_DIRECTORY: usize = 2;

pub(crate) enum Task {
    /// Make the directory, publish what is in it. `fresh`: the parent's task has just created it.
    Directory { number: u32, fresh: bool },
    /// Write some more of a directory's rows.
    Rows { directory: u32 },
    /// Run a lane.
    Lane(usize),
}

/// Writes all entries of `plan` below `root`. Entries that fail are told to [`Plan::written`];
/// the others are finished.
pub fn write_tree<P: Plan>(root: &Dir, plan: &P, options: &Options) -> Result<Report, Error> {
    let layout = Layout::new(plan.count(), |row| plan.path(row as u32));
    let mut initial: Vec<Task> = (0..plan.lanes().len()).map(Task::Lane).collect();
    initial.push(Task::Directory {
        number: 0,
        fresh: false,
    });
    let run = TreeWriter {
        root,
        plan,
        layout: &layout,
        taken: layout
            .directories()
            .iter()
            .map(|_| AtomicU32::new(0))
            .collect(),
        workers_a_directory: hedgerow_fs::cpu::available().max(MIN_WORKERS_A_DIRECTORY),
    };
    let work = |worker: &mut P::Worker, task: Task, scope: &Scope<'_, Task>| {
        run.work(worker, task, scope);
        Ok::<(), Infallible>(())
    };
    Ok(run_tasks(options, initial, |_| plan.worker(), work)?)
}

struct TreeWriter<'a, P> {
    root: &'a Dir,
    plan: &'a P,
    layout: &'a Layout,
    /// How many rows of each directory have been taken.
    taken: Vec<AtomicU32>,
    workers_a_directory: usize,
}

impl<P: Plan> TreeWriter<'_, P> {
    fn work(&self, worker: &mut P::Worker, task: Task, scope: &Scope<'_, Task>) {
        match task {
            Task::Directory { number, fresh } => match self.enter(number, fresh) {
                Ok((directory, fresh)) => {
                    self.fill_directory(worker, number, &directory, fresh, scope)
                }
                Err(error) => self.fail_below(number, &error),
            },
            Task::Rows { directory } => {
                let handle = self.root.open_dir(self.directory(directory));
                self.write_chunk(worker, directory, handle.as_ref(), scope);
            }
            Task::Lane(lane) => {
                let mut writer = TaskLane {
                    root: self.root,
                    plan: self.plan,
                    scope,
                };
                self.plan.run_lane(worker, lane, &mut writer);
            }
        }
    }

    /// Opens a directory, creating it if it is not there; says whether it was created.
    fn enter(&self, number: u32, fresh: bool) -> hedgerow_fs::Result<(Dir, bool)> {
        let path = self.directory(number);
        match self.root.open_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && number != 0 => {
                make_directory(self.root, path)?;
                Ok((self.root.open_dir(path)?, true))
            }
            other => Ok((other?, fresh)),
        }
    }

    fn fill_directory(
        &self,
        worker: &mut P::Worker,
        number: u32,
        handle: &Dir,
        fresh: bool,
        scope: &Scope<'_, Task>,
    ) {
        for child in self.layout.children(number) {
            // What is in a directory that existed may exist too: its own task looks first.
            let name = last_component(self.directory(*child));
            let created = fresh && handle.create_dir(name).is_ok();
            scope.spawn_first(Task::Directory {
                number: *child,
                fresh: created,
            });
        }
        let chunks = self.layout.rows(number).len().div_ceil(CHUNK_ROWS);
        for _ in 1..chunks.min(self.workers_a_directory) {
            scope.spawn(Task::Rows { directory: number });
        }
        self.write_chunk(worker, number, Ok(handle), scope);
    }

    /// Writes the next rows of a directory that nobody has taken, and leaves the rest to a task
    /// of their own: others may be more urgent.
    fn write_chunk(
        &self,
        worker: &mut P::Worker,
        directory: u32,
        handle: Result<&Dir, &hedgerow_fs::Error>,
        scope: &Scope<'_, Task>,
    ) {
        let rows = self.layout.rows(directory);
        let taken = &self.taken[directory as usize];
        let start = taken.fetch_add(CHUNK_ROWS as u32, Ordering::Relaxed) as usize;
        let end = (start + CHUNK_ROWS).min(rows.len());
        let Some(chunk) = rows.get(start..end) else {
            return;
        };
        match handle {
            Ok(handle) => self.write_rows(worker, handle, chunk, scope),
            Err(error) => self.fail_rows(chunk, error),
        }
        if end < rows.len() {
            scope.spawn(Task::Rows { directory });
        }
    }

    fn write_rows(
        &self,
        worker: &mut P::Worker,
        handle: &Dir,
        rows: &[u32],
        scope: &Scope<'_, Task>,
    ) {
        let mut batch = Vec::with_capacity(rows.len());
        for row in rows.iter().copied().filter(|row| !self.plan.in_lane(*row)) {
            if scope.is_cancelled() {
                break;
            }
            let outcome = scope.operation(|| self.write_row(worker, handle, row));
            if let Ok(stat) = &outcome {
                scope.add_bytes(stat.size);
            }
            batch.push(Written { row, outcome });
        }
        if !batch.is_empty() {
            self.plan.written(batch);
        }
    }

    fn write_row(&self, worker: &mut P::Worker, handle: &Dir, row: u32) -> Result<Stat, Problem> {
        let place = Place {
            directory: handle,
            name: last_component(self.plan.path(row)),
            replaces: self.plan.replaces(row),
        };
        let fill = |sink: &mut Sink<'_>| self.plan.fill(worker, row, sink);
        write_entry(place, self.plan.form(row), fill)
    }

    fn directory(&self, number: u32) -> &[u8] {
        let directory = &self.layout.directories()[number as usize];
        match directory.path_len as usize {
            0 => b"",
            len => &self.plan.path(directory.witness)[..len],
        }
    }

    /// Tells every row below a directory that could not be made.
    fn fail_below(&self, number: u32, error: &hedgerow_fs::Error) {
        let mut pending = vec![number];
        while let Some(number) = pending.pop() {
            self.fail_rows(self.layout.rows(number), error);
            pending.extend(self.layout.children(number));
        }
    }

    fn fail_rows(&self, rows: &[u32], error: &hedgerow_fs::Error) {
        let fail = |row: &u32| Written {
            row: *row,
            outcome: Err(Problem::Fs(stopped_by(
                error,
                "write",
                self.plan.path(*row),
            ))),
        };
        let rows = rows.iter().filter(|row| !self.plan.in_lane(**row));
        self.plan.written(rows.map(fail).collect());
    }
}

/// Where an entry is written.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The directory that it is in.
    pub directory: &'a Dir,
    /// Its name there.
    pub name: &'a [u8],
    /// Whether a file of that name goes first. It does so when the first of the content is there,
    /// so that content which cannot be had costs no file.
    pub replaces: bool,
}

/// Writes one entry: `fill` gives its content.
pub fn write_entry(
    place: Place<'_>,
    form: Form,
    fill: impl FnOnce(&mut Sink<'_>) -> Result<(), Problem>,
) -> Result<Stat, Problem> {
    if form == Form::Directory {
        place.make_way()?;
        return write_directory(place.directory, place.name);
    }
    let mut sink = Sink::new(place, form);
    match fill(&mut sink) {
        Ok(()) => sink.finish(),
        Err(problem) => {
            sink.abandon();
            Err(problem)
        }
    }
}

impl Place<'_> {
    /// Removes the file that an entry replaces. It is created anew rather than written over: its
    /// permissions come from the umask again, and other links to the old file keep their content.
    pub(crate) fn make_way(&self) -> Result<(), Problem> {
        if !self.replaces {
            return Ok(());
        }
        match self.directory.remove_file(self.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn write_directory(directory: &Dir, name: &[u8]) -> Result<Stat, Problem> {
    let created = directory.create_dir(name);
    let stat = match &created {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(
                hedgerow_fs::Error::new(error.operation, &error.path, reason_again(error)).into(),
            );
        }
        _ => directory.stat(name)?,
    };
    match stat.kind {
        hedgerow_fs::FileKind::Directory => Ok(stat),
        _ => Err(Problem::Collided),
    }
}

/// Creates the directory `path` below `root`, and those above it that are missing. One that
/// another worker creates meanwhile is as good.
pub(crate) fn make_directory(root: &Dir, path: &[u8]) -> hedgerow_fs::Result<()> {
    let (parent, name) = split_path(path);
    let handle = match root.open_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !parent.is_empty() => {
            make_directory(root, parent)?;
            root.open_dir(parent)?
        }
        other => other?,
    };
    match handle.create_dir(name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn last_component(path: &[u8]) -> &[u8] {
    split_path(path).1
}

/// What an error with a directory means for an entry below: it cannot be written or removed, for
/// the same reason.
pub(crate) fn stopped_by(
    error: &hedgerow_fs::Error,
    operation: &'static str,
    path: &[u8],
) -> hedgerow_fs::Error {
    hedgerow_fs::Error::new(operation, OsStr::from_bytes(path), reason_again(error))
}

fn reason_again(error: &hedgerow_fs::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.source.to_string()),
    }
}
