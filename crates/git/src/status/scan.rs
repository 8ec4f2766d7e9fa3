//! One pass over the working tree: each directory's listing is joined with that directory's slice
//! of the index. What is tracked is statted, what is not is sorted into untracked and ignored.

use super::exclusion::{Level, Rules, Source};
use super::leading::missing;
use super::rows::{children, Child};
use super::untracked::{Folder, Found, Wish};
use crate::index::{Index, Mode, Stage};
use crate::repository::{Objects, OtherRepositories};
use crate::worktree::pathspecs::{Pathspecs, Reach};
use crate::worktree::state::{state, State, StateRules};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{FileKind, Listing, OpenDirectory, Stat};
use hedgerow_walk::{Operation, Place, Plan, ScanError, Visitor, Wanted};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a scan is given.
pub(super) struct Inputs<'a> {
    pub objects: Objects<'a>,
    pub others: OtherRepositories<'a>,
    pub work_tree: &'a Path,
    pub index: &'a Index,
    pub state: StateRules,
    pub exclusion: Rules<'a>,
    pub wish: Wish,
    /// The paths that are meant; all if there are none.
    pub pathspecs: Option<&'a Pathspecs>,
    /// Whether the index has files that are not to be in the working tree.
    pub has_skipped: bool,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The state of each row of the index; of several stages, that of the first.
    pub states: Vec<State>,
    /// `st_mode` of the files that are not known to be clean, ascending by row.
    pub modes: Vec<(u32, u32)>,
    pub found: Vec<Found>,
    pub folders: Vec<Arc<Folder>>,
    /// Directories with a `.gitattributes` in the working tree, without a slash at their end.
    pub attributes: Vec<BString>,
    /// What could not be looked at, in git's words.
    pub warnings: Vec<String>,
}

/// Scans the working tree.
pub(super) fn scan(inputs: &Inputs<'_>, engine: hedgerow_engine::Options) -> Result<Scanned> {
    let rows = inputs.index.entries().len();
    let scan = Scan {
        inputs,
        states: (0..rows)
            .map(|_| AtomicU8::new(State::Absent as u8))
            .collect(),
        shared: Mutex::default(),
    };
    let root = OpenDirectory::open(inputs.work_tree)
        .map_err(|source| hedgerow_fs::Error::new("open", inputs.work_tree, source))?;
    let first = Directory {
        rows: 0..rows as u32,
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
    hedgerow_walk::scan(root, first, &scan, &options).map_err(Error::from)?;
    let states = scan.states.into_iter().map(AtomicU8::into_inner);
    let shared = scan.shared.into_inner();
    let mut scanned = shared.unwrap_or_else(PoisonError::into_inner);
    scanned.states = states.map(State::from_byte).collect();
    scanned.modes.sort_unstable();
    scanned.modes.dedup_by_key(|(row, _)| *row);
    scanned.attributes.sort_unstable();
    let mut unreadable = inputs.exclusion.warnings.lock();
    let unreadable = unreadable.as_deref_mut().map(std::mem::take);
    scanned.warnings.extend(unreadable.unwrap_or_default());
    scanned.warnings.sort_unstable();
    Ok(scanned)
}

/// What is known of a directory before it is listed.
pub(super) struct Directory {
    /// The rows of the index below it; none if nothing in it is tracked.
    rows: Range<u32>,
    above: Option<Arc<Level>>,
    /// Whether it is ignored itself, if that has been found out.
    excluded: Option<bool>,
    folder: Option<Arc<Folder>>,
    /// Whether the pathspecs mean it whole, and not only, perhaps, something in it.
    meant: bool,
    /// Whether git comes here whatever is found elsewhere.
    is_certain: bool,
}

/// What a worker keeps.
#[derive(Default)]
pub(super) struct Worker {
    /// Entries of a listing by name.
    order: Vec<u32>,
    path: Vec<u8>,
    /// Whether in the listing at hand something was found that may be reason enough to go no further.
    stopped: bool,
    /// What it found and has not handed over yet.
    found: Scanned,
}

struct Scan<'a> {
    inputs: &'a Inputs<'a>,
    states: Vec<AtomicU8>,
    shared: Mutex<Scanned>,
}

