//! What is put aside: the state of the index and of the working tree, as trees.

use crate::checkout::{first_blocking, kept_out, settle, smudge_unexamined, Session};
use crate::convert::Buffers;
use crate::index::{Entry, EntryStat, Index, Mode, Stage};
use crate::objects::{write_tree, ObjectWriter};
use crate::status::{staged, Staged, StagedChange};
use crate::tree::Side;
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::compare::{Comparison, Refreshed};
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::state::{states_of, State};
use crate::worktree::survey::Unknown;
use crate::worktree::OldIndex;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_codec::Deflater;
use hedgerow_engine::{run_tasks, Scope};
use hedgerow_fs::FileKind;
use hedgerow_object::ObjectKind;
use hedgerow_tree::split_path;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};

/// The local changes of tracked files.
pub(super) struct Changes {
    pub old: OldIndex,
    /// The state of the file of each entry that the pathspecs match.
    pub states: Vec<State>,
    /// Why the states of rows are unknown.
    unknown: Unknown,
    /// For each entry, whether the pathspecs match it.
    pub is_meant: Vec<bool>,
    /// How the index differs from HEAD, where the pathspecs match.
    pub staged: Staged,
    /// Whether anything at all is staged.
    pub is_staged: bool,
    /// What git says of a staged entry whose object is not there, if there is one: the entry of the stash
    /// would not have it either.
    pub without_object: Option<String>,
    /// The staged entries that git was told to leave alone, and whose files are not as staged: no entry
    /// gets what these files have.
    held: BTreeSet<usize>,
    /// The files that were read and found unchanged.
    refreshed: Vec<Refreshed>,
}

/// The rows of staged entries that git was told to leave alone whose files differ from them.
fn changed_although_held(
    session: &Session<'_>,
    old: &OldIndex,
    staged: &Staged,
) -> Result<BTreeSet<usize>> {
    let index = &old.index;
    let row = |change: &StagedChange| index.find(change.path.as_bstr(), Stage::Merged).ok();
    let is_held = |row: &usize| {
        let flags = index.entries()[*row].flags;
        flags.assume_valid || flags.skip_worktree
    };
    let rows = staged.changes.iter().filter_map(row).filter(is_held);
    let mut held: BTreeSet<usize> = rows.collect();
    if !held.is_empty() {
        let rules = session.rules(old);
        let found = states_of(session, index, &rules, |row| held.contains(&row))?;
        let mut states = found.answered()?.states;
        settle(session, &mut states, index)?;
        held.retain(|row| {
            let state = states[*row];
            !matches!(state, State::Clean | State::Unchanged | State::Absent)
        });
    }
    Ok(held)
}

/// What git says of the first staged entry without an object; a partial clone fetches those that are promised.
fn without_object(session: &Session<'_>, staged: &Staged) -> Result<Option<String>> {
    let repository = session.repository;
    let changes = staged.changes.iter();
    let entries = changes.filter_map(|change| Some((&change.path, change.index?)));
    let entries = entries.filter(|(_, side)| side.mode != Mode::Gitlink);
    let ids: Vec<ObjectId> = entries.clone().map(|(_, side)| side.id).collect();
    repository.fetch_missing(&ids)?;
    for (path, side) in entries {
        if !repository.has_object(&side.id)? {
            let (mode, id) = (side.mode.to_u32(), side.id);
            return Ok(Some(format!("invalid object {mode:06o} {id} for '{path}'")));
        }
    }
    Ok(None)
}

