//! Carrying out a transition: first everything is checked, then files are removed and written.

use super::contents::{Contents, Results};
use super::examine::smudge_racy;
use super::folded::FoldedFiles;
use super::obstacles::{clear, Inquiry, Obstacle, Untracked};
use super::outcome::{Done, Failure};
use super::recursion::{Around, SubmoduleMoves};
use super::rejects::ancestors;
use super::removal::Removals;
use super::session::{Session, SparseWords};
use super::supplies::{supplies, Supplies};
use super::transition::{Rules, Transition, Write};
use crate::ignore::Ignore;
use crate::index::Index;
use crate::worktree::attribute_files::Direction;
use crate::worktree::compare::Refreshed;
use crate::worktree::state::State;
use crate::worktree::OldIndex;
use crate::{Error, Result};
use bstr::BStr;
use hedgerow_fs::Dir;
use hedgerow_writer::{remove_paths, write_tree};
use std::sync::{Mutex, OnceLock};

/// What was found before a move, and the rules that decided.
pub(super) struct Before<'a> {
    pub old: &'a OldIndex,
    pub states: &'a [State],
    pub refreshed: &'a [Refreshed],
    pub rules: Rules,
    pub untracked: Untracked,
    /// Whether sparse checkout is on.
    pub sparse: bool,
    /// Submodules move to their commits even where the index had the same.
    pub moves_submodules: bool,
    /// Those that differ must be able to move; none does.
    pub only_tries_submodules: bool,
    /// Only check; change nothing.
    pub dry_run: bool,
}

/// Does what a transition plans, unless something is in the way; the result is then `None`, and the
/// transition has the rejects. The index is not written yet.
pub(super) fn carry_out(
    session: &Session<'_>,
    before: &Before<'_>,
    next: &mut Transition,
) -> Result<Option<Done>> {
    match check(session, before, next)? {
        Some(checked) => act(session, before, next, checked).map(Some),
        None => Ok(None),
    }
}

/// What is needed to do what a transition plans.
pub(super) struct Checked {
    submodules: SubmoduleMoves,
    obstacles: Vec<Obstacle>,
    /// `None` if it is only tried.
    supplies: Option<Supplies>,
}

/// Checks whether what a transition plans can be done. If something is in the way, the result is `None`, and
/// the transition has the rejects. Nothing is touched.
pub(super) fn check(
    session: &Session<'_>,
    before: &Before<'_>,
    next: &mut Transition,
) -> Result<Option<Checked>> {
    let old = &before.old.index;
    let around = Around {
        old,
        force: before.rules.overwrite(),
        restores_paths: false,
        only_tries: before.only_tries_submodules,
        moves_kept: &|_| before.moves_submodules,
    };
    let submodules = SubmoduleMoves::plan(session, &around, next)?;
    let ignore = match before.untracked {
        Untracked::KeepIgnored => Ignore::nothing(),
        Untracked::Keep | Untracked::KeepBeside | Untracked::Overwrite => session.ignore()?,
    };
    let inquiry = Inquiry {
        root: &session.root,
        old,
        states: before.states,
        overwrites: before.rules.overwrite(),
        carries: session.keeps_assumed,
        untracked: before.untracked,
        sparse: before.sparse,
        leaving: &submodules.left,
        ignore: &ignore,
        folded: FoldedFiles::new(
            &session.root,
            (old, before.states),
            session.repository.settings().ignore_case,
        ),
        current_directory: session.current_directory(),
        options: &session.engine(),
    };
    let obstacles = inquiry.obstacles(next)?;
    if !next.rejects.is_empty() {
        session.end_filters();
        return Ok(None);
    }
    // As in git, what would be written is not looked at then, and a partial clone need not have it.
    let supplies = if before.dry_run {
        session.end_filters();
        None
    } else {
        let is_removed = |path: &BStr| next.removes(old, path);
        let direction = Direction::CheckOut {
            is_removed: &is_removed,
        };
        Some(supplies(session, next, &direction)?)
    };
    Ok(Some(Checked {
        submodules,
        obstacles,
        supplies,
    }))
}

/// Does what was checked.
pub(super) fn act(
    session: &Session<'_>,
    before: &Before<'_>,
    next: &mut Transition,
    checked: Checked,
) -> Result<Done> {
    let old = &before.old.index;
    let Checked {
        submodules,
        obstacles,
        supplies,
    } = checked;
    let mut done = Done::default();
    let Some(supplies) = supplies else {
        return Ok(done);
    };
    // Removing comes first: it makes room for the files to write.
    submodules.depart(session, &mut done)?;
    clear(&session.root, &obstacles)?;
    match session.sparse_words {
        SparseWords::None => {}
        SparseWords::List => done.warnings.extend(left_despite_sparse(next)),
        SparseWords::Lines => {
            let paths = next.left_despite_sparse.iter();
            let words = "not uptodate; will not remove from working tree.";
            let line = |path| format!("Path '{path}' {words}");
            done.remarks.extend(paths.map(line));
        }
    }
    remove(session, old, next, &mut done)?;
    write(session, next, supplies, &mut done)?;
    submodules.arrive(session, &mut done)?;
    refresh(next, before.refreshed);
    smudge_racy(next, before.old, before.states);
    Ok(done)
}

