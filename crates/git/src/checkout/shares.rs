//! A checkout that several processes share, on several clients of one file system: each writes the
//! files of some directories, and one finishes with the index and HEAD.
//!
//! A share leaves a note of what it has written: an index with the stat data of its own files. Whoever
//! finishes need not read a file that still is as one of the notes has it. Every other one is read, since the
//! index must never say of a file that nobody looked into that it is unchanged.

use super::examine::examine;
use super::outcome::{Done, Failure};
use super::session::Session;
use super::supplies::{supplies, Supplies};
use super::transition::Transition;
use super::update::{cache_tree, Way};
use crate::convert::Conversion;
use crate::index::{Builder, CacheTree, Entry, EntryStat, Flags, Index, Mode, Stage, WriteOptions};
use crate::worktree::attribute_files::Direction;
use crate::worktree::state::{state, State};
use crate::worktree::survey::{survey, PathState};
use crate::worktree::OldIndex;
use crate::{Error, Result};
use bstr::BStr;
use gix_hash::ObjectId;
use hedgerow_fs::{create_directories, list_directory, remove_directory, remove_file, OutputFile};
use hedgerow_numbers::Shard;
use hedgerow_pack::Reader;
use hedgerow_tree::split_path;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Where the notes are, in the directory of the working tree's repository.
const NOTES: &str = "hedgerow/shares";

/// Which part of a checkout is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// Everything.
    #[default]
    All,
    /// The files of a share of the directories are written, and nothing else. Every process comes to
    /// the same division, because it depends on the tree alone.
    Of(Shard),
    /// The index and HEAD are written if every file is there, with the right type and content. What is not
    /// as a share's note has it is read and compared.
    Finish,
}

/// Refuses where files would have to be removed or compared with the old index.
pub(super) fn refuse_in_shares(session: &Session<'_>, old: &OldIndex) -> Result<()> {
    let reason = if !old.is_new {
        "a checkout in shares starts without an index, but there is one"
    } else if session.recursion.is_some() {
        "submodules do not move along with a checkout in shares"
    } else {
        return Ok(());
    };
    Err(Error::Setup {
        reason: reason.into(),
    })
}

/// Told where nothing was left to do.
pub(super) const FINISHED: &str =
    "the checkout was finished before: the index exists, and every file matches it";

/// Whether there is an index of exactly `tree`, and every file is as it says: who finished may be
/// started once more, by a scheduler that has not seen how it ended.
pub(super) fn is_finished(
    session: &Session<'_>,
    tree: Option<ObjectId>,
    old: &OldIndex,
) -> Result<bool> {
    if old.is_new || session.recursion.is_some() || old.index.is_unmerged() {
        return Ok(false);
    }
    let known = cache_tree(session, &old.index, &old.index);
    if known.as_ref().and_then(CacheTree::root_id) != tree.as_ref() {
        return Ok(false);
    }
    let states = examine(session, Way::Switch, old)?.states;
    let is_there = |(state, entry): (&State, &Entry)| match state {
        State::Clean => true,
        State::Absent | State::Blocked => entry.flags.skip_worktree,
        _ => false,
    };
    Ok(states.iter().zip(old.index.entries()).all(is_there))
}

/// Takes the lock on the index, which is held only while the index is written: looking at all files may
/// take minutes, and whoever is killed leaves the lock.
pub(super) fn lock_index(session: &mut Session<'_>) -> Result<()> {
    session.take_lock().map_err(|error| {
        if error.kind() != ErrorKind::AlreadyExists {
            return error.into();
        }
        let path = error.path.display();
        Error::Setup {
            reason: format!(
                "Unable to create '{path}': File exists.\n\nAnother git process seems to be running in \
                 this repository, or the lock file may be stale: if no other process is at work, remove \
                 it and finish again"
            ),
        }
    })
}

