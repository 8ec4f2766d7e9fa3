//! Differences as git's plumbing lists them: of the index from the working tree, and of both from
//! a tree. Unlike a status, they are not refreshed: a file counts as changed if its stat data are
//! others than those in the index, whatever its content. Only a file that may have changed in the
//! second in which the index was written is read.

use super::model::{ChangeKind, IgnoreSubmodules, UntrackedFiles, Version};
use super::options::Options as StatusOptions;
use super::remarks::Warning;
use super::scan::Scanned;
use super::sparse::{self, Form};
use super::sparse_trees::Compared;
use super::unstaged::{unstaged, UnstagedChange};
use super::{is_link, rules, staged, states, submodules};
use crate::index::{Entry, Index, Mode, Stage};
use crate::repository::Repository;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::state::{files_as_in_image, state, State};
use crate::worktree::survey::{survey, PathState};
use crate::worktree::{OldIndex, Worktree};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// The options of a list of differences.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which submodule changes to ignore; `None` leaves it to the configuration.
    pub ignore_submodules: Option<IgnoreSubmodules>,
    /// Against the working tree: the side of a conflict that its file is compared with; none with
    /// [`Stage::Merged`]. `None`: our side.
    pub side: Option<Stage>,
    /// Against a tree: only the index is compared with it, not the working tree.
    pub cached: bool,
    /// Against a tree: a file that is gone from the working tree counts as its entry in the index.
    pub match_missing: bool,
    /// Against a tree: of a directory that a sparse index has in place of its files, list what differs in
    /// it one level deep, directories as trees. Git does that where it only lists.
    pub lists_trees: bool,
    /// Only paths that match these pathspecs, relative to the user's current directory; all paths
    /// if empty.
    pub pathspecs: Vec<BString>,
    /// How to run.
    pub execution: Execution,
}

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path from the top of the working tree.
    pub path: BString,
    /// The old side, if it has the path.
    pub old: Option<DifferenceSide>,
    /// The new side, if it has the path.
    pub new: Option<DifferenceSide>,
    /// The path is in conflict; then it may be listed a second time, with the differences from one
    /// side.
    pub is_unmerged: bool,
    /// It is in conflict, and both sides have it; only told of the working tree.
    pub has_both_sides: bool,
    /// It is a submodule in which files differ from its commit.
    pub is_dirty: bool,
}

/// A side of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferenceSide {
    /// Its mode.
    pub mode: Mode,
    /// Its object; `None` if it is not known, because the content is in the working tree.
    pub id: Option<ObjectId>,
}

impl Difference {
    /// How the sides differ; `None` for a path in conflict.
    pub fn kind(&self) -> Option<ChangeKind> {
        let mode = |side: Option<DifferenceSide>| side.map(|side| side.mode);
        (!self.is_unmerged).then(|| ChangeKind::between(mode(self.old), mode(self.new)))
    }
}

/// The differences, and what could not be examined.
#[derive(Debug, Default)]
pub struct Differences {
    /// Ascending by path.
    pub list: Vec<Difference>,
    /// Errors of system calls; the paths concerned are missing from the list.
    pub failures: Vec<String>,
    /// What permissions do not allow to examine; these paths are missing, too.
    pub warnings: Vec<String>,
}