impl Changes {
    /// Looks for them.
    pub(super) fn find(
        session: &Session<'_>,
        old: OldIndex,
        head: Option<ObjectId>,
        specs: Option<&Pathspecs>,
    ) -> Result<Changes> {
        let fits = |path: &BStr, mode: Mode| specs.is_none_or(|specs| specs.fits(path, mode));
        let is_meant: Vec<bool> = old
            .index
            .iter()
            .map(|(path, entry)| fits(path, entry.mode))
            .collect();
        let is_asked = |row: usize| {
            let flags = old.index.entries()[row].flags;
            is_meant[row] && !flags.skip_worktree && !flags.assume_valid
        };
        let rules = session.rules(&old);
        let engine = session.engine();
        let found = states_of(session, &old.index, &rules, is_asked)?.answered()?;
        let (mut states, unknown) = (found.states, found.unknown);
        let refreshed = settle(session, &mut states, &old.index)?;
        for (row, state) in states.iter_mut().enumerate() {
            if !is_asked(row) {
                *state = State::Clean;
            }
        }
        let mut staged = staged(session.repository, &old.index, head, &engine)?;
        let is_staged = !staged.changes.is_empty();
        let without_object = without_object(session, &staged)?;
        staged.changes.retain(|change| {
            let version = change.index.or(change.head);
            version.is_some_and(|version| fits(change.path.as_bstr(), version.mode))
        });
        let held = changed_although_held(session, &old, &staged)?;
        Ok(Changes {
            old,
            states,
            unknown,
            is_meant,
            staged,
            is_staged,
            without_object,
            held,
            refreshed,
        })
    }

    /// Why the state of the file of the entry `row` is unknown, as a message.
    pub(super) fn why_unknown(&self, row: usize) -> String {
        let mut unknown = self.unknown.iter();
        let error = unknown.find_map(|(at, error)| (*at == row).then_some(error));
        let path = self.old.index.path(&self.old.index.entries()[row]);
        error.map_or_else(|| format!("cannot stat '{path}'"), ToString::to_string)
    }

    /// Whether the file of the staged entry `row` has what no entry gets.
    pub(super) fn is_held(&self, row: usize) -> bool {
        self.held.contains(&row)
    }

    /// The same for all paths.
    pub(super) fn of_all(mut self, session: &Session<'_>, head: ObjectId) -> Result<Changes> {
        self.refresh();
        let mut all = Changes::find(session, self.old, Some(head), None)?;
        all.refreshed.extend(self.refreshed);
        Ok(all)
    }

    /// The index with the stat data of files that were found unchanged, if there are such.
    pub(super) fn refreshed_index(mut self, session: &Session<'_>) -> Result<Option<Index>> {
        if self.refreshed.is_empty() {
            return Ok(None);
        }
        self.refresh();
        let (mtime, mut index) = (self.old.mtime, self.old.index);
        let refreshed: HashSet<u32> = self.refreshed.iter().map(|(row, _)| *row).collect();
        let is_kept = |row: usize| !refreshed.contains(&(row as u32));
        smudge_unexamined(session, mtime, &mut index, is_kept)?;
        Ok(Some(index))
    }

    fn refresh(&mut self) {
        let entries = self.old.index.entries_mut();
        for (row, stat) in &self.refreshed {
            entries[*row as usize].stat = *stat;
        }
    }

    /// Whether there are any. What changed in submodules is none, and neither is what took the place
    /// of one.
    pub(super) fn are_there(&self) -> bool {
        let is_link = |mode: Option<Mode>| mode.is_none_or(|mode| mode == Mode::Gitlink);
        let mut staged = self.staged.changes.iter();
        staged.any(|change| {
            let (head, index) = (
                change.head.map(|it| it.mode),
                change.index.map(|it| it.mode),
            );
            !(is_link(head) && is_link(index))
        }) || self
            .unstaged()
            .any(|row| self.old.index.entries()[row].mode != Mode::Gitlink)
    }

    /// The rows whose files differ from the index.
    pub(super) fn unstaged(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = self.old.index.entries().iter().enumerate();
        let differs = |(row, entry): &(usize, &Entry)| {
            let differs = match self.states[*row] {
                State::Clean | State::Unchanged => entry.flags.intent_to_add,
                State::Directory => entry.mode != Mode::Gitlink,
                _ => true,
            };
            differs && self.is_meant[*row]
        };
        rows.filter(differs).map(|(row, _)| row)
    }

    /// Whether `path` is in the index and not in HEAD.
    fn is_new(&self, path: &BStr) -> bool {
        let changes = &self.staged.changes;
        let found = changes.binary_search_by(|change| change.path.as_bstr().cmp(path));
        found.is_ok_and(|at| changes[at].head.is_none())
    }

    /// The tree of the index.
    pub(super) fn index_tree(
        &self,
        session: &Session<'_>,
        writer: &ObjectWriter<'_>,
    ) -> Result<ObjectId> {
        index_tree(session, writer, &self.old.index)
    }

