//! Where files are copied to, and what is there.

use super::{split_prefix, CheckoutIndexOptions, TemporaryFiles};
use crate::checkout::examine::{settle, trust_stat};
use crate::checkout::obstacles;
use crate::checkout::session::Session;
use crate::checkout::transition::Write;
use crate::index::{Builder, EntryStat, Flags, Index, Mode, Stage, Version};
use crate::repository::Repository;
use crate::worktree::state::{states_at, State};
use crate::worktree::OldIndex;
use crate::Result;
use bstr::{BStr, BString};
use hedgerow_fs::Dir;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Letters of the names of temporary files.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LETTERS: usize = 6;
/// Permissions of temporary files: only their owner may use them.
const TEMPORARY_MODE: u32 = 0o600;

/// The directory that files are written below.
pub(super) struct Target {
    directory: PathBuf,
    /// It may have to be created, and is not the working tree.
    is_elsewhere: bool,
    /// Put before the paths below it.
    before: BString,
    /// The directory as it was named, for messages.
    pub shown: BString,
}

impl Target {
    pub(super) fn of_prefix(
        repository: &Repository,
        options: &CheckoutIndexOptions,
    ) -> Result<Target> {
        let top = repository.require_work_tree()?;
        let (directory, before) = if options.temporary {
            (&b""[..], &b""[..])
        } else {
            split_prefix(&options.prefix)
        };
        Ok(Target {
            directory: top.join(OsStr::from_bytes(directory)),
            is_elsewhere: !directory.is_empty(),
            before: before.into(),
            shown: directory.into(),
        })
    }

    /// Opens it, and creates it first if need be.
    pub(super) fn open(&self, session: &Session<'_>) -> Result<Dir> {
        if !self.is_elsewhere {
            return Ok(Dir::open(session.repository.require_work_tree()?)?.without_label());
        }
        hedgerow_fs::create_directories(&self.directory)?;
        Ok(Dir::open(&self.directory)?)
    }

    /// Opens it if it is there.
    fn open_existing(&self) -> Result<Option<Dir>> {
        if hedgerow_fs::is_there(&self.directory)? {
            Ok(Some(Dir::open(&self.directory)?))
        } else {
            Ok(None)
        }
    }
}

/// The places of the selected rows, and the state of the files there.
pub(super) struct Places {
    /// For each row, where its file is written, and as what.
    paths: Vec<(BString, Mode)>,
    pub states: Vec<State>,
}

impl Places {
    pub(super) fn new(
        session: &Session<'_>,
        old: &OldIndex,
        rows: &[usize],
        target: &Target,
        options: &CheckoutIndexOptions,
    ) -> Result<Places> {
        let mut states = vec![State::Absent; rows.len()];
        if options.temporary {
            let paths = names(session, &old.index, rows);
            let paths = paths.into_iter().map(|path| (path, Mode::File)).collect();
            return Ok(Places { paths, states });
        }
        let path = |row: &usize| {
            let entry = &old.index.entries()[*row];
            let path = [&target.before[..], old.index.path(entry)].concat();
            (path.into(), entry.mode)
        };
        let paths: Vec<(BString, Mode)> = rows.iter().map(path).collect();
        if let Some(root) = target.open_existing()? {
            let mut builder = Builder::new(old.index.hash(), Version::default());
            for (row, (path, mode)) in rows.iter().zip(&paths) {
                let entry = &old.index.entries()[*row];
                let mut flags = entry.flags;
                flags.stage = Stage::Merged;
                builder.push(path.as_ref(), entry.id, *mode, entry.stat, flags)?;
            }
            let index = builder.finish();
            states = found(session, old, &root, &index, target)?;
        }
        Ok(Places { paths, states })
    }

    pub(super) fn path(&self, at: usize) -> &BStr {
        self.paths[at].0.as_ref()
    }