/// How the working tree differs from the index: git-diff-files(1).
///
/// # Errors
/// There is no working tree; the index cannot be read; it was cancelled.
pub fn index_differences(repository: &Repository, options: &Options) -> Result<Differences> {
    let worktree = Worktree::open(repository, &options.execution, "diff-files")?;
    let mut old = worktree.read_index()?;
    worktree.include_present(&mut old)?;
    let mut found = Differences::default();
    let index = &old.index;
    let pathspecs = pathspecs(repository, options)?;
    let rows = changed_rows(&worktree, &old, options, pathspecs.as_ref(), &mut found)?;
    for change in &rows {
        let first = &index.entries()[change.row as usize];
        let path = index.path(first);
        if !fits(pathspecs.as_ref(), path, first.mode) {
            continue;
        }
        if first.flags.stage != Stage::Merged {
            let has = |stage| index.find(path, stage).is_ok();
            found.list.push(Difference {
                path: path.to_owned(),
                old: None,
                new: change
                    .worktree
                    .map(|mode| unknown(trusted(repository, mode, first.mode))),
                is_unmerged: true,
                has_both_sides: has(Stage::Ours) && has(Stage::Theirs),
                is_dirty: false,
            });
        }
        if change.kind.is_some() {
            let entry = &index.entries()[change.compared as usize];
            let old =
                (!entry.flags.intent_to_add || change.worktree.is_none()).then(|| known(entry));
            let new = change.worktree.map(|mode| new_side(change, entry, mode));
            found.list.push(Difference {
                path: path.to_owned(),
                old,
                new: new.filter(|_| change.kind != Some(ChangeKind::Deleted)),
                is_unmerged: false,
                has_both_sides: false,
                is_dirty: is_dirty(change),
            });
        }
    }
    Ok(found)
}

/// How the working tree, or the index alone, differs from the tree `tree`: git-diff-index(1). In a partial
/// clone, trees that are missing are fetched.
///
/// # Errors
/// As for [`index_differences`]; an object cannot be read.
pub fn tree_differences(
    repository: &Repository,
    tree: ObjectId,
    options: &Options,
) -> Result<Differences> {
    repository.with_promised(|| differences_from(repository, tree, options))
}

fn differences_from(
    repository: &Repository,
    tree: ObjectId,
    options: &Options,
) -> Result<Differences> {
    if !options.cached {
        repository.require_work_tree()?;
    }
    let worktree = Worktree::open_if_any(repository, &options.execution, "diff-index")?;
    let mut old = worktree.read_index()?;
    let form = sparse::read(&worktree, &mut old)?;
    let index = &old.index;
    let mut found = Differences::default();
    let mut pairs = pairs(repository, index, tree, &worktree)?;
    let pathspecs = pathspecs(repository, options)?;
    if !options.cached {
        let rows = changed_rows(&worktree, &old, options, pathspecs.as_ref(), &mut found)?;
        for change in rows {
            compare_with_file(index, &change, options, &mut pairs);
        }
        // In conflicts, all that differs is in the working tree.
        pairs.retain(|_, pair| !pair.is_unmerged);
    }
    let hides_all = options.ignore_submodules == Some(IgnoreSubmodules::All);
    let is_link = |side: Option<DifferenceSide>| side.is_none_or(|it| it.mode == Mode::Gitlink);
    let mut trees = BTreeMap::new();
    if options.lists_trees && form == Form::Sparse {
        let directories = old.sparse_directories.as_deref().unwrap_or_default();
        let fits = |path: &BStr| fits(pathspecs.as_ref(), path, Mode::SparseDirectory);
        trees = Compared::new(repository, tree).take(&mut pairs, directories, fits)?;
    }
    pairs.retain(|_, pair| {
        let mode = pair.new.or(pair.old).map_or(Mode::File, |side| side.mode);
        let is_same = !pair.is_unmerged && pair.old == pair.new && !pair.new.is_none_or(is_inside);
        !is_same && fits(pathspecs.as_ref(), pair.path.as_bstr(), mode)
    });
    pairs.append(&mut trees);
    let listed = pairs.into_values().filter(|pair| {
        let is_hidden = hides_all && !pair.is_unmerged && is_link(pair.old) && is_link(pair.new);
        !is_hidden
    });
    found.list.extend(listed);
    Ok(found)
}

/// Equal sides are only listed for what differs inside a submodule.
fn is_inside(side: DifferenceSide) -> bool {
    side.mode == Mode::Gitlink
}

