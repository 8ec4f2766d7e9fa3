//! Listing a tree in no order, as fast as it goes.

use crate::metadata::metadata;
use crate::selection::{node_kind, Filter, Level};
use crate::{scan, Place, Plan, ScanError, Selection, Visitor, Wanted};
use hedgerow_engine::{Execution, Failure, Report};
use hedgerow_fs::{FileKind, Listing, OpenDirectory, Stat};
use hedgerow_tree::{Entry, Omission};
use std::io;
use std::path::Path;

/// How a tree is to be walked.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// The workers.
    pub execution: Execution,
    /// Does not enter directories of other file systems; they themselves are listed.
    pub one_file_system: bool,
    /// Asks for the state of every entry that is listed. Without it only those are asked whose
    /// kind the file system does not tell otherwise.
    pub metadata: bool,
    /// Which entries are listed.
    pub selection: Selection,
}

/// Who is told what a walk finds, on many threads at a time.
pub trait Receiver: Sync {
    /// What a worker keeps from entry to entry. It is dropped when the worker has done its last
    /// task, before the walk returns.
    type Worker;
    /// What ends the walk.
    type Error: Send;

    /// What a new worker keeps.
    fn worker(&self) -> Self::Worker;

    /// An entry of the tree.
    fn entry(&self, worker: &mut Self::Worker, entry: Entry<'_>) -> Result<(), Self::Error>;

    /// Something could not be had and is passed over. What was deleted while the walk was on its
    /// way to it is none of these: it is simply not there.
    fn omitted(&self, worker: &mut Self::Worker, omission: Omission) -> Result<(), Self::Error>;

    /// The worker has told some entries, and goes on to other directories or waits for them.
    fn pause(&self, worker: &mut Self::Worker) -> Result<(), Self::Error> {
        let _ = worker;
        Ok(())
    }
}

/// Lists the tree below the directory at `path` in no order, in parallel; links are followed only
/// in `path` itself. `root` is that directory.
///
/// The root is not listed itself. If it cannot be listed, that is an omission with an empty path.
/// An entry whose state is wanted and cannot be had is an omission; below a directory the walk
/// goes on nevertheless.
///
/// Fails with the error of the receiver, or if it was cancelled.
pub fn walk<R: Receiver>(
    root: OpenDirectory,
    path: &Path,
    receiver: &R,
    options: &WalkOptions,
) -> Result<Report, Failure<R::Error>> {
    let walker = Walker {
        receiver,
        metadata: options.metadata,
        filter: Filter::new(options.selection.clone()),
    };
    if !walker.filter.enters_root() {
        return Ok(Report::default());
    }
    let level = walker.filter.root(Some(path));
    let options = crate::Options {
        engine: options.execution.options("walk"),
        one_file_system: options.one_file_system,
    };
    scan(root, level, &walker, &options)
}

struct Walker<'r, R> {
    receiver: &'r R,
    metadata: bool,
    filter: Filter,
}

struct Worker<W> {
    receiver: W,
    path: Vec<u8>,
}

impl<W> Worker<W> {
    /// Begins to tell entries of a directory; returns how long the part of their paths is that
    /// they have in common.
    fn begin(&mut self, place: &Place<Level>) -> usize {
        self.path.clear();
        place.append_path_of(b"", &mut self.path);
        self.path.len()
    }

    fn extend(&mut self, prefix: usize, name: &[u8]) {
        self.path.truncate(prefix);
        self.path.extend_from_slice(name);
    }

    fn omission(&self, operation: &'static str, source: io::Error) -> Omission {
        Omission {
            path: self.path.clone(),
            operation,
            source,
        }
    }
}

impl<R: Receiver> Visitor for Walker<'_, R> {
    type Directory = Level;
    type Worker = Worker<R::Worker>;
    type Error = R::Error;

    fn worker(&self) -> Self::Worker {
        Worker {
            receiver: self.receiver.worker(),
            path: Vec::new(),
        }
    }

    fn wants_whole(&self, _: &Place<Level>) -> bool {
        self.filter.reads_patterns()
    }

    fn opened(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Level>,
        directory: &OpenDirectory,
        listing: &Listing,
    ) -> Result<(), R::Error> {
        let read = self
            .filter
            .read_patterns(&place.data, place.path(), directory, listing);
        if let Err(error) = read {
            let prefix = worker.begin(place);
            worker.extend(prefix, crate::gitignore::FILE_NAME);
            let omission = worker.omission(error.operation, error.source);
            return self.receiver.omitted(&mut worker.receiver, omission);
        }
        Ok(())
    }

    fn listed(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Level>,
        listing: &Listing,
        plan: &mut Plan<Level>,
    ) -> Result<(), R::Error> {
        let prefix = worker.begin(place);
        for (number, entry) in (0..).zip(listing.entries()) {
            worker.extend(prefix, listing.name(entry));
            let judgement = self.filter.judge(&place.data, &worker.path, entry.kind);
            if judgement.entered {
                plan.descend(number, self.filter.below(&place.data));
            }
            if !judgement.listed {
                continue;
            }
            match entry.kind {
                Some(kind) if !self.metadata => self.receiver.entry(
                    &mut worker.receiver,
                    Entry {
                        path: &worker.path,
                        kind: node_kind(kind),
                        metadata: None,
                    },
                )?,
                kind => plan.stat(number, u32::from(kind.is_none())),
            }
        }
        self.receiver.pause(&mut worker.receiver)
    }

    fn complete(&self, _: &mut Self::Worker, _: &Place<Level>) -> Result<(), R::Error> {
        Ok(())
    }

    fn statted(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Level>,
        listing: &Listing,
        states: &[(Wanted, io::Result<Stat>)],
    ) -> Result<(), R::Error> {
        let prefix = worker.begin(place);
        for (wanted, state) in states {
            worker.extend(prefix, listing.name_of(wanted.entry));
            let was_unknown = wanted.tag != 0;
            match state {
                Ok(stat) => self.entry(worker, stat, was_unknown)?,
                Err(error) if is_gone(error) => {}
                Err(error) => {
                    let omission = worker.omission("stat", same(error));
                    self.receiver.omitted(&mut worker.receiver, omission)?;
                }
            }
        }
        self.receiver.pause(&mut worker.receiver)
    }

    fn failed(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Level>,
        error: ScanError,
    ) -> Result<Option<Listing>, R::Error> {
        if place.path().is_empty() || !is_gone(&error.source) {
            let omission = Omission {
                path: place.path().to_vec(),
                operation: error.operation.verb(),
                source: error.source,
            };
            self.receiver.omitted(&mut worker.receiver, omission)?;
        }
        Ok(None)
    }
}

impl<R: Receiver> Walker<'_, R> {
    /// An entry whose state has come.
    fn entry(
        &self,
        worker: &mut Worker<R::Worker>,
        stat: &Stat,
        was_unknown: bool,
    ) -> Result<(), R::Error> {
        if was_unknown && stat.kind == FileKind::Directory {
            // When it could have been entered, its kind could not be had.
            let omission = worker.omission("list", io::Error::other("its type came too late"));
            self.receiver.omitted(&mut worker.receiver, omission)?;
        }
        if was_unknown && !self.filter.lists(stat.kind) {
            return Ok(());
        }
        let metadata = self.metadata.then(|| metadata(stat));
        let entry = Entry {
            path: &worker.path,
            kind: node_kind(stat.kind),
            metadata: metadata.as_ref(),
        };
        self.receiver.entry(&mut worker.receiver, entry)
    }
}

/// Deleted since it was listed.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The same error once more, for the system's errors are all there is to copy.
fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
