use super::unanswered::is_unanswered;
use crate::{Error, Result};
use hedgerow_engine::{run_tasks, Options, Report, Scope};
use hedgerow_fs::{is_unfollowed_link, Dir, Stat};
use hedgerow_tree::Layout;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// State of a path of the working tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathState<'a> {
    /// Nothing.
    Absent,
    /// Nothing, because an ancestor is not a directory.
    Blocked,
    /// A file of any kind; links are not followed.
    Present(&'a Stat),
    /// Unknown: permissions do not allow to check.
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
///
/// Fails if a system call fails for another reason: a file must not count as gone unless that is
/// known.
pub(crate) fn survey<'a>(
    root: &Dir,
    count: usize,
    path: impl Fn(usize) -> &'a [u8] + Sync,
    judge: impl Fn(usize, PathState<'_>) -> u8 + Sync,
    options: &Options,
) -> Result<(Vec<u8>, Report)> {
    let layout = Layout::new(count, &path);
    let verdicts: Vec<AtomicU8> = (0..count).map(|_| AtomicU8::new(0)).collect();
    let survey = Survey {
        root,
        path: &path,
        judge: &judge,
        layout: &layout,
        verdicts: &verdicts,
    };
    let work = |_: &mut (), task: Task, scope: &Scope<'_, Task>| survey.work(task, scope);
    let report = run_tasks(
        &options.named("survey"),
        vec![Task::Directory(0)],
        |_| (),
        work,
    );
    let report = report.map_err(Error::from)?;
    Ok((
        verdicts.into_iter().map(AtomicU8::into_inner).collect(),
        report,
    ))
}

struct Survey<'s, P, J> {
    root: &'s Dir,
    path: &'s P,
    judge: &'s J,
    layout: &'s Layout,
    verdicts: &'s [AtomicU8],
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
                    self.judge_below(number, not_opened(error)?);
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
                        let found = not_opened(error)?;
                        rows.iter().for_each(|row| self.note(*row, found));
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
                Err(error) if is_unanswered(&error.source) => {
                    return Err(error.into());
                }
                Err(_) => self.note(*row, PathState::Unknown),
            }
        }
        Ok(())
    }

    fn judge_below(&self, number: u32, found: PathState<'_>) {
        let mut pending = vec![number];
        while let Some(number) = pending.pop() {
            self.layout
                .rows(number)
                .iter()
                .for_each(|row| self.note(*row, found));
            pending.extend(self.layout.children(number));
        }
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

fn not_opened(error: hedgerow_fs::Error) -> Result<PathState<'static>> {
    Ok(match error.kind() {
        io::ErrorKind::NotFound => PathState::Absent,
        io::ErrorKind::NotADirectory => PathState::Blocked,
        _ if is_unfollowed_link(&error.source) => PathState::Blocked,
        _ if is_unanswered(&error.source) => return Err(error.into()),
        _ => PathState::Unknown,
    })
}