    /// The paths that are in HEAD and no longer in the index.
    fn removed(&self) -> impl Iterator<Item = &BStr> {
        let gone = self.staged.changes.iter();
        let gone = gone.filter(|change| change.index.is_none());
        gone.map(|change| change.path.as_bstr())
    }

    /// The first of them with a symbolic link above it: git looks for each in the working tree, unless
    /// a directory is there.
    fn removed_beyond_link(&self, session: &Session<'_>) -> Result<Option<&BStr>> {
        for path in self.removed() {
            if is_beyond_link(session, path)? && !leads_to_directory(session, path)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// The stat data of the files that seem to have changed.
    pub(super) fn stats(&self, session: &Session<'_>) -> Result<Vec<Refreshed>> {
        let mut stats = Vec::new();
        for row in self.unstaged() {
            let (above, name) = split_path(self.old.index.path(&self.old.index.entries()[row]));
            let directory = session.root.open_dir(above);
            match directory.and_then(|directory| directory.stat(name)) {
                Ok(found) => stats.push((row as u32, EntryStat::from(&found))),
                Err(error) if error.is_absent() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(stats)
    }

    /// Notes which files have not changed after all: what was recorded of them, `edits`, is what the index
    /// has. `stats` are from before they were read.
    pub(super) fn settle_recorded(
        &mut self,
        stats: Vec<Refreshed>,
        edits: &BTreeMap<BString, Option<Side>>,
    ) {
        for (row, stat) in stats {
            let entry = &self.old.index.entries()[row as usize];
            let recorded = edits.get(self.old.index.path(entry)).copied().flatten();
            let is_same = |side: Side| side.id == entry.id && Mode::from(side.kind) == entry.mode;
            if recorded.is_some_and(is_same) {
                self.states[row as usize] = State::Unchanged;
                self.refreshed.push((row, stat));
            }
        }
    }

    /// The tree of the index with the files of the working tree that differ, and these. Git's warnings
    /// about line ends are added to `warnings`.
    pub(super) fn worktree_tree(
        &self,
        session: &Session<'_>,
        writer: &ObjectWriter<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<(ObjectId, BTreeMap<BString, Option<Side>>)> {
        let index = &self.old.index;
        refuse_intents(session, index)?;
        let removed_beyond = self.removed_beyond_link(session)?;
        let mut wanted = Vec::new();
        let mut edits: BTreeMap<BString, Option<Side>> = BTreeMap::new();
        for row in self.unstaged() {
            let entry = &index.entries()[row];
            let path = index.path(entry);
            match self.states[row] {
                // Whatever is recorded for it could be wrong.
                State::Unknown => {
                    let reason = self.why_unknown(row);
                    return Err(Error::Setup { reason });
                }
                State::Directory => {}
                // Like git, which keeps what is staged and in no commit: its file is gone, so the
                // entry holds the only name of that content.
                State::Absent | State::Blocked if self.is_new(path) => {}
                // A link took the place of a directory above, and leads to another directory: like
                // git, which does not count that as a deletion.
                State::Blocked if leads_to_directory(session, path)? => {}
                // Putting the files back would replace the link, which nothing records.
                State::Blocked if is_beyond_link(session, path)? => {
                    return Err(beyond_link(
                        removed_beyond.map_or(path, |other| other.min(path)),
                    ));
                }
                State::Absent | State::Blocked => {
                    edits.insert(path.to_owned(), None);
                }
                // The file that took the place of a submodule.
                State::TypeChanged if entry.mode == Mode::Gitlink => wanted.push((path, None)),
                _ if entry.mode == Mode::Gitlink => {}
                _ => wanted.push((path, Some(entry.mode))),
            }
        }
        if let Some(path) = removed_beyond {
            return Err(beyond_link(path));
        }
        // What is in HEAD and no longer in the index may still be in the working tree.
        for path in self.removed() {
            if !collides(index, path) {
                wanted.push((path, None));
            } else if is_file(session, path)? {
                // No tree holds both, and the file would be lost.
                return Err(Error::Usage {
                    reason: format!(
                        "'{path}' appears as both a file and as a directory\n\
                         error: {path}: cannot add to the index - missing --add option?\n\
                         fatal: Unable to process path {path}"
                    ),
                });
            }
        }
        let files = Files {
            session,
            writer,
            index,
        };
        for file in files.save(wanted)? {
            warnings.extend(file.warning);
            if let Some(side) = file.side {
                edits.insert(file.path, Some(side));
            }
        }
        let below: Vec<BString> = edits
            .iter()
            .filter(|(_, side)| side.is_some())
            .flat_map(|(path, _)| path_and_rows_below(index, path))
            .collect();
        edits.extend(below.into_iter().map(|path| (path, None)));
        let rows = crate::merge::edited(index, &edits).into_iter();
        let tree = write_tree(session.repository, writer, rows, &session.engine())?;
        Ok((tree, edits))
    }
}

/// Refuses files that are only to be added later, wherever they are: no tree has them. Of a submodule,
/// git does not ask.
fn refuse_intents(session: &Session<'_>, index: &Index) -> Result<()> {
    let is_intent = |entry: &Entry| entry.flags.intent_to_add && entry.mode != Mode::Gitlink;
    for (path, _) in index.iter().filter(|(_, entry)| is_intent(entry)) {
        if kept_out(&session.root, path)? {
            return Err(Error::Usage {
                reason: format!("Entry '{path}' not uptodate. Cannot merge."),
            });
        }
    }
    Ok(())
}

/// Whether there is a directory at `path` if links above are followed.
fn leads_to_directory(session: &Session<'_>, path: &BStr) -> Result<bool> {
    let top = session.repository.require_work_tree()?;
    let found = match hedgerow_fs::lstat(&top.join(OsStr::from_bytes(path))) {
        // Links above lead in a circle.
        Err(error) if error.is_absent() => None,
        found => found?,
    };
    Ok(found.is_some_and(|found| found.kind == FileKind::Directory))
}

/// Whether one of the directories above `path` is a symbolic link.
fn is_beyond_link(session: &Session<'_>, path: &BStr) -> Result<bool> {
    let Some(above) = first_blocking(&session.root, path)? else {
        return Ok(false);
    };
    let (parent, name) = split_path(above);
    let found = session.root.open_dir(parent)?.stat(name)?;
    Ok(found.kind == FileKind::Symlink)
}

fn beyond_link(path: &BStr) -> Error {
    Error::Usage {
        reason: format!("'{path}' is beyond a symbolic link\nfatal: Unable to process path {path}"),
    }
}

/// Whether the index has a file where `path` needs a directory, or something below `path`.
fn collides(index: &Index, path: &BStr) -> bool {
    let mut above = path.find_iter(b"/").map(|at| path[..at].as_bstr());
    above.any(|above| index.find(above, Stage::Merged).is_ok())
        || !index.range_under(path).is_empty()
}

/// Whether a file or a link is at `path`, and no link above it.
fn is_file(session: &Session<'_>, path: &BStr) -> Result<bool> {
    let (parent, name) = split_path(path);
    let directory = session.root.open_dir(parent);
    match directory.and_then(|directory| directory.stat(name)) {
        Ok(found) => Ok(found.kind != FileKind::Directory),
        Err(error) if error.is_absent() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The paths of entries below `path`, which is a file now.
fn path_and_rows_below(index: &Index, path: &BString) -> Vec<BString> {
    let rows = index.range_under(path.as_bstr());
    let entries = index.entries()[rows].iter();
    entries.map(|entry| index.path(entry).to_owned()).collect()
}

/// The paths in conflict.
pub(super) fn unmerged_paths(index: &Index) -> Vec<BString> {
    let unmerged = index
        .iter()
        .filter(|(_, entry)| entry.flags.stage != Stage::Merged);
    let mut paths: Vec<BString> = unmerged.map(|(path, _)| path.to_owned()).collect();
    paths.dedup();
    paths
}

/// The tree of the index, which has no conflicts.
pub(super) fn index_tree(
    session: &Session<'_>,
    writer: &ObjectWriter<'_>,
    index: &Index,
) -> Result<ObjectId> {
    let no_edits = BTreeMap::new();
    let rows = crate::merge::edited(index, &no_edits);
    write_tree(
        session.repository,
        writer,
        rows.into_iter(),
        &session.engine(),
    )
}

/// A file of the working tree that was made an object.
#[derive(Debug)]
pub(super) struct SavedFile {
    pub path: BString,
    /// `None` if there is no file.
    pub side: Option<Side>,
    pub warning: Option<String>,
}

/// Makes objects of files of the working tree.
pub(super) struct Files<'a> {
    pub session: &'a Session<'a>,
    pub writer: &'a ObjectWriter<'a>,
    pub index: &'a Index,
}

impl Files<'_> {
    /// Reads, converts and writes the files, in parallel. Each comes with its mode in the index, if
    /// it has one. The result is in the order of paths.
    pub(super) fn save(&self, files: Vec<(&BStr, Option<Mode>)>) -> Result<Vec<SavedFile>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let directories = directories_above(files.iter().map(|(path, _)| *path));
        let direction = Direction::CheckIn {
            listed: None,
            is_gone: &|_| false,
        };
        let (converter, _) = self
            .session
            .converter(self.index, &directories, &direction)?;
        let comparison = self.session.comparison(self.index, &converter);
        let settings = self.session.settings();
        let (trust_mode, symlinks) = (settings.file_mode, settings.symlinks);
        let saved = Mutex::new(Vec::with_capacity(files.len()));
        let writer = self.writer;
        let worker = |_| (writer.deflater(), Buffers::default());
        let work = |(deflater, buffers): &mut (Deflater, Buffers),
                    (path, mode): (&BStr, Option<Mode>),
                    _: &Scope<'_, (&BStr, Option<Mode>)>| {
            let mut file = save(&comparison, writer, deflater, buffers, path)?;
            if let Some(side) = &mut file.side {
                let is_file = side.kind != hedgerow_tree::EntryKind::Symlink;
                let is_executable = mode == Some(Mode::Executable);
                if is_file && !symlinks && mode == Some(Mode::Symlink) {
                    side.kind = hedgerow_tree::EntryKind::Symlink;
                } else if is_file && !trust_mode {
                    side.kind = file_kind(is_executable);
                }
            }
            let mut saved = saved.lock().unwrap_or_else(PoisonError::into_inner);
            saved.push(file);
            Ok::<(), Error>(())
        };
        run_tasks(&self.session.engine(), files, worker, work).map_err(Error::from)?;
        let mut saved = saved.into_inner().unwrap_or_else(PoisonError::into_inner);
        saved.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(saved)
    }
}

fn file_kind(is_executable: bool) -> hedgerow_tree::EntryKind {
    if is_executable {
        hedgerow_tree::EntryKind::Executable
    } else {
        hedgerow_tree::EntryKind::File
    }
}

fn save(
    comparison: &Comparison<'_>,
    writer: &ObjectWriter<'_>,
    deflater: &mut Deflater,
    buffers: &mut Buffers,
    path: &BStr,
) -> Result<SavedFile> {
    let mut saved = SavedFile {
        path: path.to_owned(),
        side: None,
        warning: None,
    };
    let (parent, name) = split_path(path);
    let found = comparison
        .root
        .open_dir(parent)
        .and_then(|directory| directory.stat(name));
    let stat = match found {
        Ok(stat) => stat,
        Err(error) if error.is_absent() => return Ok(saved),
        Err(error) => return Err(error.into()),
    };
    let kind = match stat.kind {
        FileKind::File => file_kind(stat.mode & 0o100 != 0),
        FileKind::Symlink => hedgerow_tree::EntryKind::Symlink,
        FileKind::Directory => return Ok(saved),
        // A pipe, a socket or a device: nothing can record it.
        _ => {
            return Err(Error::Usage {
                reason: format!(
                    "{path}: unsupported file type\nfatal: Unable to process path {path}"
                ),
            })
        }
    };
    let cleaned = match comparison.cleaned(path, buffers, true) {
        // The reason names the path.
        Err(Error::Convert { reason, .. }) => return Err(Error::Setup { reason }),
        cleaned => cleaned?,
    };
    let id = writer.write(deflater, ObjectKind::Blob, &cleaned.content)?;
    saved.side = Some(Side { kind, id });
    saved.warning = cleaned.error.or(cleaned.warning);
    Ok(saved)
}