fn left_despite_sparse(next: &Transition) -> Option<String> {
    let paths = next.left_despite_sparse.iter();
    let list: String = paths.map(|path| format!("\t{path}\n")).collect();
    (!list.is_empty()).then(|| {
        format!(
            "The following paths are not up to date and were left despite sparse \
             patterns:\n{list}\nAfter fixing the above paths, you may want to run `git \
             sparse-checkout reapply`."
        )
    })
}

/// Removes files, and directories that become empty.
pub(crate) fn remove(
    session: &Session<'_>,
    old: &Index,
    next: &Transition,
    done: &mut Done,
) -> Result<()> {
    if next.removals.is_empty() {
        return Ok(());
    }
    let keep = session.current_directory().filter(|place| {
        let taken = |path: &BStr| next.writes_to(path);
        !taken(place) && !ancestors(place).any(taken)
    });
    let removals = Removals::new(old, &next.removals, keep);
    let report = remove_paths(&session.root, &removals, &session.engine()).map_err(stopped)?;
    done.note(&report);
    session.learn(&report);
    let results = removals.into_results();
    done.removed += results.removed;
    done.failures.extend(results.failures);
    done.warnings.extend(results.warnings.into_values());
    Ok(())
}

/// Writes all files, then again, one after the other, those whose place was taken.
///
/// # Errors
/// A required filter that failed: git stops there, too. Files that were not written yet keep their
/// old content.
pub(crate) fn write(
    session: &Session<'_>,
    next: &mut Transition,
    supplies: Supplies,
    done: &mut Done,
) -> Result<()> {
    write_to(session, (&session.root, None), next, supplies, done)
}

/// The same below another directory, and to other places there: an entry for each write.
pub(crate) fn write_to(
    session: &Session<'_>,
    (root, places): (&Dir, Option<&Index>),
    next: &mut Transition,
    supplies: Supplies,
    done: &mut Done,
) -> Result<()> {
    done.warnings.extend(supplies.warnings);
    if next.writes.is_empty() {
        return Ok(());
    }
    let execution = session.execution();
    let progress = execution.progress.stage(hedgerow_engine::Stage::Files);
    progress.expect(next.writes.len() as u64);
    let contents = Contents {
        objects: session.repository.shared_objects(),
        index: &next.index,
        writes: &next.writes,
        places,
        converter: &supplies.converter,
        located: supplies.located,
        bases: supplies.bases,
        big_file_bytes: session.settings().big_file_bytes,
        large: Mutex::default(),
        symlinks: session.settings().symlinks,
        progress,
        lanes: supplies.lanes,
        cancel: execution.cancel.clone(),
        fatal: OnceLock::new(),
        results: Mutex::default(),
    };
    let engine = session.engine_for(next.writes.len());
    let report = write_tree(root, &&contents, &engine).map_err(stopped)?;
    done.note(&report);
    // After a fatal error nothing more is written.
    if contents.fatal.get().is_none() {
        contents.retry_collided(root, done);
    }
    if let Some(error) = contents.fatal.into_inner() {
        return Err(error);
    }
    let results = contents.results.into_inner();
    let results = results.map_err(|_| Error::Internal {
        reason: "a lock was poisoned".into(),
    })?;
    settle_results(next, results, done);
    Ok(())
}

fn settle_results(next: &mut Transition, results: Results, done: &mut Done) {
    done.written += results.written.len() as u64;
    done.bytes += results.bytes;
    done.unwritten += results.failed.len() as u64;
    done.remarks.extend(results.unconverted);
    for (at, reason) in results.failed {
        let entry = &next.index.entries()[next.writes[at as usize].row as usize];
        done.failures.push(Failure {
            path: next.index.path(entry).to_owned(),
            reason,
        });
    }
    done.failures.sort_by(|a, b| a.path.cmp(&b.path));
    let entries = next.index.entries_mut();
    for (at, stat) in results.written {
        let Write { row, .. } = next.writes[at as usize];
        let entry = &mut entries[row as usize];
        entry.stat = stat;
        // The file system monitor vouched for the previous file.
        entry.flags.fsmonitor_valid = false;
    }
}

/// Refreshes the stat data of files that were read and found unchanged.
fn refresh(next: &mut Transition, refreshed: &[Refreshed]) {
    if refreshed.is_empty() {
        return;
    }
    for (row, from) in next.kept_from.iter().enumerate() {
        let Some(from) = from else { continue };
        if let Ok(at) = refreshed.binary_search_by_key(from, |(row, _)| *row) {
            next.index.entries_mut()[row].stat = refreshed[at].1;
        }
    }
}

fn stopped(error: hedgerow_writer::Error) -> Error {
    match error {
        hedgerow_writer::Error::Cancelled => Error::Interrupted,
        hedgerow_writer::Error::Panicked(reason) => Error::Internal { reason },
    }
}
