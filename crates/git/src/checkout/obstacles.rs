//! What is in the way of the files to write without being in the index, and whether it may be
//! removed.

use super::folded::FoldedFiles;
use super::recursion::{Leaving, MayGo};
use super::rejects::{ancestors, Reason, Refused, Rejects};
use super::rows::is_there;
use super::transition::{Transition, Write};
use crate::ignore::Ignore;
use crate::index::{Index, Mode, Stage};
use crate::worktree::state::State;
use crate::worktree::survey::{survey, PathState};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Options;
use hedgerow_fs::{Dir, FileKind};
use hedgerow_tree::split_path;
use std::collections::BTreeSet;
use std::io;

/// Something that is in the way and may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Obstacle {
    /// Its path.
    pub path: BString,
    /// Whether it is a directory, which is removed with everything in it.
    pub directory: bool,
}

/// What becomes of untracked files that are in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untracked {
    /// They stay, and the move is refused; ignored ones may be overwritten.
    Keep,
    /// The same, but what took the place of a tracked file is a change of it, and goes with the others.
    KeepBeside,
    /// They stay, and ignored ones too.
    KeepIgnored,
    /// They are overwritten.
    Overwrite,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Place {
    Free = 0,
    File,
    Directory,
    Blocked,
}

/// Why a place is examined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    /// The write at this position creates a file that is new to the index.
    New { write: usize, gitlink: bool },
    /// A file that the index no longer has must not exist.
    Gone { gitlink: bool },
    /// A file to be removed has become a directory.
    BecameDirectory,
}

/// What was found at the places.
#[derive(Default)]
struct Found {
    obstacles: Vec<Obstacle>,
    rejects: Rejects,
    refused: Refused,
    /// The positions of writes that replace a file that may be removed.
    replacing: Vec<usize>,
    /// Directories that are to become files, each with the first changed file in it.
    changed_below: Vec<(BString, BString)>,
}

impl Found {
    /// Whether nothing must stay.
    fn is_all_free(&self) -> bool {
        self.rejects.is_empty() && self.changed_below.is_empty()
    }
}

/// All places to examine, in ascending order, so that a directory precedes its content.
fn visits<'t>(transition: &'t Transition) -> Vec<(&'t BStr, Visit)> {
    let index = &transition.index;
    let writes = transition.writes.iter().enumerate();
    let new = writes.filter(|(_, write)| write.untracked);
    let new = new.map(|(write, Write { row, .. })| {
        let entry = &index.entries()[*row as usize];
        let gitlink = entry.mode == Mode::Gitlink;
        (index.path(entry), Visit::New { write, gitlink })
    });
    let gone = |path: &'t BString, gitlink| (path.as_bstr(), Visit::Gone { gitlink });
    let files = transition.must_be_absent.iter();
    let files = files.map(|path| gone(path, false));
    let links = transition.absent_links.iter();
    let links = links.map(|(path, _)| gone(path, true));
    let replaced = transition.became_directories.iter();
    let mut visits: Vec<(&BStr, Visit)> = new
        .chain(files)
        .chain(links)
        .chain(replaced.map(|path| (path.as_bstr(), Visit::BecameDirectory)))
        .collect();
    visits.sort_by_key(|(path, _)| *path);
    visits
}

/// The data and rules that decide what may be removed.
pub(crate) struct Inquiry<'a> {
    pub root: &'a Dir,
    pub old: &'a Index,
    /// The state of each file of `old`.
    pub states: &'a [State],
    /// Local changes are overwritten.
    pub overwrites: bool,
    /// They were put aside.
    pub carries: bool,
    pub untracked: Untracked,
    /// Whether sparse checkout is on: git looks at the places of new files only if nothing else is refused.
    pub sparse: bool,
    /// The submodules that go.
    pub leaving: &'a [Leaving],
    pub ignore: &'a Ignore,
    pub folded: FoldedFiles<'a>,
    /// The user's current directory: it must stay a directory.
    pub current_directory: Option<&'a BStr>,
    pub options: &'a Options,
}

