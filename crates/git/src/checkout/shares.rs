//! A checkout that several processes share, on several clients of one file system: each writes the
//! files of some directories, and one finishes with the index and HEAD.

use super::outcome::{Done, Failure};
use super::session::Session;
use super::supplies::{supplies, Supplies};
use super::transition::Transition;
use crate::convert::Conversion;
use crate::index::{Entry, EntryStat, Mode};
use crate::worktree::attribute_files::Direction;
use crate::worktree::state::{state, State};
use crate::worktree::survey::{survey, PathState};
use crate::worktree::OldIndex;
use crate::{Error, Result};
use bstr::BStr;
use hedgerow_numbers::Shard;
use hedgerow_pack::Reader;
use hedgerow_tree::split_path;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Mutex, PoisonError};

/// Which part of a checkout is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// Everything.
    #[default]
    All,
    /// The files of a share of the directories are written, and nothing else. Every process comes to
    /// the same division, because it depends on the tree alone.
    Of(Shard),
    /// The index and HEAD are written if every file is there, with the right type and size; files
    /// that are converted are read and compared.
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

/// What is expected of a file.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Size(u64),
    /// It is converted, and has to be read.
    Content,
    /// It is a submodule's directory.
    Directory,
}

/// Takes the files that were to be written as they are there. Those that are missing, of another
/// type or of another size are failures.
pub(super) fn adopt(session: &Session<'_>, old: &OldIndex, next: &mut Transition) -> Result<Done> {
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
        // An entry without stat data equals no file, so the type alone decides.
        let state = match (state(entry(at), stat, &rules), expected[at]) {
            (State::Clean, Expected::Directory) => return State::Clean as u8,
            (State::Touched | State::Suspect | State::Unchanged, Expected::Size(size))
                if size == stat.size =>
            {
                State::Clean
            }
            (State::Touched | State::Suspect | State::Unchanged, Expected::Content) => {
                return State::Touched as u8
            }
            (State::Touched | State::Suspect | State::Unchanged, _) => State::Modified,
            (other, _) => other,
        };
        if state == State::Clean {
            let mut stats = stats.lock().unwrap_or_else(PoisonError::into_inner);
            stats.push((writes[at].row, EntryStat::from(stat)));
        }
        state as u8
    };
    let path = |at: usize| index.path(entry(at)).as_ref();
    let (found, report) = survey(&session.root, writes.len(), path, judge, &session.engine())?;
    let mut states = vec![State::Clean; index.entries().len()];
    for (write, found) in writes.iter().zip(found) {
        states[write.row as usize] = State::from_byte(found);
    }
    let mut stats = stats.into_inner().unwrap_or_else(PoisonError::into_inner);
    let settled = session.settle(&mut states, index, None)?;
    stats.extend(settled.clean);
    let mut done = Done::default();
    done.note(&report);
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
