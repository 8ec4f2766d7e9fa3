use super::unanswered::is_unanswered;
use crate::{Error, Result};
use hedgerow_engine::{run_tasks, Options, Report, Scope};
use hedgerow_fs::{is_unfollowed_link, Dir, Stat};
use hedgerow_tree::Layout;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// State of a path of the working tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathState<'a> {
    /// Nothing.
    Absent,
    /// Nothing, because an ancestor is not a directory.
    Blocked,
    /// A file of any kind; links are not followed.
    Present(&'a Stat),
    /// Unknown: permissions do not allow to check, or the system call failed for another reason.
    Unknown,
}

/// Number of paths that a worker takes at a time from one directory.
const CHUNK_ROWS: usize = 64;

enum Task {
    Directory(u32),
    Rows { directory: u32, span: Range<u32> },
}

/// Stats each of `count` paths below `root`, given in ascending byte order, in parallel over the
/// directories. Paths below a missing directory are not statted.
///
/// `judge` reduces a path's state to one byte, on any worker; the result has a byte for each row.
pub(crate) fn survey<'a>(
    root: &Dir,
    count: usize,
    path: impl Fn(usize) -> &'a [u8] + Sync,
    judge: impl Fn(usize, PathState<'_>) -> u8 + Sync,
    options: &Options,
) -> Result<Surveyed> {
    let layout = Layout::new(count, &path);
    let verdicts: Vec<AtomicU8> = (0..count).map(|_| AtomicU8::new(0)).collect();
    let survey = Survey {
        root,
        path: &path,
        judge: &judge,
        layout: &layout,
        verdicts: &verdicts,
        unknown: Mutex::default(),
    };
    let work = |_: &mut (), task: Task, scope: &Scope<'_, Task>| survey.work(task, scope);
    let report = run_tasks(
        &options.named("survey"),
        vec![Task::Directory(0)],
        |_| (),
        work,
    );
    let report = report.map_err(Error::from)?;
    let unknown = survey.unknown.into_inner();
    let mut unknown = unknown.unwrap_or_else(PoisonError::into_inner);
    unknown.sort_unstable_by_key(|(row, _)| *row);
    Ok(Surveyed {
        verdicts: verdicts.into_iter().map(AtomicU8::into_inner).collect(),
        report,
        unknown,
    })
}

/// Result of a survey.
pub(crate) struct Surveyed {
    /// What was made of each path.
    pub verdicts: Vec<u8>,
    pub report: Report,
    /// Why the states of paths are unknown, ascending by row.
    pub unknown: Unknown,
}

/// Rows whose states are unknown, and why.
pub(crate) type Unknown = Vec<(usize, hedgerow_fs::Error)>;

impl Surveyed {
    /// For those to whom it matters that a file is not there.
    ///
    /// # Errors
    /// See [`refuse_unanswered`].
    pub(crate) fn answered(mut self) -> Result<Surveyed> {
        refuse_unanswered(&mut self.unknown)?;
        Ok(self)
    }
}

/// Fails if the system did not answer: a file must not count as gone unless that is known. Missing
/// permissions are an answer.
pub(crate) fn refuse_unanswered(unknown: &mut Unknown) -> Result<()> {
    let mut errors = unknown.iter().map(|(_, error)| &error.source);
    match errors.position(is_unanswered) {
        Some(at) => Err(unknown.swap_remove(at).1.into()),
        None => Ok(()),
    }
}

struct Survey<'s, P, J> {
    root: &'s Dir,
    path: &'s P,
    judge: &'s J,
    layout: &'s Layout,
    verdicts: &'s [AtomicU8],
    unknown: Mutex<Unknown>,
}

impl<'a, P, J> Survey<'_, P, J>
where
    P: Fn(usize) -> &'a [u8] + Sync,
    J: Fn(usize, PathState<'_>) -> u8 + Sync,
{
    fn work(&self, task: Task, scope: &Scope<'_, Task>) -> Result<()> {
        match task {
            Task::Directory(number) => match self.root.open_dir(self.directory(number)) {
                Ok(directory) => self.enter(number, &directory, scope),
                Err(error) => {
                    self.judge_below(number, &error.source);
                    Ok(())
                }
            },
            Task::Rows {
                directory: number,
                span,
            } => {
                let rows = &self.layout.rows(number)[span.start as usize..span.end as usize];
                match self.root.open_dir(self.directory(number)) {
                    Ok(directory) => self.ask(&directory, rows, scope),
                    Err(error) => {
                        self.judge_failed(rows, &error.source);
                        Ok(())
                    }
                }
            }
        }
    }

    fn enter(&self, number: u32, directory: &Dir, scope: &Scope<'_, Task>) -> Result<()> {
        for child in self.layout.children(number) {
            scope.spawn_first(Task::Directory(*child));
        }
        let rows = self.layout.rows(number);
        let first = CHUNK_ROWS.min(rows.len());
        for start in (first..rows.len()).step_by(CHUNK_ROWS) {
            let end = (start + CHUNK_ROWS).min(rows.len());
            scope.spawn(Task::Rows {
                directory: number,
                span: start as u32..end as u32,
            });
        }
        self.ask(directory, &rows[..first], scope)
    }

    fn ask(&self, directory: &Dir, rows: &[u32], scope: &Scope<'_, Task>) -> Result<()> {
        for row in rows {
            if scope.is_cancelled() {
                return Ok(());
            }
            let path = (self.path)(*row as usize);
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            let outcome = scope.operation("stat", || directory.stat(name));
            match outcome {
                Ok(stat) => self.note(*row, PathState::Present(&stat)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.note(*row, PathState::Absent);
                }
                Err(error) => self.miss(*row, error.source),
            }
        }
        Ok(())
    }

    /// Judges what is below a directory that could not be opened.
    fn judge_below(&self, number: u32, error: &io::Error) {
        let mut pending = vec![number];
        while let Some(number) = pending.pop() {
            self.judge_failed(self.layout.rows(number), error);
            pending.extend(self.layout.children(number));
        }
    }

    /// Judges rows of a directory that could not be opened.
    fn judge_failed(&self, rows: &[u32], error: &io::Error) {
        let found = match error.kind() {
            io::ErrorKind::NotFound => Some(PathState::Absent),
            io::ErrorKind::NotADirectory => Some(PathState::Blocked),
            _ if is_unfollowed_link(error) => Some(PathState::Blocked),
            _ => None,
        };
        for row in rows {
            match found {
                Some(found) => self.note(*row, found),
                None => self.miss(*row, same(error)),
            }
        }
    }

    /// Records that the state of a path is unknown.
    fn miss(&self, row: u32, error: io::Error) {
        self.note(row, PathState::Unknown);
        let path = OsStr::from_bytes((self.path)(row as usize));
        let error = hedgerow_fs::Error::new("stat", path, error);
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        unknown.push((row as usize, error));
    }

    fn note(&self, row: u32, found: PathState<'_>) {
        let verdict = (self.judge)(row as usize, found);
        self.verdicts[row as usize].store(verdict, Ordering::Relaxed);
    }

    fn directory(&self, number: u32) -> &'a [u8] {
        let directory = &self.layout.directories()[number as usize];
        match directory.path_len as usize {
            0 => b"",
            len => &(self.path)(directory.witness as usize)[..len],
        }
    }
}

/// The same error once more.
fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => error.kind().into(),
    }
}
