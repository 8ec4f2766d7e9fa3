//! Trees and the index, path by path.

use super::{ReadTreeMode, ReadTreeOptions, ReadTreeOutcome};
use crate::checkout::examine::{concerned, examine, examine_of, Examined};
use crate::checkout::from_known::changes_from;
use crate::checkout::merge::{one_way, three_way, two_way, Action, Current, InTree, ThreeWay};
use crate::checkout::rejects::{all_ancestors, ancestors, Rejects};
use crate::checkout::rows::kept_out;
use crate::checkout::session::Session;
use crate::checkout::transition::{clashes_with, current, Effect, Join, Rules, Start, Transition};
use crate::checkout::update::Way;
use crate::index::{Builder, Entry, EntryStat, Flags, Mode};
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
    pub sparse: Option<&'a SparsePatterns>,
    pub rules: Rules,
    pub effect: Effect,
}

/// What a merge leads to.
pub(super) struct Joined {
    /// The new index, with what has to be done in the working tree.
    pub next: Transition,
    /// No conflict is left.
    pub is_trivial: bool,
    /// What was found of the files, as far as it was looked for.
    pub found: Examined,
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
        Ok(Self::of_new(&tree, prefix))
    }

    /// The files that are listed as those of the new tree.
    fn of_new(tree: &Difference, prefix: &[u8]) -> Listing {
        let file = |change: &crate::tree::Change| {
            let path = [prefix, tree.path(change)].concat();
            Some((path.into(), change.new?))
        };
        let files: BTreeMap<BString, Side> = tree.changes().iter().filter_map(file).collect();
        let directories = all_ancestors(files.keys().map(|path| path.as_ref()));
        let directories = directories.map(BStr::to_owned).collect();
        Listing { files, directories }
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

/// The new index of a merge, with what has to be done in the working tree.
pub(super) fn joined(
    session: &Session<'_>,
    merge: &Merge<'_>,
) -> Result<std::result::Result<Joined, ReadTreeOutcome>> {
    let prefix = prefix(&merge.options.mode, session.names())?;
    let old = &merge.old.index;
    let mut trees = Vec::new();
    let mut differing = None;
    match merge.options.trees.as_slice() {
        [tree] if !merge.options.is_bound() => {
            let (changes, complete) = changes_from(session, old, Some(*tree), None)?;
            trees.push(Listing::of_new(&changes, &prefix));
            differing = (!complete).then_some(changes);
        }
        all => {
            for tree in all {
                trees.push(Listing::of(session, *tree, &prefix)?);
            }
        }
    }
    let listed = trees.iter().flat_map(|tree| tree.files.keys());
    let in_trees: BTreeSet<&BStr> = listed.map(|path| path.as_ref()).collect();
    let indexed = old.iter().map(|(path, _)| path);
    let paths: BTreeSet<&BStr> = in_trees.iter().copied().chain(indexed).collect();
    let top = session.repository.work_tree();
    let is_excluded = |path: &BStr| {
        let excludes = |sparse: &SparsePatterns| sparse.excludes_entry(path, top);
        merge.sparse.is_some_and(excludes)
    };
    let looks_at_all = merge.overwrites_files() || merge.sparse.is_some();
    let mut found = if merge.effect != Effect::IndexOnly && looks_at_all {
        examine(session, Way::Keep, merge.old)?
    } else {
        Examined {
            states: vec![State::Unknown; old.entries().len()],
            ..Examined::default()
        }
    };
    // What the index has besides the trees gives way to what is taken from them.
    let all = Trees {
        listings: &trees,
        differing: differing.as_ref(),
        paths: &in_trees,
    };
    let decisions = decisions(merge, &found.states, &all, &paths);
    if merge.options.is_bound() {
        let overlap = paths
            .iter()
            .find(|path| in_trees.contains(*path) && old.find(path, Default::default()).is_ok());
        if let Some(path) = overlap {
            let path = (*path).to_owned();
            return Ok(Err(ReadTreeOutcome::Overlap(path)));
        }
    }
    if merge.effect != Effect::IndexOnly && !looks_at_all {
        let keeps = ThreeWay::Action(Action::Keep);
        let changed = decisions.iter().filter(|(_, _, it)| *it != keeps);
        let concerned = concerned(session, merge.old, changed.map(|(path, ..)| *path));
        found = examine_of(session, Way::Keep, merge.old, |row| concerned[row])?;
    }
    let changes = Difference::default();
    let start = Start {
        index: old,
        states: &found.states,
        changes: &changes,
        rules: merge.rules,
        is_excluded: &is_excluded,
        is_free: &|path| Ok(!kept_out(&session.root, path)?),
        sparse: merge.sparse.is_some(),
        effect: merge.effect,
    };
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
        let is_same = || row.is_some_and(|row| all.has_entry(path, &old.entries()[row]));
        let is_late = !in_trees.contains(path) && !is_same();
        match decision {
            ThreeWay::Action(action) => join.take(path, *row, *action, is_late)?,
            ThreeWay::Stages(sides) => join.leave_stages(path, *row, *sides)?,
        }
    }
    let next = join.finish();
    Ok(Ok(Joined {
        next,
        is_trivial,
        found,
    }))
}