impl Inquiry<'_> {
    /// Examines the places of all files that are new to the index. A file that may be removed stays
    /// until its replacement is written. Other removable obstacles are returned in ascending order;
    /// those that must stay are added to the rejects.
    pub(crate) fn obstacles(&self, transition: &mut Transition) -> Result<Vec<Obstacle>> {
        let mut found = Found::default();
        let rejected = transition.rejects.hiding();
        let (visits, last): (Vec<_>, Vec<_>) = visits(transition)
            .into_iter()
            .partition(|(_, visit)| !self.sparse || !matches!(visit, Visit::New { .. }));
        self.examine_all(&visits, transition, &rejected, &mut found)?;
        let is_refused = !found.is_all_free() || !rejected.is_empty();
        if !is_refused {
            self.examine_all(&last, transition, &rejected, &mut found)?;
        } else if self.sparse {
            transition
                .rejects
                .forget_all_of(Reason::UntrackedOverwritten);
        }
        for write in found.replacing {
            transition.writes[write].replaces = true;
        }
        let rejects = &mut transition.rejects;
        rejects.extend(found.rejects);
        for (above, first) in found.changed_below {
            rejects.add_below(above.as_bstr(), first.as_bstr());
        }
        rejects.drop_below(&found.refused, &rejected);
        let mut obstacles = found.obstacles;
        obstacles.sort_by(|a: &Obstacle, b| a.path.cmp(&b.path));
        obstacles.dedup();
        Ok(obstacles)
    }

    fn examine_all(
        &self,
        visits: &[(&BStr, Visit)],
        transition: &Transition,
        rejected: &BTreeSet<BString>,
        found: &mut Found,
    ) -> Result<()> {
        let places = self.places(visits.len(), &|at| visits[at].0)?;
        for ((path, visit), place) in visits.iter().copied().zip(places) {
            // Like git, looks no further below a path that was refused.
            if found.refused.covers(path) || ancestors(path).any(|above| rejected.contains(above)) {
                continue;
            }
            let leaving = self.leaving.iter().find(|leaving| leaving.covers(path));
            match (visit, leaving) {
                (Visit::New { .. }, Some(leaving)) => {
                    self.examine_left(path, leaving, found)?;
                }
                _ => self.examine(path, visit, place, transition, found)?,
            }
        }
        Ok(())
    }

    /// The place of a new file in that of a submodule that goes.
    fn examine_left(&self, path: &BStr, leaving: &Leaving, found: &mut Found) -> Result<()> {
        let before = found.rejects.len();
        let (obstacles, rejects) = (&mut found.obstacles, &mut found.rejects);
        let around =
            |left: &BStr| Ok(self.forces() || self.ignore.is_ignored(self.root, left, false)?);
        let may_go = MayGo {
            around: &around,
            ignored: self.untracked != Untracked::KeepIgnored,
        };
        leaving.judge(path, &may_go, obstacles, rejects)?;
        if found.rejects.len() > before {
            found.refused.insert(path, None);
        }
        Ok(())
    }

    fn examine(
        &self,
        path: &BStr,
        visit: Visit,
        place: Place,
        transition: &Transition,
        found: &mut Found,
    ) -> Result<()> {
        let is_left = matches!(
            visit,
            Visit::BecameDirectory
                | Visit::New { gitlink: true, .. }
                | Visit::Gone { gitlink: true }
        );
        if place == Place::Directory && !is_left {
            // If a file below has changes, that file is reported instead of the directory.
            if let Some(first) = self.first_changed_below(path) {
                found.refused.insert(path, Some(first.to_owned()));
                found
                    .changed_below
                    .push((path.to_owned(), first.to_owned()));
                return Ok(());
            }
        }
        let (rejects, obstacles) = (&mut found.rejects, &mut found.obstacles);
        let before = rejects.len();
        match (visit, place) {
            (
                Visit::New { gitlink: true, .. } | Visit::Gone { gitlink: true },
                Place::Directory,
            ) => {}
            (Visit::New { write, gitlink }, _) => {
                let known = obstacles.len();
                self.judge(path, place, transition, obstacles, rejects)?;
                // A file stays until its replacement has content.
                if place == Place::File && !gitlink && obstacles.len() > known {
                    obstacles.truncate(known);
                    found.replacing.push(write);
                }
            }
            (Visit::Gone { .. }, Place::File)
                if self.folded.is_unchanged(path)
                    || self.ignore.is_ignored(self.root, path, false)? => {}
            (Visit::Gone { .. }, Place::File) => rejects.add(Reason::UntrackedRemoved, path),
            (Visit::Gone { .. }, Place::Blocked) => {
                self.refuse_blocking(path, transition, rejects)?
            }
            (Visit::Gone { .. }, Place::Directory)
                if !self.holds_only_tracked(path, transition)? =>
            {
                rejects.add(Reason::DirectoryNotClean, path);
            }
            (Visit::BecameDirectory, _) if self.forces() => {}
            (Visit::BecameDirectory, Place::Directory)
                if !self.holds_nothing_of_value(path, transition)? =>
            {
                rejects.add(Reason::DirectoryNotClean, path);
            }
            (Visit::BecameDirectory, _) if self.overwrites => {}
            (Visit::BecameDirectory, _) => rejects.add(Reason::NotUpToDate, path),
            (Visit::Gone { .. }, _) => {}
        }
        if rejects.len() > before {
            found.refused.insert(path, None);
        }
        Ok(())
    }

    /// Whether the directory `path` holds a submodule with a repository that does not move along.
    fn holds_submodule_that_stays(&self, path: &BStr) -> Result<bool> {
        let goes = |link: &BStr| self.leaving.iter().any(|leaving| leaving.covers(link));
        holds_populated_submodule(self.root, self.old, path, &goes)
    }

    fn forces(&self) -> bool {
        self.untracked == Untracked::Overwrite
    }

    fn places<'p>(
        &self,
        count: usize,
        path: &(dyn Fn(usize) -> &'p BStr + Sync),
    ) -> Result<Vec<Place>> {
        let judge = |_: usize, found: PathState<'_>| match found {
            PathState::Absent | PathState::Unknown => Place::Free as u8,
            PathState::Blocked => Place::Blocked as u8,
            PathState::Present(stat) if stat.kind == FileKind::Directory => Place::Directory as u8,
            PathState::Present(_) => Place::File as u8,
        };
        let found = survey(
            self.root,
            count,
            |at| path(at).as_ref(),
            judge,
            self.options,
        )?;
        let place = |byte: u8| match byte {
            1 => Place::File,
            2 => Place::Directory,
            3 => Place::Blocked,
            _ => Place::Free,
        };
        let bytes = found.answered()?.verdicts.into_iter();
        Ok(bytes.map(place).collect())
    }

    fn judge(
        &self,
        path: &BStr,
        place: Place,
        transition: &Transition,
        obstacles: &mut Vec<Obstacle>,
        rejects: &mut Rejects,
    ) -> Result<()> {
        let force = self.forces();
        match place {
            Place::Free => {}
            Place::File => {
                // A file known to the index is judged together with its entry. A file in the place
                // of a submodule is not known to it.
                let known = self.old.find(path, Stage::Merged);
                let is_known = known.is_ok_and(|row| self.old.entries()[row].mode != Mode::Gitlink);
                // What was changed in it is put aside.
                let is_carried = self.carries && self.folded.is_removed(path, transition);
                if is_known || is_carried || self.folded.is_unchanged(path) {
                    return Ok(());
                }
                if force || self.ignore.is_ignored(self.root, path, false)? {
                    obstacles.push(Obstacle {
                        path: path.to_owned(),
                        directory: false,
                    })
                } else {
                    rejects.add(Reason::UntrackedOverwritten, path)
                }
            }
            Place::Directory => {
                if self.is_where_the_user_is(path) {
                    rejects.add(Reason::CurrentDirectory, path);
                } else if self.holds_submodule_that_stays(path)? {
                    // Git would delete it, with possibly the only copy of its history.
                    rejects.add(Reason::DirectoryNotClean, path);
                } else if force
                    || self.is_overwritten(path)
                    || self.holds_nothing_of_value(path, transition)?
                {
                    obstacles.push(Obstacle {
                        path: path.to_owned(),
                        directory: true,
                    });
                } else {
                    rejects.add(Reason::DirectoryNotClean, path);
                }
            }
            Place::Blocked => {
                let Some(blocking) = first_blocking(self.root, path)? else {
                    return Ok(());
                };
                let removal = transition.removal_at(self.old, blocking);
                if removal.is_some_and(|removal| !removal.directory) {
                    // Also a file in conflict, which goes whatever it holds.
                } else if self.stays(blocking, transition) {
                    rejects.add(Reason::UntrackedOverwritten, blocking);
                } else if self.is_overwritten(path) {
                    obstacles.push(Obstacle {
                        path: blocking.to_owned(),
                        directory: false,
                    });
                } else {
                    self.judge(blocking, Place::File, transition, obstacles, rejects)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses what is in the way of the directory of a file that must not exist. Git does not ask
    /// whether it is tracked.
    fn refuse_blocking(
        &self,
        path: &BStr,
        transition: &Transition,
        rejects: &mut Rejects,
    ) -> Result<()> {
        let Some(blocking) = first_blocking(self.root, path)? else {
            return Ok(());
        };
        let goes = transition.removes(self.old, blocking);
        if !goes && !self.ignore.is_ignored(self.root, blocking, false)? {
            rejects.add(Reason::UntrackedRemoved, blocking);
        }
        Ok(())
    }

    /// Whether the file at `path` is tracked by the index, and is not to be removed.
    fn stays(&self, path: &BStr, transition: &Transition) -> bool {
        let known = self.old.find(path, Stage::Merged);
        let is_tracked = known.is_ok_and(|row| self.old.entries()[row].mode != Mode::Gitlink);
        is_tracked && !self.overwrites && !transition.removes(self.old, path)
    }

    /// The first changed file in a directory that is to become a file; git looks no further.
    fn first_changed_below(&self, directory: &BStr) -> Option<&BStr> {
        if self.overwrites {
            return None;
        }
        let is_changed = |row: &usize| {
            let entry = &self.old.entries()[*row];
            let is_same = matches!(self.states[*row], State::Clean | State::Absent);
            entry.flags.stage == Stage::Merged && entry.mode != Mode::Gitlink && !is_same
        };
        let row = self.old.range_under(directory).find(is_changed)?;
        Some(self.old.path(&self.old.entries()[row]))
    }

    /// Whether what is in the way of `path` is a local change that is overwritten: a tracked file was
    /// there.
    fn is_overwritten(&self, path: &BStr) -> bool {
        let is_file = |row: usize| {
            let entry = &self.old.entries()[row];
            entry.mode != Mode::Gitlink && !entry.flags.skip_worktree
        };
        let known = self.old.find(path, Stage::Merged);
        self.untracked == Untracked::KeepBeside && known.is_ok_and(is_file)
    }

    fn is_where_the_user_is(&self, path: &BStr) -> bool {
        self.current_directory == Some(path)
    }

    /// Whether everything in a directory is ignored or will be removed anyway.
    fn holds_nothing_of_value(&self, path: &BStr, transition: &Transition) -> Result<bool> {
        let goes = |path: &BStr| {
            transition.removes(self.old, path) || self.folded.is_removed(path, transition)
        };
        self.holds_only(path, &goes)
    }

    /// Whether everything in a directory is ignored or known to the index.
    fn holds_only_tracked(&self, path: &BStr, transition: &Transition) -> Result<bool> {
        let is_known = |path: &BStr| {
            transition.removes(self.old, path) || self.old.find(path, Stage::Merged).is_ok()
        };
        self.holds_only(path, &is_known)
    }

    /// Whether every file in a directory is ignored, or one of those that `is_harmless` knows, and
    /// no repository is in it: one whose directory is not ignored has a history of its own.
    fn holds_only(&self, path: &BStr, is_harmless: &dyn Fn(&BStr) -> bool) -> Result<bool> {
        if self.ignore.is_ignored(self.root, path, true)? {
            return Ok(true);
        }
        let mut pending = vec![path.to_owned()];
        while let Some(directory) = pending.pop() {
            let handle = self.root.open_dir(&directory)?;
            for entry in handle.list()? {
                if entry.name.eq_ignore_ascii_case(b".git") {
                    return Ok(false);
                }
                let mut path = directory.clone();
                path.push(b'/');
                path.extend_from_slice(&entry.name);
                let is_directory = match entry.kind {
                    Some(kind) => kind == FileKind::Directory,
                    None => handle.stat(&entry.name)?.kind == FileKind::Directory,
                };
                let path = path.as_bstr();
                if !is_directory && is_harmless(path)
                    || self.ignore.is_ignored(self.root, path, is_directory)?
                {
                    continue;
                }
                if is_directory {
                    pending.push(path.to_owned())
                } else {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Whether the directory `path` is that of a submodule of `index` that has a repository, or one such is
/// below it; not counting those that `goes` names.
pub(crate) fn holds_populated_submodule(
    root: &Dir,
    index: &Index,
    path: &BStr,
    goes: &dyn Fn(&BStr) -> bool,
) -> Result<bool> {
    let at = index.find(path, Stage::Merged).ok();
    for row in at.into_iter().chain(index.range_under(path)) {
        let entry = &index.entries()[row];
        let link = index.path(entry);
        if entry.mode != Mode::Gitlink || goes(link) {
            continue;
        }
        let git = BString::from([link.as_bytes(), b"/.git"].concat());
        if is_there(root, git.as_bstr())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first ancestor of a path that exists and is not a directory.
pub(crate) fn first_blocking<'p>(root: &Dir, path: &'p BStr) -> Result<Option<&'p BStr>> {
    for end in path.find_iter(b"/") {
        let part = &path[..end];
        let (parent, name) = split_path(part);
        match root.open_dir(parent)?.stat(name) {
            Ok(stat) if stat.kind != FileKind::Directory => return Ok(Some(part.as_bstr())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Removes the obstacles that may be removed.
pub(crate) fn clear(root: &Dir, obstacles: &[Obstacle]) -> Result<()> {
    for obstacle in obstacles {
        let outcome = if obstacle.directory {
            remove_directory(root, &obstacle.path)
        } else {
            remove_file(root, &obstacle.path)
        };
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

fn remove_file(root: &Dir, path: &[u8]) -> hedgerow_fs::Result<()> {
    let (parent, name) = split_path(path);
    root.open_dir(parent)?.remove_file(name)
}

/// Removes a directory with everything in it. Not recursive, because paths can be as deep as the
/// disk has room for.
fn remove_directory(root: &Dir, path: &[u8]) -> hedgerow_fs::Result<()> {
    let mut pending = vec![(path.to_vec(), false)];
    while let Some((directory, emptied)) = pending.pop() {
        if emptied {
            let (parent, name) = split_path(&directory);
            root.open_dir(parent)?.remove_dir(name)?;
            continue;
        }
        let handle = root.open_dir(&directory)?;
        pending.push((directory.clone(), true));
        for entry in handle.list()? {
            let is_directory = match entry.kind {
                Some(kind) => kind == FileKind::Directory,
                None => handle.stat(&entry.name)?.kind == FileKind::Directory,
            };
            if is_directory {
                pending.push(([&directory, &b"/"[..], &entry.name].concat(), false))
            } else {
                handle.remove_file(&entry.name)?
            }
        }
    }
    Ok(())
}