/// Leaves only the writes of one share: those of some directories, so that no two processes write in
/// the same. The directory with the most files goes to the share with the fewest, and so on.
pub(super) fn keep_share(next: &mut Transition, shard: Shard) {
    let index = &next.index;
    let mut files: HashMap<&[u8], u64> = HashMap::new();
    for entry in index.entries() {
        *files.entry(split_path(index.path(entry)).0).or_default() += 1;
    }
    let mut directories: Vec<(Reverse<u64>, &[u8])> = files
        .into_iter()
        .map(|(directory, count)| (Reverse(count), directory))
        .collect();
    directories.sort_unstable();
    let shares = (0..shard.count()).map(|share| Reverse((0, share)));
    let mut shares: BinaryHeap<Reverse<(u64, u32)>> = shares.collect();
    let mut own = HashMap::new();
    for (Reverse(count), directory) in directories {
        if let Some(mut least) = shares.peek_mut() {
            let Reverse((files, share)) = &mut *least;
            *files += count;
            own.insert(directory, *share + 1 == shard.number());
        }
    }
    let is_own = |row: u32| {
        let path = index.path(&index.entries()[row as usize]);
        own.get(split_path(path).0).copied().unwrap_or(false)
    };
    next.writes.retain(|write| is_own(write.row));
}

/// What is expected of a file whose stat data nobody has noted.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Size(u64),
    /// It is converted, so that its size does not tell.
    Content,
    /// It is a submodule's directory.
    Directory,
}

/// Notes what a share has written.
///
/// # Errors
/// If the note cannot be written. All is read in the end, then.
pub(super) fn note_written(session: &Session<'_>, next: &Transition, shard: Shard) -> Result<()> {
    let index = &next.index;
    let mut builder = Builder::new(index.hash(), index.version());
    let rows: BTreeSet<u32> = next.writes.iter().map(|write| write.row).collect();
    for row in rows {
        let entry = &index.entries()[row as usize];
        if entry.stat != EntryStat::default() {
            let path = index.path(entry);
            builder.push(path, entry.id, entry.mode, entry.stat, Flags::default())?;
        }
    }
    let mut content = Vec::new();
    builder
        .finish()
        .write(&mut content, &WriteOptions::default());
    let directory = notes(session);
    create_directories(&directory)?;
    let name = format!("{}-{}", shard.number(), shard.count());
    let file = OutputFile::create(&directory.join(name))?;
    file.write_at(&content, 0)?;
    Ok(file.commit(true)?)
}

/// Removes the notes of all shares. Returns a warning if they are left.
pub(super) fn forget_notes(session: &Session<'_>) -> Option<String> {
    let removed = remove_notes(session);
    removed
        .err()
        .map(|error| format!("the notes of the shares are left: {error}"))
}

fn remove_notes(session: &Session<'_>) -> Result<()> {
    let directory = notes(session);
    for note in list_directory(&directory)?.unwrap_or_default() {
        remove_file(&directory.join(OsStr::from_bytes(&note.name)))?;
    }
    hedgerow_fs::remove_empty_directories(&directory)?;
    // There may be more of hedgerow's beside.
    if let Some(parent) = directory.parent() {
        let _ = remove_directory(parent);
    }
    Ok(())
}

fn notes(session: &Session<'_>) -> PathBuf {
    session.repository.git_dir().join(NOTES)
}

/// Gives the entries that are to be written the stat data that the shares have noted. A note is of use whatever
/// revision it was made for, as far as it is about the same content; one that cannot be read is of none.
fn take_notes(session: &Session<'_>, next: &mut Transition) -> Result<()> {
    let (directory, rules) = (notes(session), session.rules_since(Default::default()));
    let rows: BTreeSet<u32> = next.writes.iter().map(|write| write.row).collect();
    for note in list_directory(&directory)?.unwrap_or_default() {
        let path = directory.join(OsStr::from_bytes(&note.name));
        let loaded = Index::load(&path, session.repository.git_dir(), next.index.hash());
        let Ok(Some((noted, stat))) = loaded else {
            continue;
        };
        for (path, entry) in noted.iter() {
            let Ok(row) = next.index.find(path, Stage::Merged) else {
                continue;
            };
            let wanted = &mut next.index.entries_mut()[row];
            let is_same = (wanted.id, wanted.mode) == (entry.id, entry.mode);
            let is_new = is_same && rows.contains(&(row as u32));
            if is_new && !entry.stat.is_racy(stat.mtime, &rules.stat) {
                wanted.stat = entry.stat;
            }
        }
    }
    Ok(())
}

