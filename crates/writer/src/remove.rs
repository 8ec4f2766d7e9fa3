use crate::write::stopped_by;
use crate::{Error, Problem};
use hedgerow_engine::{run_tasks, Options, Report, Scope};
use hedgerow_fs::Dir;
use hedgerow_tree::{split_path, Layout};
use std::convert::Infallible;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Paths to remove, in ascending byte order. Rows are indexes in this list.
pub trait Removal: Sync {
    /// Number of paths.
    fn count(&self) -> usize;
    /// The path of a row, relative to the root.
    fn path(&self, row: u32) -> &[u8];
    /// Whether the row is a directory, which is removed only if it is empty.
    fn is_directory(&self, row: u32) -> bool;
    /// A directory that is kept with its parents even if it becomes empty: the user's current
    /// directory.
    fn keep(&self) -> Option<&[u8]>;
    /// Called by any worker with the results, in batches; each path is reported once.
    fn removed(&self, batch: Vec<Removed>);
    /// Called by any worker with a directory that became empty but cannot be removed.
    fn left(&self, directory: &[u8], reason: Problem);
}

/// The result for a path.
#[derive(Debug)]
pub struct Removed {
    /// Its row.
    pub row: u32,
    /// Whether the path is gone, or why not. A path that did not exist counts as gone.
    pub outcome: Result<(), Problem>,
}

const CHUNK_ROWS: usize = 64;

enum Task {
    Rows {
        directory: u32,
        span: Range<u32>,
    },
    /// Everything to be removed from the directory is gone: remove the directory itself if it is
    /// empty.
    Emptied(u32),
}

/// Removes all paths of `removal` below `root`, and the directories that become empty. If a parent
/// of a path is a symbolic link now, the path counts as absent and nothing is removed.
pub fn remove_paths<R: Removal>(
    root: &Dir,
    removal: &R,
    options: &Options,
) -> Result<Report, Error> {
    let layout = Layout::new(removal.count(), |row| removal.path(row as u32));
    let mut initial = Vec::new();
    let mut pending = Vec::with_capacity(layout.directories().len());
    let touched = layout.directories().iter();
    let touched: Vec<AtomicBool> = touched.map(|_| AtomicBool::new(false)).collect();
    for number in 0..layout.directories().len() as u32 {
        let rows = layout.rows(number).len();
        let spans = (0..rows).step_by(CHUNK_ROWS);
        pending.push(AtomicU32::new(
            (spans.len() + layout.children(number).len()) as u32,
        ));
        initial.extend(spans.map(|start| Task::Rows {
            directory: number,
            span: start as u32..(start + CHUNK_ROWS).min(rows) as u32,
        }));
    }
    let run = Remover {
        root,
        removal,
        layout: &layout,
        pending: &pending,
        touched: &touched,
    };
    let work = |_: &mut (), task: Task, scope: &Scope<'_, Task>| {
        run.work(task, scope);
        Ok::<(), Infallible>(())
    };
    Ok(run_tasks(&options.named("removal"), initial, |_| (), work)?)
}

struct Remover<'a, R> {
    root: &'a Dir,
    removal: &'a R,
    layout: &'a Layout,
    /// For each directory, the number of its chunks and subdirectories that are not done yet.
    pending: &'a [AtomicU32],
    /// For each directory, whether something in it was removed. Git leaves an empty directory alone
    /// if all that it looks for was gone with the directories below.
    touched: &'a [AtomicBool],
}

impl<R: Removal> Remover<'_, R> {
    fn work(&self, task: Task, scope: &Scope<'_, Task>) {
        match task {
            Task::Rows { directory, span } => {
                self.remove_rows(directory, span, scope);
                self.one_less(directory, scope);
            }
            Task::Emptied(directory) => {
                self.remove_emptied(directory);
                self.one_less(self.layout.directories()[directory as usize].parent, scope);
            }
        }
    }

    fn remove_rows(&self, directory: u32, span: Range<u32>, scope: &Scope<'_, Task>) {
        let rows = &self.layout.rows(directory)[span.start as usize..span.end as usize];
        let handle = self.root.open_dir(self.directory(directory));
        if handle.is_ok() {
            self.touched[directory as usize].store(true, Ordering::Relaxed);
        }
        let mut batch = Vec::with_capacity(rows.len());
        for row in rows.iter().copied() {
            if scope.is_cancelled() {
                break;
            }
            let outcome = match &handle {
                Ok(handle) => scope.operation("remove file", || self.remove_row(handle, row)),
                Err(error) if error.is_absent() => Ok(()),
                Err(error) => Err(stopped_by(error, "remove", self.removal.path(row)).into()),
            };
            batch.push(Removed { row, outcome });
        }
        self.removal.removed(batch);
    }

    fn remove_row(&self, handle: &Dir, row: u32) -> Result<(), Problem> {
        let (_, name) = split_path(self.removal.path(row));
        let outcome = if self.removal.is_directory(row) {
            handle.remove_dir(name)
        } else {
            handle.remove_file(name)
        };
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => Ok(other?),
        }
    }

    /// Removes a directory if it is empty. Reports it if it is empty but cannot be removed.
    fn remove_emptied(&self, directory: u32) {
        let path = self.directory(directory);
        let is_kept = |keep| is_at_or_above(path, keep);
        let is_touched = self.touched[directory as usize].load(Ordering::Relaxed);
        if !is_touched || self.removal.keep().is_some_and(is_kept) {
            return;
        }
        let (parent, name) = split_path(path);
        let opened = self.root.open_dir(parent);
        let removed = opened.and_then(|handle| handle.remove_dir(name));
        match removed {
            Ok(()) => {
                let above = self.layout.directories()[directory as usize].parent;
                self.touched[above as usize].store(true, Ordering::Relaxed);
            }
            Err(error) if stays_rightly(&error) => {}
            Err(error) => self.removal.left(path, error.into()),
        }
    }

    fn one_less(&self, directory: u32, scope: &Scope<'_, Task>) {
        let left = self.pending[directory as usize].fetch_sub(1, Ordering::AcqRel) - 1;
        if left == 0 && directory != 0 {
            scope.spawn_first(Task::Emptied(directory));
        }
    }

    fn directory(&self, number: u32) -> &[u8] {
        let directory = &self.layout.directories()[number as usize];
        match directory.path_len as usize {
            0 => b"",
            len => &self.removal.path(directory.witness)[..len],
        }
    }
}

/// Whether it is right to keep the directory: it is in use, not empty, absent, or no directory.
fn stays_rightly(error: &hedgerow_fs::Error) -> bool {
    let kinds = [
        io::ErrorKind::DirectoryNotEmpty,
        io::ErrorKind::AlreadyExists,
        io::ErrorKind::ResourceBusy,
        io::ErrorKind::InvalidInput,
    ];
    error.is_absent() || kinds.contains(&error.kind())
}

fn is_at_or_above(directory: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
