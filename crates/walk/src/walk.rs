//! Lists a tree in no particular order, as fast as possible.

use crate::metadata::metadata;
use crate::selection::{node_kind, Filter, Level};
use crate::{scan, Place, Plan, ScanError, Selection, Visitor, Wanted};
use hedgerow_engine::{Execution, Failure, Report};
use hedgerow_fs::{FileKind, Listing, OpenDirectory, Stat};
use hedgerow_tree::{Entry, Omission};
use std::io;
use std::path::Path;

/// Options of a walk.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// How to run.
    pub execution: Execution,
    /// Does not enter directories of other file systems; their own entries are listed.
    pub one_file_system: bool,
    /// Stats every listed entry. Otherwise only those are statted whose kind the file system does
    /// not report in another way.
    pub metadata: bool,
    /// Which entries are listed.
    pub selection: Selection,
}

/// Receives the results of a walk, from many threads in parallel.
pub trait Receiver: Sync {
    /// The state that a worker keeps from entry to entry. It is dropped after the worker's last
    /// task, before the walk returns.
    type Worker;
    /// The error that ends the walk.
    type Error: Send;

    /// Creates the state of a new worker.
    fn worker(&self) -> Self::Worker;

    /// An entry of the tree.
    fn entry(&self, worker: &mut Self::Worker, entry: Entry<'_>) -> Result<(), Self::Error>;

    /// An entry of the tree with all that its stat has, if [`WalkOptions::metadata`] is set. The
    /// default passes it to [`Receiver::entry`].
    fn statted(
        &self,
        worker: &mut Self::Worker,
        entry: Entry<'_>,
        stat: &Stat,
    ) -> Result<(), Self::Error> {
        let _ = stat;
        self.entry(worker, entry)
    }

    /// Something could not be read and is skipped. This does not include entries that were deleted
    /// during the walk: they are not reported at all.
    fn omitted(&self, worker: &mut Self::Worker, omission: Omission) -> Result<(), Self::Error>;

    /// The worker has reported some entries, and goes on to other directories or waits for them.
    fn pause(&self, worker: &mut Self::Worker) -> Result<(), Self::Error> {
        let _ = worker;
        Ok(())
    }
}

/// Lists the tree below the directory at `path` in no particular order, in parallel; links are
/// followed only in `path` itself. `root` is that directory.
///
/// The root itself is not reported. If it cannot be listed, that is an omission with an empty path.
/// An entry that must be statted but cannot be is an omission; if it is a directory, the walk still
/// enters it.
///
/// Fails with the receiver's error, or if it was cancelled.
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
    /// Starts reporting entries of a directory; returns the length of the common part of their
    /// paths.
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
    /// Handles an entry that was statted.
    fn entry(
        &self,
        worker: &mut Worker<R::Worker>,
        stat: &Stat,
        was_unknown: bool,
    ) -> Result<(), R::Error> {
        if was_unknown && stat.kind == FileKind::Directory {
            // Its kind was not available when it could have been entered.
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
        let receiver = &mut worker.receiver;
        if self.metadata {
            self.receiver.statted(receiver, entry, stat)
        } else {
            self.receiver.entry(receiver, entry)
        }
    }
}

/// Whether the error means that it was deleted after it was listed.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Copies a system error, which is not `Clone`.
fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
