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

/// What kind of file an entry becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A regular file, permissions 0666 less the umask.
    File,
    /// A regular file, permissions 0777 less the umask.
    Executable,
    /// A symbolic link whose target is the content.
    Symlink,
    /// A directory; an existing one stays as it is.
    Directory,
}

/// The result for an entry.
#[derive(Debug)]
pub struct Written {
    /// Its row.
    pub row: u32,
    /// Its stat data right after it was written, or why it was not written.
    pub outcome: Result<Stat, Problem>,
}

/// A list of entries to write, and the source of their contents. The list is in ascending byte
/// order of paths; rows are indexes in it.
pub trait Plan: Sync {
    /// The state of a worker, such as buffers and readers.
    type Worker;

    /// Number of entries.
    fn count(&self) -> usize;
    /// The path of a row, relative to the root, already checked by [`hedgerow_tree::check_path`].
    fn path(&self, row: u32) -> &[u8];
    /// The form of the row.
    fn form(&self, row: u32) -> Form;
    /// Whether an existing file in the row's place is removed first.
    fn replaces(&self, row: u32) -> bool;
    /// Creates the state of a new worker.
    fn worker(&self) -> Self::Worker;
    /// Passes the content of a row, which is not a directory, to `sink`.
    fn fill(&self, worker: &mut Self::Worker, row: u32, sink: &mut Sink<'_>)
        -> Result<(), Problem>;

    /// Called by any worker with the results, in batches; each entry is reported once.
    fn written(&self, batch: Vec<Written>);

    /// Rows whose contents arrive in an order of their own, as from a long-running filter. Each
    /// lane is run as a single task, and its rows are excluded from the other tasks.
    fn lanes(&self) -> &[Vec<u32>] {
        &[]
    }
    /// Whether a row belongs to a lane.
    fn in_lane(&self, _row: u32) -> bool {
        false
    }
    /// Writes all rows of a lane.
    fn run_lane(&self, _worker: &mut Self::Worker, _lane: usize, _writer: &mut dyn LaneWriter) {}
}

/// Number of rows that a worker takes at a time from a directory: small enough that a large
/// directory is spread over workers, large enough that the cost of opening it again does not
/// matter.
const CHUNK_ROWS: usize = 32;

/// Minimum limit of the workers in one directory; usually the limit is the number of processors.
/// While one worker creates a file, another one waits for its own file to be closed. A third would
/// mostly wait for the lock of the directory, and more workers than processors would have nothing
/// to compute meanwhile.
const MIN_WORKERS_A_DIRECTORY: usize = 2;

pub(crate) enum Task {
    /// Create the directory if necessary, and publish the tasks for its contents. `fresh`: the task
    /// of the parent has just created it.
    Directory { number: u32, fresh: bool },
    /// Write some more rows of a directory.
    Rows { directory: u32 },
    /// Run a lane.
    Lane(usize),
}

/// Writes all entries of `plan` below `root`. Failed entries are reported to [`Plan::written`]; the
/// others are completed.
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
    Ok(run_tasks(
        &options.named("files"),
        initial,
        |_| plan.worker(),
        work,
    )?)
}

struct TreeWriter<'a, P> {
    root: &'a Dir,
    plan: &'a P,
    layout: &'a Layout,
    /// For each directory, the number of rows taken so far.
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
                scope.takes_long();
                let mut writer = TaskLane {
                    root: self.root,
                    plan: self.plan,
                    scope,
                };
                self.plan.run_lane(worker, lane, &mut writer);
            }
        }
    }

    /// Opens a directory, and creates it if it does not exist. Also returns whether it was created.
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
            // If the directory existed before, its subdirectories may exist, too, so their own
            // tasks check that first.
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

    /// Writes the next rows of a directory that no worker has taken yet. The remaining rows are
    /// left to a task of their own, because other tasks may be more urgent.
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
            let outcome = scope.operation("write entry", || self.write_row(worker, handle, row));
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

    /// Reports a failure for every row below a directory that could not be created.
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

/// The place of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The parent directory.
    pub directory: &'a Dir,
    /// The name in that directory.
    pub name: &'a [u8],
    /// Whether an existing file with this name is removed first. That is done only when the first
    /// part of the content is available, so that no file is lost if the content cannot be read.
    pub replaces: bool,
}

/// Writes an entry; `fill` passes its content.
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
    /// Removes the file that the entry replaces. It is not overwritten, so that the new file gets
    /// its permissions from the umask and other hard links to the old file keep their content.
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

/// Creates the directory `path` below `root` with its missing parents. It is not an error if
/// another worker creates it meanwhile.
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

/// Turns an error with a directory into the same error for an entry below it, which cannot be
/// written or removed for this reason.
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
