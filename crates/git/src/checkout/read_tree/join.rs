//! Trees and the index, path by path.

use super::{ReadTreeMode, ReadTreeOptions, ReadTreeOutcome};
use crate::checkout::merge::{one_way, three_way, two_way, Action, Current, InTree, ThreeWay};
use crate::checkout::rejects::{all_ancestors, ancestors, Rejects};
use crate::checkout::rows::kept_out;
use crate::checkout::session::Session;
use crate::checkout::transition::{clashes_with, current, Effect, Join, Rules, Start, Transition};
use crate::index::{Builder, EntryStat, Flags, Mode};
use crate::tree::{Difference, Side};
use crate::worktree::sparse::SparsePatterns;
use crate::worktree::state::State;
use crate::worktree::{check_path, version, OldIndex};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_tree::NameRules;
use std::collections::{BTreeMap, BTreeSet};

/// What is merged, and by which rules.
pub(super) struct Merge<'a> {
    pub options: &'a ReadTreeOptions,
    pub old: &'a OldIndex,
    pub states: &'a [State],
    pub sparse: Option<&'a SparsePatterns>,
    pub rules: Rules,
    pub effect: Effect,
}

/// The files of a tree, and its directories.
struct Listing {
    files: BTreeMap<BString, Side>,
    directories: BTreeSet<BString>,
}

impl Listing {
    /// The files of `tree`, below `prefix`.
    fn of(session: &Session<'_>, tree: ObjectId, prefix: &[u8]) -> Result<Listing> {
        let (names, engine) = (session.names(), session.engine());
        let tree = Difference::between(session.repository, None, Some(tree), names, &engine)?;
        let file = |change: &crate::tree::Change| {
            let path = [prefix, tree.path(change)].concat();
            Some((path.into(), change.new?))
        };
        let files: BTreeMap<BString, Side> = tree.changes().iter().filter_map(file).collect();
        let directories = all_ancestors(files.keys().map(|path| path.as_ref()));
        let directories = directories.map(BStr::to_owned).collect();
        Ok(Listing { files, directories })
    }

    fn at(&self, path: &BStr) -> InTree {
        if let Some(side) = self.files.get(path) {
            return InTree::Entry(*side);
        }
        let is_below_file = || ancestors(path).any(|above| self.files.contains_key(above));
        if self.directories.contains(path) || is_below_file() {
            InTree::Conflict
        } else {
            InTree::Absent
        }
    }
}

/// The new index of a merge, with what has to be done in the working tree; and whether no conflict
/// is left.
pub(super) fn joined(
    session: &Session<'_>,
    merge: &Merge<'_>,
) -> Result<std::result::Result<(Transition, bool), ReadTreeOutcome>> {
    let prefix = prefix(&merge.options.mode, session.names())?;
    let mut trees = Vec::new();
    for tree in &merge.options.trees {
        trees.push(Listing::of(session, *tree, &prefix)?);
    }
    let old = &merge.old.index;
    let listed = trees.iter().flat_map(|tree| tree.files.keys());
    let in_trees: BTreeSet<&BStr> = listed.map(|path| path.as_ref()).collect();
    let mut paths = in_trees.clone();
    paths.extend(old.iter().map(|(path, _)| path));
    let top = session.repository.work_tree();
    let is_excluded = |path: &BStr| {
        let excludes = |sparse: &SparsePatterns| sparse.excludes_entry(path, top);
        merge.sparse.is_some_and(excludes)
    };
    let unknown = vec![State::Unknown; old.entries().len()];
    let changes = Difference::default();
    let start = Start {
        index: old,
        states: if merge.states.is_empty() {
            &unknown
        } else {
            merge.states
        },
        changes: &changes,
        rules: merge.rules,
        is_excluded: &is_excluded,
        is_free: &|path| Ok(!kept_out(&session.root, path)?),
        sparse: merge.sparse.is_some(),
        effect: merge.effect,
    };
    // What the index has besides the trees gives way to what is taken from them.
    let decisions = decisions(merge, &start, &trees, &paths, &in_trees);
    if merge.options.is_bound() {
        let overlap = paths
            .iter()
            .find(|path| in_trees.contains(*path) && old.find(path, Default::default()).is_ok());
        if let Some(path) = overlap {
            let path = (*path).to_owned();
            return Ok(Err(ReadTreeOutcome::Overlap(path)));
        }
    }
    let is_open = |(_, _, decision): &Decision<'_>| matches!(decision, ThreeWay::Stages(_));
    let is_trivial = !decisions.iter().any(is_open);
    let added = decisions
        .iter()
        .filter_map(|(path, _, decision)| match decision {
            ThreeWay::Action(Action::Write(side)) => Some((*path, side.kind)),
            _ => None,
        });
    let mut join = Join::new(&start, clashes_with(old, added));
    for (path, row, decision) in &decisions {
        let is_late = !in_trees.contains(path);
        match decision {
            ThreeWay::Action(action) => join.take(path, *row, *action, is_late)?,
            ThreeWay::Stages(sides) => join.leave_stages(path, *row, *sides)?,
        }
    }
    Ok(Ok((join.finish(), is_trivial)))
}

