//! One pass over the working tree: each directory's listing is joined with that directory's slice
//! of the index. Tracked entries are statted; the others are classified as untracked or ignored.

mod folded;
mod patterns;
mod tracked;
mod unknown;

use super::exclusion::{Level, Rules};
use super::quiet::{Known, Quiet};
use super::records::Notes;
use super::remarks::Warning;
pub(crate) use folded::FoldedPaths;

use super::untracked::{Folder, UntrackedPath, Wish};
use crate::discover::OtherRepositories;
use crate::index::{Index, Stage};
use crate::repository::Objects;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::state::{state, State, StateRules};
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_fs::{is_absent, FileKind, Listing, OpenDirectory, Stat};
use hedgerow_walk::{Operation, Place, Plan, ScanError, Visitor, Wanted};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Inputs of a scan.
pub(super) struct Inputs<'a> {
    pub objects: Objects<'a>,
    pub others: OtherRepositories<'a>,
    pub work_tree: &'a Path,
    pub index: &'a Index,
    pub state: StateRules,
    pub exclusion: Rules<'a>,
    pub wish: Wish,
    /// The pathspecs; all paths if `None`.
    pub pathspecs: Option<&'a Pathspecs>,
    /// The tracked paths with case folded, if the file system ignores case.
    pub folded: Option<FoldedPaths>,
    /// What need not be looked at.
    pub quiet: &'a Quiet,
    /// Whether the index has skip-worktree entries.
    pub has_skipped: bool,
    /// Whether it is noted what the untracked cache records.
    pub takes_notes: bool,
}

/// Result of a scan.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The state of each row of the index; if there are several stages, that of the first.
    pub states: Vec<State>,
    /// `st_mode` of the files not known to be clean, ascending by row.
    pub modes: Vec<(u32, u32)>,
    pub found: Vec<UntrackedPath>,
    pub folders: Vec<Arc<Folder>>,
    /// Directories with a `.gitattributes` in the working tree, without a trailing slash.
    pub attributes: Vec<BString>,
    /// Whether `attributes` is complete: every directory was listed.
    pub lists_all: bool,
    /// Warnings about what could not be examined, in git's words.
    pub warnings: Vec<Warning>,
    /// What the untracked cache records, if that was asked for.
    pub notes: Notes,
}

/// Scans the working tree.
pub(super) fn scan(inputs: &Inputs<'_>, engine: hedgerow_engine::Options) -> Result<Scanned> {
    let rows = inputs.index.entries().len();
    let scan = Scan {
        inputs,
        // Rows that the scan never meets stay absent.
        states: (0..rows)
            .map(|_| AtomicU8::new(State::Absent as u8))
            .collect(),
        lists_all: AtomicBool::new(true),
        shared: Mutex::default(),
    };
    match inputs.quiet.directory(b"".into()) {
        Some(known) => {
            let mut worker = Worker::default();
            scan.take_known(&mut worker, known);
            scan.hand_over(&mut worker);
        }
        None => scan.search(engine)?,
    }
    scan.look_by_name()?;
    let states = scan.states.into_iter().map(AtomicU8::into_inner);
    let shared = scan.shared.into_inner();
    let mut scanned = shared.unwrap_or_else(PoisonError::into_inner);
    scanned.states = states.map(State::from_byte).collect();
    scanned.modes.sort_unstable();
    scanned.modes.dedup_by_key(|(row, _)| *row);
    scanned.lists_all = scan.lists_all.into_inner();
    scanned.attributes.sort_unstable();
    let mut unreadable = inputs.exclusion.warnings.lock();
    let unreadable = unreadable.as_deref_mut().map(std::mem::take);
    scanned.warnings.extend(unreadable.unwrap_or_default());
    scanned.warnings.sort_unstable();
    Ok(scanned)
}

/// What is known about a directory before it is listed.
pub(super) struct Directory {
    /// The rows of the index below it; none if nothing in it is tracked.
    rows: Range<u32>,
    above: Option<Arc<Level>>,
    /// Whether it is ignored itself, if already known.
    excluded: Option<bool>,
    folder: Option<Arc<Folder>>,
    /// Whether the pathspecs match it as a whole, not just possibly something in it.
    meant: bool,
    /// Whether git comes here regardless of what is found elsewhere.
    is_certain: bool,
}

/// State of a worker.
#[derive(Default)]
pub(super) struct Worker {
    /// Entries of a listing by name.
    order: Vec<u32>,
    path: Vec<u8>,
    /// Whether something was found in the current listing that may make git go no further.
    stopped: bool,
    /// The stat data of the directory of the current listing, if notes are taken.
    stat: Option<Stat>,
    /// Results that were not handed over yet.
    found: Scanned,
}