/// The differences of the index from a tree, by path.
fn pairs(
    repository: &Repository,
    index: &Index,
    tree: ObjectId,
    worktree: &Worktree<'_>,
) -> Result<BTreeMap<BString, Difference>> {
    let staged = staged(repository, index, Some(tree), &worktree.engine())?;
    let side = |version: Version| DifferenceSide {
        mode: version.mode,
        id: Some(version.id),
    };
    let mut pairs = BTreeMap::new();
    for change in staged.changes {
        let pair = Difference {
            path: change.path.clone(),
            old: change.head.map(side),
            new: change.index.map(side),
            is_unmerged: false,
            has_both_sides: false,
            is_dirty: false,
        };
        pairs.insert(change.path, pair);
    }
    let in_tree: HashMap<BString, Version> = staged.unmerged.into_iter().collect();
    for entry in index.entries() {
        let path = index.path(entry);
        if entry.flags.intent_to_add {
            // Here, other than in a status, it is in the index.
            let pair = pairs.entry(path.to_owned()).or_insert_with(|| Difference {
                path: path.to_owned(),
                old: None,
                new: None,
                is_unmerged: false,
                has_both_sides: false,
                is_dirty: false,
            });
            pair.new = Some(known(entry));
        } else if entry.flags.stage != Stage::Merged && !pairs.contains_key(path) {
            let old = in_tree.get(path).copied().map(side);
            let pair = Difference {
                path: path.to_owned(),
                old,
                new: None,
                is_unmerged: true,
                has_both_sides: false,
                is_dirty: false,
            };
            pairs.insert(path.to_owned(), pair);
        }
    }
    Ok(pairs)
}

/// Puts the state of a file in place of that of its entry.
fn compare_with_file(
    index: &Index,
    change: &UnstagedChange,
    options: &Options,
    pairs: &mut BTreeMap<BString, Difference>,
) {
    let entry = &index.entries()[change.row as usize];
    let path = index.path(entry);
    let known_pair = pairs.remove(path);
    let old = match &known_pair {
        Some(pair) => pair.old,
        None => Some(known(entry)),
    };
    let is_gone = change.worktree.is_none();
    let new = match change.worktree {
        None if options.match_missing => Some(known(entry)),
        None => None,
        Some(mode) => Some(new_side(change, entry, mode)),
    };
    if is_gone && !options.match_missing && old.is_none() {
        return;
    }
    let pair = Difference {
        path: path.to_owned(),
        old,
        new,
        is_unmerged: false,
        has_both_sides: false,
        is_dirty: is_dirty(change),
    };
    pairs.insert(path.to_owned(), pair);
}

fn is_dirty(change: &UnstagedChange) -> bool {
    let state = change.submodule.unwrap_or_default();
    state.modified || state.untracked
}

/// The side of a file that differs from `entry`. If only what is inside a submodule differs, it is
/// still at the same commit.
fn new_side(change: &UnstagedChange, entry: &Entry, mode: Mode) -> DifferenceSide {
    let is_link = mode == Mode::Gitlink && entry.mode == Mode::Gitlink;
    let is_same_commit = match change.submodule {
        Some(state) => !state.new_commits,
        // In a conflict, an empty directory is the commit of the entry that it is compared with.
        None => change.kind.is_none() && change.row == change.compared,
    };
    if is_link && is_same_commit {
        known(entry)
    } else {
        unknown(mode)
    }
}

fn known(entry: &Entry) -> DifferenceSide {
    DifferenceSide {
        mode: entry.mode,
        id: Some(entry.id),
    }
}

/// The mode of a file that is in conflict: where file systems have no modes, that of the `first` version.
fn trusted(repository: &Repository, mode: Mode, first: Mode) -> Mode {
    let is_regular = |mode| matches!(mode, Mode::File | Mode::Executable);
    match is_regular(mode) && !repository.settings().file_mode {
        true if is_regular(first) => first,
        true => Mode::File,
        false => mode,
    }
}

fn unknown(mode: Mode) -> DifferenceSide {
    DifferenceSide { mode, id: None }
}

fn pathspecs(repository: &Repository, options: &Options) -> Result<Option<Pathspecs>> {
    if options.pathspecs.is_empty() {
        Ok(None)
    } else {
        Pathspecs::new(repository, &options.pathspecs).map(Some)
    }
}

fn fits(pathspecs: Option<&Pathspecs>, path: &BStr, mode: Mode) -> bool {
    pathspecs.is_none_or(|pathspecs| pathspecs.fits(path, mode))
}