/// A directory whose entries are being looked at.
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

    /// Patterns, repositories and files that are gone are known only from a whole listing.
    fn wants_whole(&self, _: &Place<Directory>) -> bool {
        true
    }

    /// Where only tracked files count, they are asked for by name.
    fn known(&self, place: &Place<Directory>) -> Option<Listing> {
        (!self.inputs.wish.any()).then(|| self.tracked_names(place))
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
                // What is in conflict is not compared.
                Ok(_) if entry.flags.stage != Stage::Merged => State::Modified,
                Ok(stat) => state(entry, stat, &self.inputs.state),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    let path = place.path_of(listing.name_of(wanted.entry));
                    let reason = hedgerow_fs::reason(error);
                    let warning = format!("cannot stat '{}': {reason}", path.as_bstr());
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

    /// What is tracked in a directory that cannot be listed may still be there.
    fn failed(
        &self,
        worker: &mut Worker,
        place: &Place<Directory>,
        error: ScanError,
    ) -> Result<Option<Listing>> {
        if is_no_directory(&error.source) {
            return Ok(None);
        }
        let path = match place.path() {
            b"" => ".".into(),
            path => format!("{}/", path.as_bstr()),
        };
        let verb = match error.operation {
            Operation::Open => "open",
            Operation::List => "read",
        };
        let reason = hedgerow_fs::reason(&error.source);
        let warning = format!("could not {verb} directory '{path}': {reason}");
        worker.found.warnings.push(warning);
        self.hand_over(worker);
        let names = self.tracked_names(place);
        Ok((!names.is_empty()).then_some(names))
    }
}

