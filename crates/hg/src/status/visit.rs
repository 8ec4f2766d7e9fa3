//! One pass over the working copy: the state of the tracked files, and all other files.

use super::judge::{by_kind, by_stat, by_stat_of_anything, Verdict};
use super::select::Selection;
use crate::dirstate::{Dirstate, Entry};
use crate::ignore::Ignore;
use crate::Error;
use bstr::BString;
use hedgerow_fs::{FileKind, Listing, Stat, Timestamp};
use hedgerow_walk::{Place, Plan, ScanError, Visitor, Wanted};
use std::cmp::Ordering as Order;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// Visits a working copy.
pub(super) struct Visit<'v> {
    pub dirstate: &'v Dirstate,
    pub ignore: &'v Ignore,
    pub selection: &'v Selection,
    /// The paths of subrepositories, which are not examined.
    pub subrepositories: &'v [BString],
    pub wants_unknown: bool,
    pub wants_ignored: bool,
    pub now: Timestamp,
    /// A [`Verdict`] for every entry of the dirstate.
    verdicts: Vec<AtomicU8>,
    found: Mutex<UnknownPaths>,
}

/// Paths that are not in the dirstate.
#[derive(Debug, Default)]
pub(super) struct UnknownPaths {
    pub unknown: Vec<BString>,
    pub ignored: Vec<BString>,
    /// Directories that are repositories of their own: their content is ignored.
    pub nested: Vec<BString>,
    /// Directories that could not be read, and the reason.
    pub failed: Vec<(BString, String)>,
}

/// What is known about a directory before it is listed.
#[derive(Debug)]
pub(super) struct Directory {
    /// The dirstate's entries below it.
    entries: Range<usize>,
    /// It or one of its parents is ignored.
    is_ignored: bool,
}

impl<'v> Visit<'v> {
    pub fn new(
        dirstate: &'v Dirstate,
        ignore: &'v Ignore,
        selection: &'v Selection,
        subrepositories: &'v [BString],
        now: Timestamp,
    ) -> Self {
        let missing = || AtomicU8::new(Verdict::Missing.number());
        let mut verdicts = Vec::new();
        verdicts.resize_with(dirstate.entries().len(), missing);
        Visit {
            dirstate,
            ignore,
            selection,
            subrepositories,
            wants_unknown: false,
            wants_ignored: false,
            now,
            verdicts,
            found: Mutex::default(),
        }
    }

    /// The data of the root. It is ignored if a pattern matches the empty path.
    pub fn root(&self) -> Result<Directory, Error> {
        Ok(Directory {
            entries: 0..self.verdicts.len(),
            is_ignored: self.wants_untracked() && self.ignore.matches(b"")?,
        })
    }

    /// The verdicts and the other paths found, after the pass.
    pub fn end(self) -> (Vec<Verdict>, UnknownPaths) {
        let verdict = |number: AtomicU8| Verdict::from_number(number.into_inner());
        let verdicts = self.verdicts.into_iter().map(verdict).collect();
        let found = self.found.into_inner();
        (verdicts, found.unwrap_or_else(PoisonError::into_inner))
    }

    fn wants_untracked(&self) -> bool {
        self.wants_unknown || self.wants_ignored
    }

    /// Whether anything in the place of a tracked file counts as a file in this directory:
    /// Mercurial does not list an ignored directory, and only stats the files that it knows there.
    fn takes_anything(&self, data: &Directory) -> bool {
        data.is_ignored && !self.wants_ignored
    }