/// The rows whose files differ from them, judged by stat data.
fn changed_rows(
    worktree: &Worktree<'_>,
    old: &OldIndex,
    options: &Options,
    pathspecs: Option<&Pathspecs>,
    found: &mut Differences,
) -> Result<Vec<UnstagedChange>> {
    let (index, repository) = (&old.index, worktree.repository);
    let entries = index.entries();
    let rules = rules(worktree, old);
    let modes = Mutex::new(Vec::new());
    let fits = |row: usize| fits(pathspecs, index.path(&entries[row]), entries[row].mode);
    // The state of a path in conflict is that of its first stage; any may be the one that is compared.
    let is_meant = |row: &usize| entries[*row].flags.stage != Stage::Merged || fits(*row);
    let meant: Vec<usize> = (0..entries.len()).filter(is_meant).collect();
    let as_in_image = files_as_in_image(worktree, index, meant.len());
    let is_known = |row: &usize| as_in_image.get(*row) == Some(&true);
    let (known, asked): (Vec<_>, Vec<_>) = meant.into_iter().partition(is_known);
    let path = |at: usize| index.path(&entries[asked[at]]).as_ref();
    let judge = |at: usize, seen: PathState<'_>| match seen {
        PathState::Absent => State::Absent as u8,
        PathState::Blocked => State::Blocked as u8,
        PathState::Unknown => State::Unknown as u8,
        PathState::Present(stat) => {
            let row = asked[at];
            let judged = match state(&entries[row], stat, &rules) {
                State::Touched => State::Modified,
                other => other,
            };
            if judged != State::Clean {
                let mut modes = modes.lock().unwrap_or_else(PoisonError::into_inner);
                modes.push((row as u32, stat.mode));
            }
            judged as u8
        }
    };
    let surveyed = survey(&worktree.root, asked.len(), path, judge, &worktree.engine())?;
    let is_told = |at: usize| {
        let flags = entries[asked[at]].flags;
        !flags.assume_valid && !flags.skip_worktree && fits(asked[at])
    };
    let unknown = surveyed.unknown.into_iter();
    let unknown = unknown.filter(|(at, _)| is_told(*at));
    let mut unknown: Vec<_> = unknown
        .map(|(at, error)| {
            let path = index.path(&entries[asked[at]]).to_owned();
            Warning::new(path, error.to_string(), &error.source)
        })
        .collect();
    // The stages of a path in conflict are all asked for.
    unknown.dedup();
    (found.failures, found.warnings) = Warning::parted(unknown);
    let mut judged = vec![State::Unknown; entries.len()];
    known.into_iter().for_each(|row| judged[row] = State::Clean);
    for (row, verdict) in asked.iter().zip(surveyed.verdicts) {
        judged[*row] = State::from_byte(verdict);
    }
    let mut scanned = Scanned {
        states: judged,
        modes: modes.into_inner().unwrap_or_else(PoisonError::into_inner),
        ..Scanned::default()
    };
    scanned.modes.sort_unstable();
    let settled = worktree.settle(&mut scanned.states, index, None)?;
    worktree.end_filters();
    let unanswered = settled.unanswered.iter().map(ToString::to_string);
    found.failures.extend(unanswered);
    let status_options = StatusOptions {
        untracked: UntrackedFiles::No,
        ignore_submodules: options.ignore_submodules,
        execution: options.execution.clone(),
        ..StatusOptions::default()
    };
    let submodules = submodules(worktree, index, &status_options)?;
    let states = states(submodules.as_ref(), index, &scanned)?;
    let is_link = |entry: &Entry| is_link(repository, index, entry);
    let side = options.side.unwrap_or(Stage::Ours);
    let mut rows = unstaged(index, &scanned, &rules, &states, side, is_link);
    if let Some(submodules) = &submodules {
        rows.retain(|change| {
            let entry = &entries[change.compared as usize];
            let is_shown = entry.mode != Mode::Gitlink || !submodules.hides(index.path(entry));
            is_shown || entry.flags.stage != Stage::Merged
        });
    }
    Ok(rows)
}