type Decision<'a> = (&'a BStr, Option<usize>, ThreeWay);

/// What becomes of each path, with the first of its rows in the index.
fn decisions<'a>(
    merge: &Merge<'_>,
    start: &Start<'_>,
    trees: &[Listing],
    paths: &BTreeSet<&'a BStr>,
    in_trees: &BTreeSet<&BStr>,
) -> Vec<Decision<'a>> {
    let old = &merge.old.index;
    let mut decisions = Vec::with_capacity(paths.len());
    for path in paths {
        let first = match old.find(path, Default::default()) {
            Ok(row) => Some(row),
            Err(row) => {
                let next = old.entries().get(row);
                next.filter(|entry| old.path(entry) == *path).map(|_| row)
            }
        };
        let now = first.map_or(Current::Absent, |row| current(&old.entries()[row]));
        let is_dirty = first.is_some_and(|row| {
            let skipped = old.entries()[row].flags.skip_worktree;
            !skipped && start.states[row] != State::Clean
        });
        let is_of_tree = |tree: &Listing| tree.directories.contains(*path);
        let is_known = in_trees.contains(path) || trees.iter().any(is_of_tree);
        let sides: Vec<InTree> = trees
            .iter()
            .map(|tree| {
                if is_known {
                    tree.at(path)
                } else {
                    InTree::Absent
                }
            })
            .collect();
        decisions.push((*path, first, decision(merge, now, &sides, is_dirty)));
    }
    decisions
}

fn decision(merge: &Merge<'_>, now: Current, sides: &[InTree], is_dirty: bool) -> ThreeWay {
    let resets = merge.options.mode == ReadTreeMode::Reset;
    if merge.options.is_bound() {
        let new = sides.first().and_then(|side| side.side());
        return ThreeWay::Action(new.map_or(Action::Keep, Action::Write));
    }
    match sides {
        [new] => {
            let rewrites = is_dirty && resets && merge.effect == Effect::Both;
            ThreeWay::Action(one_way(now, new.side(), rewrites))
        }
        [old, new] => {
            let (old, new) = (old.side(), new.side());
            // A reset ends conflicts.
            let ended = new.map_or(Action::Remove, Action::Write);
            ThreeWay::Action(match now {
                Current::Unmerged if resets => ended,
                _ => two_way(now, old, new, merge.old.is_new),
            })
        }
        [ancestors @ .., head, remote] => {
            three_way(now, ancestors, (*head, *remote), merge.options.aggressive)
        }
        [] => ThreeWay::Action(Action::Keep),
    }
}

/// The directory that the tree is read into, with a slash at its end; empty for the top.
///
/// # Errors
/// No directory of that name may be in an index.
fn prefix(mode: &ReadTreeMode, names: NameRules) -> Result<BString> {
    let ReadTreeMode::Prefix(prefix) = mode else {
        return Ok(BString::default());
    };
    if prefix.is_empty() {
        return Ok(BString::default());
    }
    check_path(prefix.as_bstr(), names)?;
    let directory = prefix.strip_suffix(b"/").unwrap_or(prefix);
    Ok([directory, b"/"].concat().into())
}

/// The index of trees that are read one over the other: a file gives way to a directory of any tree.
pub(super) fn overlaid(session: &Session<'_>, options: &ReadTreeOptions) -> Result<Transition> {
    let mut all: BTreeMap<BString, Side> = BTreeMap::new();
    let mut directories = BTreeSet::new();
    for tree in &options.trees {
        let listing = Listing::of(session, *tree, b"")?;
        all.extend(listing.files);
        directories.extend(listing.directories);
    }
    all.retain(|path, _| !directories.contains(path));
    let number = session.settings().index_version.and_then(version);
    let mut builder = Builder::new(session.repository.hash_kind(), number.unwrap_or_default());
    for (path, side) in &all {
        let mode = Mode::from(side.kind);
        let (stat, flags) = (EntryStat::default(), Flags::default());
        builder.push(path.as_ref(), side.id, mode, stat, flags)?;
    }
    Ok(Transition {
        index: builder.finish(),
        writes: Vec::new(),
        removals: Vec::new(),
        must_be_absent: Vec::new(),
        absent_links: Vec::new(),
        became_directories: Vec::new(),
        kept_from: vec![None; all.len()],
        left_despite_sparse: Vec::new(),
        rejects: Rejects::default(),
    })
}