/// Takes the files that were to be written as they are there. Those that are missing, of another
/// type or with another content are failures.
pub(super) fn adopt(session: &Session<'_>, old: &OldIndex, next: &mut Transition) -> Result<Done> {
    take_notes(session, next)?;
    let direction = Direction::CheckOut {
        is_removed: &|_| false,
    };
    let supplies = supplies(session, next, &direction)?;
    let expected = expectations(session, next, &supplies)?;
    let rules = session.rules(old);
    let (index, writes) = (&next.index, &next.writes);
    let entry = |at: usize| &index.entries()[writes[at].row as usize];
    let stats: Mutex<Vec<(u32, EntryStat)>> = Mutex::default();
    let judge = |at: usize, found: PathState<'_>| {
        let stat = match found {
            PathState::Absent => return State::Absent as u8,
            PathState::Blocked => return State::Blocked as u8,
            PathState::Unknown => return State::Unknown as u8,
            PathState::Present(stat) => stat,
        };
        let state = match (state(entry(at), stat, &rules), expected[at]) {
            (State::Clean, Expected::Directory) => return State::Clean as u8,
            // What nobody has noted, or is not as noted.
            (State::Touched | State::Suspect | State::Unchanged, Expected::Size(size))
                if size != stat.size =>
            {
                State::Modified
            }
            (State::Touched | State::Suspect | State::Unchanged, _) => State::Touched,
            (other, _) => other,
        };
        if state == State::Clean {
            let mut stats = stats.lock().unwrap_or_else(PoisonError::into_inner);
            stats.push((writes[at].row, EntryStat::from(stat)));
        }
        state as u8
    };
    let path = |at: usize| index.path(entry(at)).as_ref();
    let found = survey(&session.root, writes.len(), path, judge, &session.engine())?;
    let found = found.answered()?;
    let mut states = vec![State::Clean; index.entries().len()];
    for (write, found) in writes.iter().zip(found.verdicts) {
        states[write.row as usize] = State::from_byte(found);
    }
    let mut stats = stats.into_inner().unwrap_or_else(PoisonError::into_inner);
    let settled = session.settle(&mut states, index, None)?;
    stats.extend(settled.clean);
    let mut done = Done::default();
    done.note(&found.report);
    for write in writes {
        let row = write.row as usize;
        if let Some(what) = wrong(states[row]) {
            let path = index.path(&index.entries()[row]);
            done.failures.push(Failure {
                path: path.to_owned(),
                reason: format!("'{path}' {what}"),
            });
        }
    }
    done.unwritten = done.failures.len() as u64;
    let entries = next.index.entries_mut();
    for (row, stat) in stats {
        entries[row as usize].stat = stat;
    }
    Ok(done)
}

/// What is wrong with a file in this state.
fn wrong(state: State) -> Option<&'static str> {
    Some(match state {
        State::Clean => return None,
        State::Absent | State::Blocked => "is not there",
        State::TypeChanged | State::Directory => "is of another type",
        State::Unknown => "could not be read",
        _ => "differs from what its share writes",
    })
}

fn expectations(
    session: &Session<'_>,
    next: &Transition,
    supplies: &Supplies,
) -> Result<Vec<Expected>> {
    let mut reader = Reader::new(session.repository.shared_objects().store);
    let index = &next.index;
    let is_converted = |path: &BStr, entry: &Entry| {
        let is_file = matches!(entry.mode, Mode::File | Mode::Executable);
        is_file && !matches!(supplies.converter.conversion(path), Conversion::Plain)
    };
    let rows = next.writes.iter().zip(&supplies.located);
    let expected = rows.map(|(write, (id, location))| {
        let entry = &index.entries()[write.row as usize];
        Ok(match location {
            None => Expected::Directory,
            Some(_) if is_converted(index.path(entry), entry) => Expected::Content,
            Some(location) => Expected::Size(reader.header(id, *location)?.size),
        })
    });
    expected.collect()
}