    fn note(&self, note: impl FnOnce(&mut UnknownPaths)) {
        note(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn judge(&self, entry: usize, verdict: Verdict) {
        self.verdicts[entry].store(verdict.number(), Ordering::Relaxed);
    }

    fn entries(&self, range: &Range<usize>) -> &'v [Entry] {
        self.dirstate
            .entries()
            .get(range.clone())
            .expect("ranges are within the dirstate")
    }

    /// The position of the entry for `path` in `range`. All paths in `range` share their first
    /// `shared` bytes with `path`.
    fn find(&self, range: &Range<usize>, path: &[u8], shared: usize) -> Option<usize> {
        let tail = path.get(shared..)?;
        let order = |entry: &Entry| self.tail(entry, shared).cmp(tail);
        let found = self.entries(range).binary_search_by(order).ok()?;
        Some(range.start + found)
    }

    /// The entries of `range` below the directory `path`; `shared` as above.
    fn below(&self, range: &Range<usize>, path: &[u8], shared: usize) -> Range<usize> {
        let entries = self.entries(range);
        let tail = path.get(shared..).unwrap_or_default();
        let order = |entry: &Entry| compare_to_directory(self.tail(entry, shared), tail);
        let start = entries.partition_point(|entry| order(entry) == Order::Less);
        let (_, rest) = entries.split_at(start);
        let count = rest.partition_point(|entry| order(entry) == Order::Equal);
        range.start + start..range.start + start + count
    }

    fn tail(&self, entry: &Entry, shared: usize) -> &'v [u8] {
        self.dirstate.path(entry).get(shared..).unwrap_or_default()
    }

    /// The data of a subdirectory of the directory `data`, if it is to be entered.
    fn descend(
        &self,
        data: &Directory,
        path: &[u8],
        shared: usize,
    ) -> Result<Option<Directory>, Error> {
        if !self.selection.reaches(path) {
            return Ok(None);
        }
        let entries = self.below(&data.entries, path, shared);
        if !self.wants_untracked() {
            let is_ignored = false;
            return Ok((!entries.is_empty()).then_some(Directory {
                entries,
                is_ignored,
            }));
        }
        let is_ignored = data.is_ignored || self.ignore.matches(path)?;
        let wanted = self.wants_ignored || !is_ignored;
        Ok((wanted || !entries.is_empty()).then_some(Directory {
            entries,
            is_ignored,
        }))
    }

    /// Handles a file or link that is not tracked.
    fn untracked(
        &self,
        data: &Directory,
        path: &[u8],
        found: &mut UnknownPaths,
    ) -> Result<(), Error> {
        if !self.wants_untracked() || !self.selection.has(path) {
            return Ok(());
        }
        let is_ignored = data.is_ignored || self.ignore.matches(path)?;
        match is_ignored {
            true if self.wants_ignored => found.ignored.push(path.into()),
            false if self.wants_unknown => found.unknown.push(path.into()),
            _ => {}
        }
        Ok(())
    }

    /// Whether the listing shows that the directory is a repository of its own.
    fn is_nested(&self, place: &Place<Directory>, listing: &Listing) -> bool {
        let is_hg = |entry: &hedgerow_fs::Listed| {
            entry.kind == Some(FileKind::Directory) && listing.name(entry) == b".hg"
        };
        self.wants_untracked() && !place.path().is_empty() && listing.entries().iter().any(is_hg)
    }
}

