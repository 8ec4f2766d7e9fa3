//! Lists a tree in no particular order, as fast as possible.

use crate::metadata::metadata;
use crate::scan::scan_places;
use crate::selection::{node_kind, Filter, Level};
use crate::{scan, Place, Plan, ScanError, Selection, Visitor, Wanted};
use hedgerow_engine::{Execution, Failure, Report};
use hedgerow_fs::{FileKind, Listing, OpenDirectory, Stat};
use hedgerow_tree::{canonical_order, Entry, Omission};
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    /// Gives every node that is no directory its [`Node::link`](hedgerow_tree::Node::link), so that
    /// those of several walks can be compared. Otherwise only those with several names have it.
    pub numbered: bool,
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
        part: None,
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

/// How much of a tree one part lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// About this many entries.
    Entries(u64),
    /// As much as can be begun in this time.
    Time(Duration),
}

impl FromStr for Budget {
    type Err = &'static str;

    /// A number of entries, or of seconds with an `s`, which may have a fraction.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let budget = match text.strip_suffix('s') {
            Some(seconds) => {
                // No exponents, no signs, no infinity.
                let is_decimal = seconds.bytes().all(|own| matches!(own, b'0'..=b'9' | b'.'));
                let number = seconds.parse().ok().filter(|_| is_decimal);
                let time = number.and_then(|own| Duration::try_from_secs_f64(own).ok());
                time.map(Budget::Time)
            }
            None => text.parse().ok().map(Budget::Entries),
        };
        budget.ok_or("not a number of entries or seconds")
    }
}

/// Lists a part of the tree below `root` like [`walk`]: the entries of the directories `given`, whose
/// paths are relative to the root, and what is below them, until the budget is spent. Returns the
/// directories that are left: given to other calls, those list the rest.
///
/// A directory is listed completely or left, and at least one is listed. Directories that are below
/// another given one are ignored. A given directory that does not exist is an omission.
///
/// [`Selection::gitignore`] is not possible here.
pub fn walk_part<R: Receiver>(
    root: OpenDirectory,
    mut given: Vec<Vec<u8>>,
    budget: Budget,
    receiver: &R,
    options: &WalkOptions,
) -> Result<Vec<Vec<u8>>, Failure<R::Error>> {
    given.sort_by(|a, b| canonical_order(a, b));
    given.dedup_by(|next, before| is_at_or_below(next, before));
    let filter = Filter::new(Selection {
        gitignore: false,
        ..options.selection.clone()
    });
    let places = given.iter().filter_map(|path| {
        let depth = path.split(|byte| *byte == b'/').count();
        let depth = if path.is_empty() { 0 } else { depth };
        let level = filter.enters(depth).then(|| filter.at_depth(depth))?;
        Some(Place::at(path.clone().into_boxed_slice(), level))
    });
    let places = places.collect();
    let walker = Walker {
        receiver,
        metadata: options.metadata,
        filter,
        part: Some(Part::new(given, budget)),
    };
    let options = crate::Options {
        engine: options.execution.options("walk"),
        one_file_system: options.one_file_system,
    };
    scan_places(root, places, &walker, &options)?;
    let left = walker.part.map(|part| part.left.into_inner());
    let mut left = left.map_or(Vec::new(), |left| {
        left.unwrap_or_else(PoisonError::into_inner)
    });
    left.sort_by(|a, b| canonical_order(a, b));
    Ok(left)
}

fn is_at_or_below(path: &[u8], above: &[u8]) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with(b"/"))
}

/// The progress of [`walk_part`].
#[derive(Debug)]
struct Part {
    /// Sorted.
    given: Vec<Vec<u8>>,
    entries: u64,
    end: Option<Instant>,
    listed: AtomicU64,
    has_begun: AtomicBool,
    left: Mutex<Vec<Vec<u8>>>,
}

impl Part {
    fn new(given: Vec<Vec<u8>>, budget: Budget) -> Self {
        let (entries, end) = match budget {
            Budget::Entries(entries) => (entries, None),
            Budget::Time(time) => (u64::MAX, Instant::now().checked_add(time)),
        };
        Part {
            given,
            entries,
            end,
            listed: AtomicU64::new(0),
            has_begun: AtomicBool::new(false),
            left: Mutex::default(),
        }
    }

    fn is_spent(&self) -> bool {
        let is_over = self.end.is_some_and(|end| Instant::now() >= end);
        self.has_begun.swap(true, Ordering::Relaxed)
            && (is_over || self.listed.load(Ordering::Relaxed) >= self.entries)
    }

    fn is_given(&self, path: &[u8]) -> bool {
        let found = self
            .given
            .binary_search_by(|given| canonical_order(given, path));
        found.is_ok()
    }
}

struct Walker<'r, R> {
    receiver: &'r R,
    metadata: bool,
    filter: Filter,
    part: Option<Part>,
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

    fn is_needed(&self, place: &Place<Level>) -> bool {
        let Some(part) = self.part.as_ref().filter(|part| part.is_spent()) else {
            return true;
        };
        let mut left = part.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(place.path().to_vec());
        false
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
        if let Some(part) = &self.part {
            part.listed
                .fetch_add(listing.len() as u64, Ordering::Relaxed);
        }
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
        let is_asked_for = match &self.part {
            Some(part) => part.is_given(place.path()),
            None => place.path().is_empty(),
        };
        if is_asked_for || !is_gone(&error.source) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_or_a_time() {
        let time = |milliseconds| Ok(Budget::Time(Duration::from_millis(milliseconds)));
        let wrong = Err("not a number of entries or seconds");
        for (text, expected) in [
            ("100000", Ok(Budget::Entries(100_000))),
            ("0", Ok(Budget::Entries(0))),
            ("60s", time(60_000)),
            ("0s", time(0)),
            ("0.05s", time(50)),
            (".5s", time(500)),
            ("1.s", time(1000)),
            ("0.05", wrong),
            ("", wrong),
            ("s", wrong),
            (".s", wrong),
            ("-1s", wrong),
            ("+1s", wrong),
            ("1e3s", wrong),
            ("infs", wrong),
            ("nans", wrong),
            ("99999999999999999999s", wrong),
            ("1m", wrong),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