struct Scan<'a> {
    inputs: &'a Inputs<'a>,
    states: Vec<AtomicU8>,
    /// See [`Scanned::lists_all`].
    lists_all: AtomicBool,
    shared: Mutex<Scanned>,
}

/// A directory whose entries are being examined.
struct Listed<'a> {
    place: &'a Place<Directory>,
    listing: &'a Listing,
    level: Arc<Level>,
}

const GIT_DIR: &[u8] = b".git";
const IGNORE_FILE: &[u8] = b".gitignore";
const ATTRIBUTES_FILE: &[u8] = b".gitattributes";

impl Visitor for Scan<'_> {
    type Directory = Directory;
    type Worker = Worker;
    type Error = Error;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    /// Patterns, repositories and deleted files can only be found in a complete listing.
    fn wants_whole(&self, _: &Place<Directory>) -> bool {
        true
    }

    /// What is in an untracked directory that is known to be shown does not matter.
    fn is_needed(&self, place: &Place<Directory>) -> bool {
        let folder = place.data.folder.as_ref();
        self.inputs.wish.ignored() || folder.is_none_or(|folder| folder.is_needed())
    }

    /// Enough is found in an untracked directory, mostly, before another worker could help.
    fn in_turn(&self, place: &Place<Directory>) -> bool {
        let folder = place.data.folder.as_ref();
        !self.inputs.wish.ignored() && folder.is_some_and(|folder| folder.in_turn())
    }

    /// If only tracked files count, they are looked up by name.
    fn known(&self, place: &Place<Directory>) -> Option<Listing> {
        let only_tracked = self.wants_only_tracked(place);
        if only_tracked {
            self.lists_all.store(false, Ordering::Relaxed);
        }
        only_tracked.then(|| self.tracked_names(place))
    }

    fn opened(
        &self,
        worker: &mut Worker,
        place: &Place<Directory>,
        directory: &OpenDirectory,
        _: &Listing,
    ) -> Result<()> {
        let is_noted = self.inputs.takes_notes && !self.wants_only_tracked(place);
        worker.stat = is_noted
            .then(|| directory.stat_self())
            .transpose()
            .unwrap_or_default();
        Ok(())
    }

    fn listed(
        &self,
        worker: &mut Worker,
        place: &Place<Directory>,
        listing: &Listing,
        plan: &mut Plan<Directory>,
    ) -> Result<()> {
        let is_tracked = !place.data.rows.is_empty();
        if !is_tracked && !place.path().is_empty() && self.is_done_with(worker, place, listing) {
            self.hand_over(worker);
            return Ok(());
        }
        let listed = Listed {
            place,
            listing,
            level: Arc::new(self.level(place, listing)),
        };
        self.leads(worker, &listed);
        self.consult(&listed);
        worker.stopped = false;
        if is_tracked {
            self.join(worker, &listed, plan);
        } else {
            (0..listing.len() as u32)
                .for_each(|entry| self.untracked(worker, &listed, entry, plan));
        }
        if let Some(stat) = worker.stat.take() {
            let folder = place.data.folder.clone();
            let patterns = listed.level.used_patterns();
            let hash = self.inputs.index.hash();
            let path = place.path().as_bstr();
            let notes = &mut worker.found.notes;
            notes.listed(path, &stat, folder, patterns, hash);
        }
        self.hand_over(worker);
        Ok(())
    }

    fn complete(&self, _: &mut Worker, _: &Place<Directory>) -> Result<()> {
        Ok(())
    }

    fn statted(
        &self,
        worker: &mut Worker,
        place: &Place<Directory>,
        listing: &Listing,
        states: &[(Wanted, io::Result<Stat>)],
    ) -> Result<()> {
        let entries = self.inputs.index.entries();
        for (wanted, outcome) in states {
            let row = wanted.tag;
            let entry = &entries[row as usize];
            let judged = match outcome {
                // Paths in conflict are not compared.
                Ok(_) if entry.flags.stage != Stage::Merged => State::Modified,
                Ok(stat) => state(entry, stat, &self.inputs.state),
                Err(error) if error.kind() == io::ErrorKind::NotFound => State::Absent,
                Err(error) => {
                    let path = place.path_of(listing.name_of(wanted.entry));
                    let reason = hedgerow_fs::reason(error);
                    let text = format!("cannot stat '{}': {reason}", path.as_bstr());
                    let path = path.into();
                    let warning = Warning::new(path, text, error);
                    worker.found.warnings.push(warning);
                    State::Unknown
                }
            };
            self.note(row, judged);
            if let (Ok(stat), true) = (outcome, judged != State::Clean) {
                worker.found.modes.push((row, stat.mode));
            }
        }
        self.hand_over(worker);
        Ok(())
    }

    /// Tracked files in a directory that cannot be listed may still exist.
    fn failed(
        &self,
        worker: &mut Worker,
        place: &Place<Directory>,
        error: ScanError,
    ) -> Result<Option<Listing>> {
        if is_absent(&error.source) {
            return Ok(None);
        }
        if self.inputs.takes_notes {
            worker.found.notes.failed(place.path().as_bstr());
        }
        let path = match place.path() {
            b"" => BString::from("."),
            path => bstr::concat([path, b"/"]).into(),
        };
        let verb = match error.operation {
            Operation::Open => "open",
            Operation::List => "read",
        };
        let reason = hedgerow_fs::reason(&error.source);
        let text = format!("could not {verb} directory '{path}': {reason}");
        let warning = Warning::new(path, text, &error.source);
        worker.found.warnings.push(warning);
        self.hand_over(worker);
        let names = self.tracked_names(place);
        Ok((!names.is_empty()).then_some(names))
    }

    /// The state of tracked files there is unknown.
    fn lost(&self, _: &mut Worker, place: &Place<Directory>, error: &io::Error) -> Result<()> {
        if !is_absent(error) {
            place
                .data
                .rows
                .clone()
                .for_each(|row| self.note(row, State::Unknown));
        }
        Ok(())
    }
}