impl Visitor for Visit<'_> {
    type Directory = Directory;
    /// A buffer for building paths.
    type Worker = Vec<u8>;
    type Error = Error;

    fn worker(&self) -> Vec<u8> {
        Vec::new()
    }

    fn listed(
        &self,
        path: &mut Vec<u8>,
        place: &Place<Directory>,
        listing: &Listing,
        plan: &mut Plan<Directory>,
    ) -> Result<(), Error> {
        if self.is_nested(place, listing) {
            self.note(|found| found.nested.push(place.path().into()));
            return Ok(());
        }
        let data = &place.data;
        let is_root = place.path().is_empty();
        let shared = if is_root { 0 } else { place.path().len() + 1 };
        let mut found = UnknownPaths::default();
        for (number, listed) in (0..).zip(listing.entries()) {
            let name = listing.name(listed);
            path.clear();
            place.append_path_of(name, path);
            if is_root && name == b".hg" || self.subrepositories.iter().any(|sub| sub == path) {
                continue;
            }
            if listed.kind == Some(FileKind::Directory) {
                if let Some(below) = self.descend(data, path, shared)? {
                    plan.descend(number, below);
                }
            }
            // Directories are looked up as well: one may be in the place of a tracked file.
            let Some(index) = self.find(&data.entries, path, shared) else {
                if matches!(listed.kind, Some(FileKind::File | FileKind::Symlink)) {
                    self.untracked(data, path, &mut found)?;
                }
                continue;
            };
            let entry = &self.dirstate.entries()[index];
            if !entry.tracked || !self.selection.has(path) {
                continue;
            }
            let verdict = if self.takes_anything(data) {
                None
            } else {
                by_kind(entry, listed.kind)
            };
            match (verdict, u32::try_from(index)) {
                (Some(verdict), _) => self.judge(index, verdict),
                (None, Ok(tag)) => plan.stat(number, tag),
                (None, Err(_)) => {}
            }
        }
        if !found.unknown.is_empty() || !found.ignored.is_empty() {
            self.note(|all| {
                all.unknown.append(&mut found.unknown);
                all.ignored.append(&mut found.ignored);
            });
        }
        Ok(())
    }

    fn complete(&self, _: &mut Vec<u8>, _: &Place<Directory>) -> Result<(), Error> {
        Ok(())
    }

    fn statted(
        &self,
        _: &mut Vec<u8>,
        place: &Place<Directory>,
        _: &Listing,
        states: &[(Wanted, io::Result<Stat>)],
    ) -> Result<(), Error> {
        for (wanted, state) in states {
            let index = wanted.tag as usize;
            let entry = &self.dirstate.entries()[index];
            match state {
                Err(error) if is_absence(error) => {}
                Err(error) => {
                    let path = self.dirstate.path(entry);
                    return Err(failure("stat", path, error));
                }
                Ok(stat) => {
                    let is_copy = self.dirstate.copy_source(entry).is_some();
                    let judged = if self.takes_anything(&place.data) {
                        by_stat_of_anything(entry, is_copy, stat, self.now)
                    } else {
                        by_stat(entry, is_copy, stat, self.now)
                    };
                    self.judge(index, judged);
                }
            }
        }
        Ok(())
    }

    /// A directory that cannot be listed may still have tracked files that can be statted.
    fn failed(
        &self,
        _: &mut Vec<u8>,
        place: &Place<Directory>,
        error: ScanError,
    ) -> Result<Option<Listing>, Error> {
        let is_refused = error.source.kind() == io::ErrorKind::PermissionDenied;
        if !is_refused && is_absence(&error.source) {
            return Ok(None);
        }
        if !is_refused {
            return Err(failure(error.operation.verb(), place.path(), &error.source));
        }
        let reason = "Permission denied".to_owned();
        self.note(|found| found.failed.push((place.path().into(), reason)));
        let shared = match place.path().len() {
            0 => 0,
            length => length + 1,
        };
        let mut listing = Listing::default();
        let mut last: &[u8] = b"";
        for entry in self.entries(&place.data.entries) {
            let tail = self.tail(entry, shared);
            let name = tail.split(|byte| *byte == b'/').next().unwrap_or(tail);
            if name != last && listing.push(name, None).is_err() {
                break;
            }
            last = name;
        }
        Ok(Some(listing))
    }
}

/// Whether the error means that something does not exist or is not accessible.
fn is_absence(error: &io::Error) -> bool {
    hedgerow_fs::is_missing(error) || error.kind() == io::ErrorKind::PermissionDenied
}

fn failure(operation: &'static str, path: &[u8], error: &io::Error) -> Error {
    let source = match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => error.kind().into(),
    };
    hedgerow_fs::Error::new(operation, OsStr::from_bytes(path), source).into()
}

/// The order of a path relative to the content of a directory; `Equal` means inside.
fn compare_to_directory(path: &[u8], directory: &[u8]) -> Order {
    match path.get(..directory.len()) {
        Some(head) => head
            .cmp(directory)
            .then_with(|| match path.get(directory.len()) {
                Some(byte) => byte.cmp(&b'/'),
                None => Order::Less,
            }),
        None => path.cmp(directory),
    }
}