    /// The places of these writes and their positions, which are in order of places.
    pub(super) fn chosen(&self, index: &Index, writes: &[(usize, Write)]) -> Result<Index> {
        let mut builder = Builder::new(index.hash(), Version::default());
        for (at, write) in writes {
            let (path, mode) = &self.paths[*at];
            let id = index.entries()[write.row as usize].id;
            let (stat, flags) = (EntryStat::default(), Flags::default());
            builder.push(path.as_ref(), id, *mode, stat, flags)?;
        }
        Ok(builder.finish())
    }

    /// What is in the way of the directories above `place`.
    pub(super) fn first_blocking(&self, target: &Target, place: &BStr) -> Result<Option<BString>> {
        let Some(root) = target.open_existing()? else {
            return Ok(None);
        };
        let blocking = obstacles::first_blocking(&root, place)?;
        Ok(blocking.map(BStr::to_owned))
    }
}

/// The states of the files in the places of `index`.
fn found(
    session: &Session<'_>,
    old: &OldIndex,
    root: &Dir,
    index: &Index,
    target: &Target,
) -> Result<Vec<State>> {
    let mut rules = session.rules(old);
    // Git compares whole seconds, and does not read files whose stat data differ.
    rules.stat.nanoseconds = false;
    let found = states_at(root, index, &rules, |_| true, &session.engine())?;
    let mut states = found.answered()?.states;
    trust_stat(&mut states, index, |_| true);
    if !target.is_elsewhere && target.before.is_empty() {
        settle(session, &mut states, index)?;
        return Ok(states);
    }
    // No file there is one that the index knows.
    for state in states.iter_mut().filter(|state| state.may_be_read()) {
        *state = State::Modified;
    }
    Ok(states)
}

/// Names for temporary files of the rows; nothing is there.
fn names(session: &Session<'_>, index: &Index, rows: &[usize]) -> Vec<BString> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::with_capacity(rows.len());
    for row in rows {
        let is_link = index.entries()[*row].mode == Mode::Symlink;
        let name = loop {
            let before = if is_link {
                ".merge_link_"
            } else {
                ".merge_file_"
            };
            let mut name = BString::from(before);
            let mut bits = RandomState::new().build_hasher().finish();
            for _ in 0..RANDOM_LETTERS {
                name.push(LETTERS[(bits % 62) as usize]);
                bits /= 62;
            }
            if session.root.stat(&name).is_err() && taken.insert(name.clone()) {
                break name;
            }
        };
        names.push(name);
    }
    names
}

/// Which temporary files were written for which paths, in order of the selected rows.
pub(super) fn temporary_files(
    index: &Index,
    places: &Places,
    writes: &[(usize, Write)],
    options: &CheckoutIndexOptions,
) -> Vec<TemporaryFiles> {
    let mut writes = writes.to_vec();
    writes.sort_unstable_by_key(|(at, _)| *at);
    let mut files: Vec<TemporaryFiles> = Vec::new();
    let mut last = None;
    for (at, write) in &writes {
        let place = places.path(*at).to_owned();
        let entry = &index.entries()[write.row as usize];
        let path = index.path(entry);
        let is_next = last.is_some_and(|last| last < write.row);
        let (count, column) = match options.stage {
            Some(_) => (1, 0),
            None => (3, usize::from(entry.flags.stage.number()).saturating_sub(1)),
        };
        match files.last_mut() {
            Some(known) if known.path == path && is_next => known.files[column] = Some(place),
            _ => {
                let mut columns = vec![None; count];
                columns[column] = Some(place);
                files.push(TemporaryFiles {
                    path: path.to_owned(),
                    files: columns,
                });
            }
        }
        last = Some(write.row);
    }
    files
}

/// Lets only their owner use temporary files.
pub(super) fn restrict(repository: &Repository, chosen: &Index) -> Result<()> {
    let top = repository.require_work_tree()?;
    for (name, _) in chosen.iter() {
        let path = top.join(OsStr::from_bytes(name));
        if hedgerow_fs::is_there(&path)? {
            hedgerow_fs::set_permissions(&path, TEMPORARY_MODE)?;
        }
    }
    Ok(())
}