impl Scan<'_> {
    /// Looks at the working tree from the top.
    fn search(&self, engine: hedgerow_engine::Options) -> Result<()> {
        let work_tree = self.inputs.work_tree;
        let root = OpenDirectory::open(work_tree)
            .map_err(|source| hedgerow_fs::Error::new("open", work_tree, source))?;
        let first = Directory {
            rows: 0..self.states.len() as u32,
            above: None,
            excluded: Some(false),
            folder: None,
            meant: true,
            is_certain: true,
        };
        let options = hedgerow_walk::Options {
            engine,
            one_file_system: false,
        };
        hedgerow_walk::scan(root, first, self, &options).map_err(Error::from)?;
        Ok(())
    }

    /// Whether nothing but the tracked files in a directory counts.
    fn wants_only_tracked(&self, place: &Place<Directory>) -> bool {
        let (wish, data) = (self.inputs.wish, &place.data);
        let is_ignored = data.excluded == Some(true) && !data.rows.is_empty();
        // What a hostile index has in there does not make the rest untracked files.
        let mut above = place.path().split_str(b"/");
        let is_in_git_dir = above.any(|name| self.is_git_dir(name));
        !wish.any() || is_ignored && !wish.ignored() || is_in_git_dir
    }

    /// Takes a directory as it is known, instead of looking at it.
    fn take_known(&self, worker: &mut Worker, known: &Known) {
        if self.inputs.takes_notes {
            worker.found.notes.kept(known.records.clone());
        }
        self.lists_all.store(false, Ordering::Relaxed);
        known
            .rows
            .clone()
            .for_each(|row| self.note(row, State::Clean));
        let untracked = known.take_untracked().into_iter();
        let untracked = untracked.map(|path| UntrackedPath {
            path,
            ignored: false,
            folder: None,
        });
        worker.found.found.extend(untracked);
    }

    fn note(&self, row: u32, state: State) {
        self.states[row as usize].store(state as u8, Ordering::Relaxed);
    }

    /// Moves the worker's results to the shared ones.
    fn hand_over(&self, worker: &mut Worker) {
        let own = &mut worker.found;
        let nothing = own.modes.is_empty()
            && own.found.is_empty()
            && own.folders.is_empty()
            && own.attributes.is_empty()
            && own.warnings.is_empty()
            && own.notes.is_empty();
        if nothing {
            return;
        }
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.modes.append(&mut own.modes);
        all.found.append(&mut own.found);
        all.folders.append(&mut own.folders);
        all.attributes.append(&mut own.attributes);
        all.warnings.append(&mut own.warnings);
        all.notes.append(&mut own.notes);
    }
}

impl Listed<'_> {
    fn kind(&self, entry: u32) -> Option<FileKind> {
        self.listing.entries()[entry as usize].kind
    }
}

/// Length of the path prefix of entries of `directory`, in bytes.
fn prefix(directory: &[u8]) -> usize {
    match directory.len() {
        0 => 0,
        length => length + 1,
    }
}
