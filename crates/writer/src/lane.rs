//! Lanes: rows whose contents arrive in an order of their own, as from a long-running filter.

use crate::write::{make_directory, Task};
use crate::{write_entry, Place, Plan, Problem, Sink, Written};
use hedgerow_engine::Scope;
use hedgerow_fs::Dir;
use hedgerow_tree::split_path;
use std::io;

/// Passes an entry's content to a [`Sink`].
pub type Fill<'a> = dyn FnMut(&mut Sink<'_>) -> Result<(), Problem> + 'a;

/// Writes the rows of a lane as their content arrives.
pub trait LaneWriter {
    /// Writes a row, and creates its missing parent directories.
    fn write(&mut self, row: u32, fill: &mut Fill<'_>);
    /// Reports that a row's content could not be read.
    fn fail(&mut self, row: u32, problem: Problem);
    /// Whether the run is cancelled.
    fn is_cancelled(&self) -> bool;
}

/// Runs a lane as a task.
pub(crate) struct TaskLane<'a, P> {
    pub root: &'a Dir,
    pub plan: &'a P,
    pub scope: &'a Scope<'a, Task>,
}

impl<P: Plan> LaneWriter for TaskLane<'_, P> {
    fn write(&mut self, row: u32, fill: &mut Fill<'_>) {
        let (parent, name) = split_path(self.plan.path(row));
        let outcome = self
            .open_parent(parent)
            .map_err(Problem::Fs)
            .and_then(|directory| {
                let place = Place {
                    directory: &directory,
                    name,
                    replaces: self.plan.replaces(row),
                };
                write_entry(place, self.plan.form(row), fill)
            });
        if let Ok(stat) = &outcome {
            self.scope.add_bytes(stat.size);
        }
        self.plan.written(vec![Written { row, outcome }]);
    }

    fn fail(&mut self, row: u32, problem: Problem) {
        let outcome = Err(problem);
        self.plan.written(vec![Written { row, outcome }]);
    }

    fn is_cancelled(&self) -> bool {
        self.scope.is_cancelled()
    }
}

impl<P> TaskLane<'_, P> {
    fn open_parent(&self, parent: &[u8]) -> hedgerow_fs::Result<Dir> {
        match self.root.open_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_directory(self.root, parent)?;
                self.root.open_dir(parent)
            }
            other => other,
        }
    }
}