impl Scan<'_> {
    /// The names that the index has in a directory. What is a submodule is asked for.
    fn tracked_names(&self, place: &Place<Directory>) -> Listing {
        let mut tracked = Vec::new();
        let rows = place.data.rows.clone();
        children(self.inputs.index, rows, prefix(place.path()), &mut tracked);
        let mut listing = Listing::default();
        for child in tracked {
            let mode = self.inputs.index.entries()[child.rows.start as usize].mode;
            let kind = match child.is_directory {
                true => Some(FileKind::Directory),
                false if mode == Mode::Gitlink => None,
                false => Some(FileKind::File),
            };
            // Names of an index are shorter than what a listing holds, or no system has them.
            let _ = listing.push(child.name, kind);
        }
        listing
    }

    fn level(&self, place: &Place<Directory>, listing: &Listing) -> Level {
        let names = || listing.entries().iter().map(|entry| listing.name(entry));
        let source = match names().any(|name| name == IGNORE_FILE) {
            true => Source::File,
            false => self.patterns_in_index(place),
        };
        let (above, is_certain) = (place.data.above.clone(), place.data.is_certain);
        let level = Level::new(above, place.path(), source, is_certain);
        match place.data.excluded {
            Some(excluded) => level.known(excluded),
            None => level,
        }
    }

    /// Looks at patterns that will not be readable where git does: it asks for each directory and
    /// each file that the index does not know.
    fn consult(&self, listed: &Listed<'_>) {
        let (place, listing) = (listed.place, listed.listing);
        let kind_of = |name: &[u8]| {
            let mut entries = listing.entries().iter();
            let entry = entries.find(|entry| listing.name(entry) == name);
            entry.map(|entry| entry.kind)
        };
        let is_odd = !matches!(kind_of(IGNORE_FILE), None | Some(Some(FileKind::File)));
        if !is_odd || !self.inputs.wish.any() || !place.data.is_certain {
            return;
        }
        for entry in listing.entries() {
            let name = listing.name(entry);
            let is_directory = entry.kind == Some(FileKind::Directory);
            let path = place.path_of(name);
            let path = path.as_bstr();
            let is_asked = !self.is_git_dir(name)
                && self.is_near(path)
                && (is_directory || !super::is_tracked(self.inputs.index, path));
            if is_asked {
                let rules = &self.inputs.exclusion;
                listed.level.excludes(path, is_directory, rules);
                return;
            }
        }
    }

    /// Patterns that are outside of the sparse checkout still hold.
    fn patterns_in_index(&self, place: &Place<Directory>) -> Source {
        if !self.inputs.has_skipped || place.data.rows.is_empty() {
            return Source::Nowhere;
        }
        let path = place.path_of(IGNORE_FILE);
        let row = self.inputs.index.find(path.as_bstr(), Default::default());
        let entry = row.ok().map(|row| self.inputs.index.entries()[row]);
        let objects = &self.inputs.objects;
        let content = entry
            .filter(|entry| entry.flags.skip_worktree)
            .and_then(|entry| objects.replacement(&entry.id).ok())
            .and_then(|id| objects.store.read(&id).ok());
        content.map_or(Source::Nowhere, |(_, content)| Source::Index(content))
    }

    /// Whether nothing more is to be looked for in an untracked directory: it is a repository of
    /// its own, or it is known already how it will be shown.
    fn is_done_with(
        &self,
        worker: &mut Worker,
        place: &Place<Directory>,
        listing: &Listing,
    ) -> bool {
        let data = &place.data;
        let folder = data.folder.as_ref();
        if !self.inputs.wish.ignored() && folder.is_some_and(|folder| folder.is_settled()) {
            return true;
        }
        let has_git_dir = listing
            .entries()
            .iter()
            .any(|entry| listing.name(entry) == GIT_DIR);
        if !has_git_dir || !self.is_repository(place.path()) {
            return false;
        }
        if !data.meant {
            return true;
        }
        let mut path = BString::from(place.path());
        path.push(b'/');
        let ignored = data.excluded == Some(true);
        let folder = folder.and_then(|folder| folder.above().cloned());
        self.found(worker, path, ignored, folder);
        true
    }

    fn is_repository(&self, directory: &[u8]) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let directory = std::ffi::OsStr::from_bytes(directory);
        let git_dir = self.inputs.work_tree.join(directory).join(".git");
        self.inputs.others.has(&git_dir)
    }

    /// Joins a listing with the rows of the index below the directory.
    fn join(&self, worker: &mut Worker, listed: &Listed<'_>, plan: &mut Plan<Directory>) {
        let mut tracked = Vec::new();
        let place = listed.place;
        let rows = place.data.rows.clone();
        children(self.inputs.index, rows, prefix(place.path()), &mut tracked);
        let mut order = std::mem::take(&mut worker.order);
        order.clear();
        order.extend(0..listed.listing.len() as u32);
        order.sort_unstable_by(|a, b| listed.listing.name_of(*a).cmp(listed.listing.name_of(*b)));
        let mut rest = tracked.as_slice();
        for entry in &order {
            let name = listed.listing.name_of(*entry);
            let before = rest.iter().take_while(|child| child.name < name).count();
            rest = &rest[before..];
            let same = rest.iter().take_while(|child| child.name == name).count();
            match same {
                0 => self.untracked(worker, listed, *entry, plan),
                _ => self.tracked(worker, listed, *entry, &rest[..same], plan),
            }
            if name == ATTRIBUTES_FILE {
                worker.found.attributes.push(place.path().into());
            }
        }
        worker.order = order;
    }

    /// An entry whose name the index knows: as a file, as a directory or, in a conflict, as both.
    fn tracked(
        &self,
        worker: &mut Worker,
        listed: &Listed<'_>,
        entry: u32,
        children: &[Child<'_>],
        plan: &mut Plan<Directory>,
    ) {
        let is_directory = listed.kind(entry) == Some(FileKind::Directory);
        let mut is_descended = false;
        for child in children {
            match (child.is_directory, is_directory) {
                (true, true) => {
                    is_descended = true;
                    let path = listed.place.path_of(child.name);
                    if !self.enters(path.into()) {
                        continue;
                    }
                    plan.descend(
                        entry,
                        Directory {
                            rows: child.rows.clone(),
                            above: Some(listed.level.clone()),
                            excluded: None,
                            folder: None,
                            meant: true,
                            is_certain: true,
                        },
                    );
                }
                (true, false) if children.len() == 1 => {
                    self.untracked(worker, listed, entry, plan);
                }
                (true, false) => {}
                (false, _) => {
                    let shown = self.tracked_file(child, entry, is_directory, plan);
                    let below = children.iter().any(|child| child.is_directory);
                    if shown && is_directory && !below && !is_descended {
                        self.untracked(worker, listed, entry, plan);
                    }
                }
            }
        }
    }

    /// Says whether the entry, a directory, is in the place of a file.
    fn tracked_file(
        &self,
        child: &Child<'_>,
        entry: u32,
        is_directory: bool,
        plan: &mut Plan<Directory>,
    ) -> bool {
        let row = child.rows.start;
        let rows = child.rows.start as usize..child.rows.end as usize;
        let stages = &self.inputs.index.entries()[rows];
        let flags = stages[0].flags;
        if is_directory {
            let is_submodule = stages.iter().any(|stage| stage.mode == Mode::Gitlink);
            let is_clean = is_submodule && flags.stage == Stage::Merged;
            let state = if is_clean {
                State::Clean
            } else {
                State::Directory
            };
            self.note(row, state);
            return !is_submodule;
        }
        if flags.skip_worktree || flags.assume_valid {
            self.note(row, State::Clean);
        } else {
            plan.stat(entry, row);
        }
        false
    }

    /// An entry that the index does not know.
    fn untracked(
        &self,
        worker: &mut Worker,
        listed: &Listed<'_>,
        entry: u32,
        plan: &mut Plan<Directory>,
    ) {
        let wish = self.inputs.wish;
        let name = listed.listing.name_of(entry);
        if !wish.any() || self.is_git_dir(name) {
            return;
        }
        let is_directory = match listed.kind(entry) {
            Some(FileKind::Directory) => true,
            Some(FileKind::File | FileKind::Symlink) => false,
            _ => return,
        };
        let data = &listed.place.data;
        let folder = data.folder.as_ref();
        if !wish.ignored() && folder.is_some_and(|folder| folder.is_settled()) {
            return;
        }
        worker.path.clear();
        listed.place.append_path_of(name, &mut worker.path);
        let path = worker.path.as_bstr();
        if !self.is_near(path) {
            return;
        }
        let excluded = listed
            .level
            .excludes(path, is_directory, &self.inputs.exclusion);
        if excluded && !wish.ignored() {
            return;
        }
        let reach = match is_directory {
            true if excluded => Reach::Matches,
            true => self.reach(path),
            false if self.means(path) => Reach::Matches,
            false => Reach::Outside,
        };
        if reach == Reach::Outside {
            return;
        }
        let path = path.to_owned();
        if !is_directory {
            worker.stopped = true;
            return self.found(worker, path, excluded, folder.cloned());
        }
        if excluded && wish.shows_directory_unseen() {
            let mut path = path;
            path.push(b'/');
            return self.found(worker, path, true, folder.cloned());
        }
        // In a directory of which nothing more is to be known, git does not go on.
        let stops = folder.is_some() && !wish.ignored();
        let is_certain = data.is_certain && (!stops || !worker.stopped);
        worker.stopped = true;
        let folds = wish.folds() && reach == Reach::Matches;
        let mut folder = folder.cloned();
        if folds {
            let own = Arc::new(Folder::new(path, excluded, folder));
            worker.found.folders.push(own.clone());
            folder = Some(own);
        }
        plan.descend(
            entry,
            Directory {
                rows: 0..0,
                above: Some(listed.level.clone()),
                excluded: Some(excluded),
                folder,
                meant: reach == Reach::Matches,
                is_certain,
            },
        );
    }

    /// How the pathspecs stand to the untracked directory `path`.
    fn reach(&self, path: &BStr) -> Reach {
        self.inputs.pathspecs.map_or(Reach::Matches, |pathspecs| {
            let path: BString = bstr::concat([path, BStr::new("/")]).into();
            pathspecs.untracked_directory(path.as_bstr())
        })
    }

    /// Whether to look into the directory `path`, in which something is tracked.
    fn enters(&self, path: BString) -> bool {
        let Some(pathspecs) = self.inputs.pathspecs else {
            return true;
        };
        let wish = self.inputs.wish;
        let looks = wish.any() && pathspecs.look_at(path.as_bstr());
        let mut path = path;
        path.push(b'/');
        let leads = pathspecs.leading().starts_with(&path);
        looks && (wish.ignored() || leads) || pathspecs.lead_into(path.as_bstr())
    }

    /// Warns if the way to what is meant ends here. Git goes it only through directories that it
    /// would look into.
    fn leads(&self, worker: &mut Worker, listed: &Listed<'_>) {
        let (wish, place) = (self.inputs.wish, listed.place);
        let Some(pathspecs) = self.inputs.pathspecs.filter(|_| wish.any()) else {
            return;
        };
        let warning = missing(pathspecs.leading(), place.path(), listed.listing);
        let looks = || {
            let excluded = || listed.level.is_excluded(&self.inputs.exclusion);
            place.data.folder.is_none() && (wish.ignored() || !excluded())
        };
        worker.found.warnings.extend(warning.filter(|_| looks()));
    }

    /// Whether the pathspecs mean the untracked file `path`.
    fn means(&self, path: &BStr) -> bool {
        let pathspecs = self.inputs.pathspecs;
        pathspecs.is_none_or(|pathspecs| pathspecs.fits(path, Mode::File))
    }

    /// Whether the pathspecs have git look at the entry `path` at all.
    fn is_near(&self, path: &BStr) -> bool {
        let pathspecs = self.inputs.pathspecs;
        pathspecs.is_none_or(|pathspecs| pathspecs.look_at(path))
    }

    fn is_git_dir(&self, name: &[u8]) -> bool {
        match self.inputs.exclusion.ignore_case {
            true => name.eq_ignore_ascii_case(GIT_DIR),
            false => name == GIT_DIR,
        }
    }

    fn found(
        &self,
        worker: &mut Worker,
        path: BString,
        ignored: bool,
        folder: Option<Arc<Folder>>,
    ) {
        if let Some(folder) = &folder {
            folder.note(ignored);
            // Of what is in a folder, only ignored paths can become lines.
            if !ignored || !self.inputs.wish.ignored() {
                return;
            }
        }
        worker.found.found.push(Found {
            path,
            ignored,
            folder,
        });
    }

    fn note(&self, row: u32, state: State) {
        self.states[row as usize].store(state as u8, Ordering::Relaxed);
    }

    /// Gives what the worker found to all.
    fn hand_over(&self, worker: &mut Worker) {
        let own = &mut worker.found;
        let nothing = own.modes.is_empty()
            && own.found.is_empty()
            && own.folders.is_empty()
            && own.attributes.is_empty()
            && own.warnings.is_empty();
        if nothing {
            return;
        }
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.modes.append(&mut own.modes);
        all.found.append(&mut own.found);
        all.folders.append(&mut own.folders);
        all.attributes.append(&mut own.attributes);
        all.warnings.append(&mut own.warnings);
    }
}

impl Listed<'_> {
    fn kind(&self, entry: u32) -> Option<FileKind> {
        self.listing.entries()[entry as usize].kind
    }
}

/// How many bytes of a path lead to what is in `directory`.
fn prefix(directory: &[u8]) -> usize {
    match directory.len() {
        0 => 0,
        length => length + 1,
    }
}

/// Whether the error says that there is no directory (any more).
fn is_no_directory(error: &io::Error) -> bool {
    const ELOOP: i32 = 40;
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    ) || error.raw_os_error() == Some(ELOOP)
}