impl Merge<'_> {
    /// Whether changes of files are overwritten where the index and the tree are the same.
    fn overwrites_files(&self) -> bool {
        self.options.mode == ReadTreeMode::Reset && self.effect == Effect::Both
    }
}

/// The trees that are merged.
struct Trees<'a> {
    listings: &'a [Listing],
    /// If the only tree is listed as far as the index differs from it: those differences.
    differing: Option<&'a Difference>,
    /// All paths of files that are listed.
    paths: &'a BTreeSet<&'a BStr>,
}

type Decision<'a> = (&'a BStr, Option<usize>, ThreeWay);

/// What becomes of each path, with the first of its rows in the index.
fn decisions<'a>(
    merge: &Merge<'_>,
    states: &[State],
    trees: &Trees<'_>,
    paths: &BTreeSet<&'a BStr>,
) -> Vec<Decision<'a>> {
    let old = &merge.old.index;
    let entries = old.entries();
    let mut decisions = Vec::with_capacity(paths.len());
    let mut row = 0;
    for path in paths {
        let first = entries.get(row).filter(|entry| old.path(entry) == *path);
        let first = first.map(|_| row);
        let stages = entries[row..]
            .iter()
            .take_while(|entry| old.path(entry) == *path);
        row += stages.count();
        let now = first.map_or(Current::Absent, |row| current(&entries[row]));
        let is_dirty = first.is_some_and(|row| {
            let skipped = entries[row].flags.skip_worktree;
            !skipped && states[row] != State::Clean
        });
        let is_same = first.is_some_and(|row| trees.has_entry(path, &entries[row]));
        let sides: Vec<InTree> = match now {
            Current::Merged(side) if is_same => vec![InTree::Entry(side)],
            _ => trees.sides(path),
        };
        decisions.push((*path, first, decision(merge, now, &sides, is_dirty)));
    }
    decisions
}

impl Trees<'_> {
    /// Whether the only tree is known to have what the index has.
    fn has_entry(&self, path: &BStr, entry: &Entry) -> bool {
        let is_listed = |all: &Difference| all.find(path).is_some();
        // What is to be added later is in no tree, and does not count as a difference.
        !entry.flags.intent_to_add && self.differing.is_some_and(|all| !is_listed(all))
    }

    fn sides(&self, path: &BStr) -> Vec<InTree> {
        let is_of_tree = |tree: &Listing| tree.directories.contains(path);
        let is_known = self.paths.contains(path) || self.listings.iter().any(is_of_tree);
        let side = |tree: &Listing| {
            if is_known {
                tree.at(path)
            } else {
                InTree::Absent
            }
        };
        self.listings.iter().map(side).collect()
    }
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
