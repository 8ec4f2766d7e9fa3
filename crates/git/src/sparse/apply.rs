//! Bringing the working tree to the rules: files that leave are removed, files that enter are
//! written, by the parallel machinery of checkout.

use super::rules::SparseRules;
use crate::checkout::carry_out::{remove, write};
use crate::checkout::examine::{settle, smudge_racy, trust_stat};
use crate::checkout::session::Session;
use crate::checkout::supplies::supplies;
use crate::checkout::transition::{Remove, Transition, Write};
use crate::checkout::update::cache_tree;
use crate::checkout::{clear, first_blocking, Done, Obstacle, Rejects};
use crate::index::{EntryStat, Mode, Stage};
use crate::repository::Repository;
use crate::worktree::attribute_files::Direction;
use crate::worktree::sparse::SparsePatterns;
use crate::worktree::sparse_index::IndexForm;
use crate::worktree::state::{states, State};
use crate::worktree::OldIndex;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_fs::{FileKind, Stat};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Paths that do not follow the rules, and why.
#[derive(Default)]
struct Left {
    changed: Vec<BString>,
    unmerged: Vec<BString>,
    present: Vec<BString>,
}

/// Brings the working tree and the index to `rules`. Changed and unmerged files stay, with a
/// warning; so do files that exist where one is to be written. The index is written in `form`, unless
/// files could not be written.
pub(crate) fn apply(
    repository: &Repository,
    rules: &SparseRules,
    form: &IndexForm,
    threshold: Option<u64>,
    execution: &Execution,
) -> Result<Done> {
    let mut session = Session::begin(repository, threshold, execution)?;
    session.set_index_form(form.clone());
    let mut old = session.read_index()?;
    let mut done = Done::default();
    if old.is_new {
        return Ok(done);
    }
    session.include_present(&mut old)?;
    let matcher = rules.matcher(repository.settings().ignore_case);
    let state_rules = session.rules(&old);
    let found = states(&session, &old.index, &state_rules)?;
    let mut states = found.answered()?.states;
    trust_stat(&mut states, &old.index, |_| true);
    settle(&session, &mut states, &old.index)?;
    let (mut next, left) = transition(&session, &old, &states, &matcher)?;
    let hollow = std::mem::take(&mut next.became_directories);
    let is_removed = |path: &BStr| next.removes(&old.index, path);
    let direction = Direction::CheckOut {
        is_removed: &is_removed,
    };
    let supplies = supplies(&session, &next, &direction)?;
    let hollow = hollow.into_iter().map(|path| Obstacle {
        path,
        directory: true,
    });
    clear(&session.root, &hollow.collect::<Vec<_>>())?;
    // Both are of one index, so what is written needs no room. If it fails, nothing is gone yet, and
    // the old rules still hold.
    write(&session, &mut next, supplies, &mut done)?;
    if done.unwritten > 0 {
        next.removals = written(&next);
        remove(&session, &old.index, &next, &mut done)?;
        return Ok(done);
    }
    remove(&session, &old.index, &next, &mut done)?;
    smudge_racy(&mut next, &old, &states);
    let tree = cache_tree(&session, &old.index, &next.index);
    next.index.set_cache_tree(tree);
    let warning = session
        .write_index(&next.index, false)
        .map_err(|error| done.ended_by(error))?;
    done.warnings.extend(warning);
    done.warnings.extend(left.warnings());
    Ok(done)
}

/// What is removed to go back.
fn written(next: &Transition) -> Vec<Remove> {
    let entries = next.index.entries();
    let rows = next.writes.iter().map(|write| write.row);
    let written = rows.filter(|row| entries[*row as usize].stat != EntryStat::default());
    let remove = |row| Remove {
        row,
        directory: entries[row as usize].mode == Mode::Gitlink,
    };
    written.map(remove).collect()
}

