//! Entries that the index knows: a directory's listing is joined with its slice of the index.

use super::{prefix, Directory, Listed, Scan, Worker, ATTRIBUTES_FILE};
use crate::index::{Mode, Stage};
use crate::status::remarks::Warning;
use crate::status::rows::{children, Child};
use crate::worktree::state::{state, State};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{Dir, FileKind, Listing, Stat};
use hedgerow_tree::split_path;
use hedgerow_walk::{Place, Plan};
use std::sync::atomic::Ordering;

/// For a directory with at least this many files, it is worth finding out whether it is ignored.
const LARGE: usize = 256;

impl Scan<'_> {
    /// The index's names in a directory. Submodules are looked up as well.
    pub(super) fn tracked_names(&self, place: &Place<Directory>) -> Listing {
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
            // This fails only for names longer than a listing holds, which exist on no system.
            let _ = listing.push(child.name, kind);
        }
        listing
    }

    /// Joins a listing with the rows of the index below the directory.
    pub(super) fn join(
        &self,
        worker: &mut Worker,
        listed: &Listed<'_>,
        plan: &mut Plan<Directory>,
    ) {
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

    /// Looks up by name what no listing has: a listing may leave out what gives no answer, and on a file
    /// system that ignores case it may have a name in another case.
    pub(super) fn look_by_name(&self) -> Result<()> {
        let mut worker = Worker::default();
        let mut parents = None;
        for (row, entry) in self.inputs.index.entries().iter().enumerate() {
            let flags = entry.flags;
            let is_missed = self.states[row].load(Ordering::Relaxed) == State::Absent as u8;
            let is_known = flags.skip_worktree || flags.assume_valid;
            if !is_missed || is_known || !self.is_compared(row as u32) {
                continue;
            }
            let path = self.inputs.index.path(entry);
            let parents = match &mut parents {
                Some(parents) => parents,
                none => none.insert(Parents::of(Dir::open(self.inputs.work_tree)?)),
            };
            let stat = match parents.stat(path) {
                Ok(Some(stat)) => stat,
                Ok(None) => continue,
                Err(error) => {
                    let text = format!("cannot stat '{path}': {}", error.reason());
                    let warning = Warning::new(path.to_owned(), text, &error.source);
                    worker.found.warnings.push(warning);
                    self.note(row as u32, State::Unknown);
                    continue;
                }
            };
            let judged = match (stat.kind, entry.mode) {
                (FileKind::Directory, Mode::Gitlink) => State::Clean,
                (FileKind::Directory, _) => State::Directory,
                _ if flags.stage != Stage::Merged => State::Modified,
                _ => state(entry, &stat, &self.inputs.state),
            };
            self.note(row as u32, judged);
            if judged != State::Clean {
                worker.found.modes.push((row as u32, stat.mode));
            }
        }
        self.hand_over(&mut worker);
        Ok(())
    }

    /// Whether the directory `child` is ignored although files in it are tracked, if finding out is
    /// worth the effort: then it need not be listed, and git has no record of it.
    fn is_excluded(&self, listed: &Listed<'_>, child: &Child<'_>, path: &BStr) -> Option<bool> {
        if listed.place.data.excluded == Some(true) {
            return Some(true);
        }
        let is_large = child.rows.len() >= LARGE;
        let wish = self.inputs.wish;
        let asks = (is_large || self.inputs.takes_notes) && wish.any() && !wish.ignored();
        asks.then(|| listed.level.excludes(path, true, &self.inputs.exclusion))
    }

    /// Handles an entry whose name the index knows: as a file, as a directory or, in a conflict, as
    /// both.
    pub(super) fn tracked(
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
                // What it is could not be found out: opening it tells why.
                (true, _) if is_directory || listed.kind(entry).is_none() => {
                    is_descended = true;
                    let path = BString::from(listed.place.path_of(child.name));
                    if let Some(known) = self.inputs.quiet.directory(path.as_bstr()) {
                        self.take_known(worker, known);
                        continue;
                    }
                    let excluded = self.is_excluded(listed, child, path.as_bstr());
                    if !self.enters(path) {
                        continue;
                    }
                    plan.descend(
                        entry,
                        Directory {
                            rows: child.rows.clone(),
                            above: Some(listed.level.clone()),
                            excluded,
                            folder: None,
                            meant: true,
                            is_certain: true,
                        },
                    );
                }
                (true, _) if children.len() == 1 => {
                    // A file or a link is in the place of a tracked directory.
                    self.untracked(worker, listed, entry, plan);
                }
                (true, _) => {}
                (false, _) => {
                    let shown = self.tracked_file(child, entry, is_directory, plan);
                    let below = children.iter().any(|child| child.is_directory);
                    // A directory in the place of a tracked file is untracked, unless tracked paths
                    // are below it.
                    if shown && is_directory && !below && !is_descended {
                        self.untracked(worker, listed, entry, plan);
                    }
                }
            }
        }
    }

    /// Records the state of an entry that the index has as a file or submodule, or plans a stat of
    /// it. Returns whether it is a directory in the place of a file.
    pub(super) fn tracked_file(
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
            let state = if !self.is_compared(row) {
                State::Unknown
            } else if is_clean {
                State::Clean
            } else {
                State::Directory
            };
            self.note(row, state);
            return !is_submodule;
        }
        let is_known = flags.skip_worktree || flags.assume_valid;
        if is_known || self.inputs.quiet.is_unchanged(row) {
            self.note(row, State::Clean);
        } else if self.is_compared(row) {
            plan.stat(entry, row);
        } else {
            self.note(row, State::Unknown);
        }
        false
    }

    /// Whether the pathspecs match the entry `row`, or it must be examined all the same: if the index
    /// is written, nobody can tell later that a file changed in the second of the old one.
    fn is_compared(&self, row: u32) -> bool {
        let Some(pathspecs) = self.inputs.pathspecs else {
            return true;
        };
        let index = self.inputs.index;
        let entry = &index.entries()[row as usize];
        pathspecs.fits(index.path(entry), entry.mode)
            || index.is_racy(row as usize, self.inputs.state.index_mtime)
    }
}

/// Looks up paths in their order, with their directory kept open.
struct Parents {
    root: Dir,
    /// The last directory that was looked for; `None` if there is none.
    last: (BString, Option<Dir>),
}

impl Parents {
    fn of(root: Dir) -> Self {
        Parents {
            root,
            last: Default::default(),
        }
    }

    /// The stat data of `path`; `None` if there is no such entry.
    fn stat(&mut self, path: &BStr) -> hedgerow_fs::Result<Option<Stat>> {
        let (parent, name) = split_path(path);
        if parent.is_empty() {
            return there(self.root.stat(name));
        }
        if self.last.0 != parent {
            self.last = (parent.into(), there(self.root.open_dir(parent))?);
        }
        match &self.last.1 {
            Some(at) => there(at.stat(name)),
            None => Ok(None),
        }
    }
}

/// `None` instead of the error that something is absent.
fn there<T>(outcome: hedgerow_fs::Result<T>) -> hedgerow_fs::Result<Option<T>> {
    match outcome {
        Ok(it) => Ok(Some(it)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}
