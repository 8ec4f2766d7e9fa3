//! Joins staged changes, unstaged changes and conflicts.

use super::model::{Change, Conflict, Rename, Version};
use super::rename::{Filepair, Side};
use super::unstaged::UnstagedChange;
use crate::index::{Entry, Index, Stage};
use bstr::BString;
use std::collections::{BTreeMap, BTreeSet};

/// The unstaged differences.
#[derive(Default)]
pub(super) struct Unstaged {
    /// The rows that differ or are in conflict, ascending.
    pub rows: Vec<UnstagedChange>,
    /// How they differ, renames included.
    pub pairs: Vec<Filepair>,
}

/// All changes, ascending by path. `staged` are those between HEAD and the index.
pub(super) fn collect(index: &Index, staged: Vec<Filepair>, unstaged: Unstaged) -> Vec<Change> {
    let mut changes: BTreeMap<BString, Change> = BTreeMap::new();
    for pair in staged {
        let (kind, rename) = (pair.kind(), rename(&pair));
        let (head, new) = (pair.old.as_ref().map(known), pair.new.as_ref().map(known));
        let Some(side) = pair.new.or(pair.old) else {
            continue;
        };
        let collected = Change {
            path: side.path.clone(),
            staged: kind,
            head,
            index: new,
            worktree: new.map(|version| version.mode),
            rename,
            ..Change::default()
        };
        changes.insert(side.path, collected);
    }
    let shown: BTreeSet<BString> = unstaged.pairs.iter().filter_map(path).collect();
    for change in unstaged.rows {
        note_row(index, &change, &shown, &mut changes);
    }
    for pair in unstaged.pairs {
        note_pair(pair, &mut changes);
    }
    // A deleted file that was found under another name leaves an empty change.
    changes.retain(|_, change| {
        change.staged.is_some() || change.unstaged.is_some() || change.conflict.is_some()
    });
    // Without an unstaged difference, the working tree has the index's mode.
    for change in changes.values_mut() {
        if change.unstaged.is_none() && change.conflict.is_none() {
            change.worktree = change.index.map(|version| version.mode);
        }
    }
    changes.into_values().collect()
}

/// Adds the index's entry at a row and the file found there. A file that was found again under
/// another name counts as unchanged.
fn note_row(
    index: &Index,
    change: &UnstagedChange,
    shown: &BTreeSet<BString>,
    changes: &mut BTreeMap<BString, Change>,
) {
    let entries = index.entries();
    let entry = &entries[change.row as usize];
    let path = index.path(entry);
    let collected = changes.entry(path.to_owned()).or_insert_with(|| {
        // An intent-to-add entry has no version yet, unless its file is gone.
        let is_nothing = entry.flags.intent_to_add && change.worktree.is_some();
        let version = (!is_nothing).then(|| version(entry));
        Change {
            path: path.to_owned(),
            head: version,
            index: version,
            ..Change::default()
        }
    });
    if entry.flags.intent_to_add && change.worktree.is_none() {
        collected.index = Some(version(entry));
    }
    let is_conflict = entry.flags.stage != Stage::Merged;
    if is_conflict || shown.contains(path) {
        collected.worktree = change.worktree;
        collected.submodule = change.submodule;
    }
    if is_conflict {
        let rows = &entries[change.row as usize..];
        let stages = rows.iter().take_while(|row| index.path(row) == path);
        collected.conflict = Some(conflict(stages));
        // Git knows the index's version only where our side is compared.
        let compared = change.kind.map(|_| &entries[change.compared as usize]);
        (collected.staged, collected.head) = (None, None);
        collected.index = compared.map(version);
    }
}

/// Adds the kind of difference of a path. A deleted file that was found again under another name no
/// longer has a pair of its own.
fn note_pair(pair: Filepair, changes: &mut BTreeMap<BString, Change>) {
    let (kind, rename) = (pair.kind(), rename(&pair));
    let Some(side) = pair.new.as_ref().or(pair.old.as_ref()) else {
        return;
    };
    let Some(change) = changes.get_mut(&side.path) else {
        return;
    };
    if change.conflict.is_some() {
        return;
    }
    change.unstaged = kind;
    if rename.is_some() {
        change.rename = rename;
        change.index = pair.old.as_ref().map(known);
        if change.staged.is_none() {
            change.head = change.index;
        }
    }
}

fn path(pair: &Filepair) -> Option<BString> {
    pair.path().map(Into::into)
}

fn rename(pair: &Filepair) -> Option<Rename> {
    let (origin, old) = (pair.origin.as_ref()?, pair.old.as_ref()?);
    Some(Rename {
        source: old.path.clone(),
        similarity: origin.score.percent(),
    })
}

/// The version of a side whose object id is known.
fn known(side: &Side) -> Version {
    let null = || gix_hash::Kind::Sha1.null();
    Version {
        mode: side.mode,
        id: side.id.unwrap_or_else(null),
    }
}

fn version(entry: &Entry) -> Version {
    Version {
        mode: entry.mode,
        id: entry.id,
    }
}

fn conflict<'e>(stages: impl Iterator<Item = &'e Entry>) -> Conflict {
    let mut conflict = Conflict::default();
    for entry in stages {
        let side = match entry.flags.stage {
            Stage::Base => &mut conflict.base,
            Stage::Ours => &mut conflict.ours,
            Stage::Theirs => &mut conflict.theirs,
            Stage::Merged => continue,
        };
        *side = Some(version(entry));
    }
    conflict
}