fn transition(
    session: &Session<'_>,
    old: &OldIndex,
    states: &[State],
    matcher: &SparsePatterns,
) -> Result<(Transition, Left)> {
    let top = session.repository.work_tree();
    let mut left = Left::default();
    let mut next = Transition {
        index: old.index.successor(),
        writes: Vec::new(),
        removals: Vec::new(),
        must_be_absent: Vec::new(),
        absent_links: Vec::new(),
        became_directories: Vec::new(),
        kept_from: (0..states.len() as u32).map(Some).collect(),
        left_despite_sparse: Vec::new(),
        rejects: Rejects::default(),
    };
    next.index.keep_all_resolve_undo(&old.index);
    let entries = next.index.entries_mut();
    for (at, known) in old.index.entries().iter().enumerate() {
        let path = old.index.path(known);
        let (row, state, entry) = (at as u32, states[at], &mut entries[at]);
        if known.flags.stage != Stage::Merged {
            if left.unmerged.last().is_none_or(|last| last != path) {
                left.unmerged.push(path.to_owned());
            }
            continue;
        }
        let is_excluded = matcher.excludes_entry(path, top);
        let is_module = known.mode == Mode::Gitlink;
        entry.flags.skip_worktree = is_excluded;
        match (known.flags.skip_worktree, is_excluded) {
            // Where there is no file, its directories go if they are empty.
            // Of a submodule, git takes the directory if it is empty.
            (false, true)
                if matches!(state, State::Clean | State::Absent)
                    || is_module && state != State::Blocked =>
            {
                next.removals.push(Remove {
                    row,
                    directory: is_module,
                });
            }
            (false, true) if state == State::Blocked && is_nothing(session, path)? => {}
            (false, true) => {
                entry.flags.skip_worktree = false;
                left.changed.push(path.to_owned());
            }
            (true, false)
                if state == State::Absent
                    || state == State::Directory && !is_module && is_hollow(session, path)? =>
            {
                if state == State::Directory {
                    next.became_directories.push(path.to_owned());
                }
                entry.stat = EntryStat::default();
                next.kept_from[at] = None;
                next.writes.push(Write {
                    row,
                    replaces: false,
                    untracked: false,
                });
            }
            (true, false) if state == State::Blocked => {
                let blocking = first_blocking(&session.root, path)?;
                left.present.push(blocking.unwrap_or(path).to_owned());
            }
            (true, false) if !is_module => left.present.push(path.to_owned()),
            _ => {}
        }
    }
    Ok((next, left))
}

/// Whether the directory at `path` holds nothing but directories, and is not the user's.
fn is_hollow(session: &Session<'_>, path: &BStr) -> Result<bool> {
    let mut pending = vec![path.to_owned()];
    while let Some(directory) = pending.pop() {
        if session.current_directory() == Some(directory.as_bstr()) {
            return Ok(false);
        }
        let handle = session.root.open_dir(&directory)?;
        for entry in handle.list()? {
            let kind = match entry.kind {
                Some(kind) => kind,
                None => handle.stat(&entry.name)?.kind,
            };
            if kind != FileKind::Directory {
                return Ok(false);
            }
            let below = [&directory, &b"/"[..], &entry.name].concat();
            pending.push(below.into());
        }
    }
    Ok(true)
}

/// Whether a link above leads to where `path` does not exist: git looks through it.
fn is_nothing(session: &Session<'_>, path: &BStr) -> Result<bool> {
    let Some(blocking) = first_blocking(&session.root, path)? else {
        return Ok(false);
    };
    let top = session.repository.require_work_tree()?;
    let place = |path: &BStr| top.join(OsStr::from_bytes(path));
    let is_link = |stat: Stat| stat.kind == FileKind::Symlink;
    let is_directory = |stat: Stat| stat.kind == FileKind::Directory;
    Ok(hedgerow_fs::lstat(&place(blocking))?.is_some_and(is_link)
        && hedgerow_fs::stat(&place(blocking))?.is_none_or(is_directory)
        && hedgerow_fs::lstat(&place(path))?.is_none())
}

impl Left {
    fn warnings(&self) -> Vec<String> {
        let groups = [
            (&self.changed, "are not up to date and were left"),
            (&self.unmerged, "are unmerged and were left"),
            (&self.present, "were already present and thus not updated"),
        ];
        let groups = groups.into_iter().filter(|(paths, _)| !paths.is_empty());
        let mut warnings: Vec<String> = groups
            .map(|(paths, what)| {
                let list: String = paths.iter().map(|path| format!("\t{path}\n")).collect();
                format!("The following paths {what} despite sparse patterns:\n{list}")
            })
            .collect();
        if let Some(last) = warnings.last_mut() {
            last.push_str(
                "\nAfter fixing the above paths, you may want to run `git sparse-checkout reapply`.",
            );
        }
        warnings
    }
}
