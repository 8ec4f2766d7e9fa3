//! The entries of the index: as they are, and compared with their files.

use super::excluded::ExcludedEntries;
use super::model::{Listed, Options, Reason, Row};
use super::Selection;
use crate::index::{Entry, Index, Mode, Stage};
use crate::repository::Repository;
use crate::status::exclusion::Rules;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::state::{state, states_of, Found, State, StateRules};
use crate::worktree::{OldIndex, Worktree};
use crate::Result;
use bstr::BStr;
use hedgerow_tree::split_path;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

pub(super) fn list(
    worktree: Option<&Worktree<'_>>,
    old: &OldIndex,
    rules: Option<&Rules<'_>>,
    options: &Options,
    selection: &mut Selection<'_>,
    listed: &mut Listed,
) -> Result<()> {
    let lists_entries = options.lists_entries();
    let compares = options.deleted || options.modified;
    if !lists_entries && !compares {
        return Ok(());
    }
    let index = &old.index;
    let mut excluded = match (worktree, rules) {
        (Some(worktree), Some(rules)) => Some(ExcludedEntries::new(worktree, index, rules)?),
        _ => None,
    };
    let states = match worktree.filter(|_| compares) {
        Some(worktree) => states(worktree, old, options, selection, listed)?,
        None => Vec::new(),
    };
    let mut last_shown = None;
    for (row, entry) in index.entries().iter().enumerate() {
        let path = index.path(entry);
        if excluded.as_mut().is_some_and(|it| !it.has(path)) {
            continue;
        }
        if options.deduplicate && last_shown == Some(path) {
            continue;
        }
        let state = states.get(row).filter(|_| !entry.flags.skip_worktree);
        let is_gone = match state {
            Some(State::Blocked) if options.deleted => !is_beyond_link(worktree, path)?,
            state => state.is_some_and(|state| is_gone(*state)),
        };
        let is_shown = lists_entries && (!options.unmerged || entry.flags.stage != Stage::Merged);
        let reasons = [
            (is_shown, Reason::Cached),
            (options.deleted && is_gone, Reason::Deleted),
            (
                options.modified && state.is_some_and(|it| *it != State::Clean),
                Reason::Modified,
            ),
        ];
        for (applies, reason) in reasons {
            if applies && selection.fits(path, mode_for_pathspec(entry)) {
                listed.rows.push(Row::Entry(row as u32, reason));
            }
            if applies && options.deduplicate {
                last_shown = Some(path);
                break;
            }
        }
    }
    if let Some(mut warnings) = rules.as_ref().and_then(|rules| rules.warnings.lock().ok()) {
        listed
            .warnings
            .extend(warnings.drain(..).map(|warning| warning.text));
    }
    Ok(())
}

/// Submodules and directories of a sparse index may be named as directories.
fn mode_for_pathspec(entry: &Entry) -> Mode {
    match entry.mode {
        Mode::SparseDirectory => Mode::Gitlink,
        mode => mode,
    }
}

fn is_gone(state: State) -> bool {
    matches!(state, State::Absent | State::Blocked | State::Unknown)
}

/// Whether a link above leads to where something is: git looks through it.
fn is_beyond_link(worktree: Option<&Worktree<'_>>, path: &BStr) -> Result<bool> {
    let Some(worktree) = worktree else {
        return Ok(false);
    };
    let top = worktree.repository.require_work_tree()?;
    Ok(hedgerow_fs::lstat(&top.join(OsStr::from_bytes(path)))?.is_some())
}

/// The state of every entry that may be listed, each [`State::Clean`] or different.
fn states(
    worktree: &Worktree<'_>,
    old: &OldIndex,
    options: &Options,
    selection: &Selection<'_>,
    listed: &mut Listed,
) -> Result<Vec<State>> {
    let index = &old.index;
    let entries = index.entries();
    let specs = selection.pathspecs.as_deref();
    let is_meant = |entry: &Entry| {
        let fits = |specs: &Pathspecs| specs.fits(index.path(entry), mode_for_pathspec(entry));
        !entry.flags.skip_worktree && specs.is_none_or(fits)
    };
    let asked: Vec<bool> = entries.iter().map(is_meant).collect();
    let is_asked = |row: usize| asked[row];
    let mut rules = worktree.rules(old);
    rules.stat.nanoseconds = false;
    let Found {
        mut states,
        unknown,
    } = states_of(worktree, index, &rules, is_asked)?;
    let unknown = unknown.iter().map(|(row, error)| {
        let path = index.path(&entries[*row]);
        format!("cannot lstat '{path}': {}", error.reason())
    });
    listed.failures.extend(unknown);
    for (row, state) in states.iter_mut().enumerate() {
        if !is_asked(row) || entries[row].flags.assume_valid && !is_gone(*state) {
            *state = State::Clean;
        } else if entries[row].flags.intent_to_add && !is_gone(*state) {
            *state = State::Modified;
        }
    }
    if options.modified {
        if index.is_unmerged() {
            judge_stages(worktree, index, &rules, &is_asked, &mut states)?;
        }
        let settled = worktree.settle(&mut states, index, None)?;
        worktree.end_filters();
        let warnings = settled.warnings.into_values().flatten();
        listed.warnings.extend(warnings);
        let unanswered = settled.unanswered.iter().map(ToString::to_string);
        listed.failures.extend(unanswered);
        let repository = worktree.repository;
        for (state, entry) in states.iter_mut().zip(entries) {
            let is_there = entry.mode == Mode::Gitlink && *state == State::Clean;
            if is_there && !entry.flags.assume_valid && is_moved(repository, index, entry) {
                *state = State::Modified;
            }
        }
    }
    Ok(states)
}

/// Each stage of a path in conflict is compared with the file for itself.
fn judge_stages(
    worktree: &Worktree<'_>,
    index: &Index,
    rules: &StateRules,
    is_asked: &dyn Fn(usize) -> bool,
    states: &mut [State],
) -> Result<()> {
    for (row, (judged, entry)) in states.iter_mut().zip(index.entries()).enumerate() {
        if entry.flags.stage == Stage::Merged || !judged.is_file() || !is_asked(row) {
            continue;
        }
        let (parent, name) = split_path(index.path(entry));
        let stat = worktree.root.open_dir(parent)?.stat(name)?;
        *judged = state(entry, &stat, rules);
    }
    Ok(())
}

/// Whether the commit that is checked out in a submodule is another than that of its entry. If there
/// is none, it is not.
fn is_moved(repository: &Repository, index: &Index, entry: &Entry) -> bool {
    let Some(top) = repository.work_tree() else {
        return false;
    };
    let directory = top.join(OsStr::from_bytes(index.path(entry)));
    let is_there = repository.other_repositories().has(&directory.join(".git"));
    let opened = is_there.then(|| Repository::open_submodule(&directory, repository.environment()));
    let head = opened.and_then(|opened| opened.ok()?.head().ok()?.id());
    head.is_some_and(|head| head != entry.id)
}
