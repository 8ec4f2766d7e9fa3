//! Merging two trees that come from a common base. Renamed files are in `moves`.

use super::entries::{class, exact, EntryMerger, Labels, Sides};
use super::moves::{Diverged, Moved};
use super::{Algorithm, ConflictStyle};
use crate::convert::Attributes;
use crate::index::{Index, Mode, Stage};
use crate::objects::{write_tree, ObjectWriter, TreeRow};
use crate::tree::{Difference, Side};
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use std::collections::{BTreeMap, BTreeSet};

/// The sides of a merge.
pub(crate) struct TreeMerge<'a> {
    pub worktree: &'a Worktree<'a>,
    pub writer: &'a ObjectWriter<'a>,
    /// Our tree, as an index without conflicts.
    pub ours: &'a Index,
    /// The same as a tree object.
    pub our_tree: ObjectId,
    pub base: ObjectId,
    pub theirs: ObjectId,
    pub labels: Labels,
    /// How conflicts are shown.
    pub style: ConflictStyle,
    /// Programs that merge are run.
    pub runs_programs: bool,
}

/// A merged tree.
#[derive(Debug)]
pub(crate) struct MergedTree {
    /// It has been written. Files in conflict hold both sides.
    pub tree: ObjectId,
    /// Where it differs from our tree.
    pub edits: BTreeMap<BString, Option<Side>>,
    /// The sides of paths in conflict.
    pub conflicts: BTreeMap<BString, Sides>,
    /// What git says of the merge, line by line.
    pub messages: Vec<BString>,
}

impl TreeMerge<'_> {
    /// Merges the trees and writes the result.
    ///
    /// # Errors
    /// What is not built: submodules that both sides changed.
    pub(crate) fn run(&self) -> Result<MergedTree> {
        let repository = self.worktree.repository;
        let engine = self.worktree.engine();
        let changes = Difference::between(
            repository,
            Some(self.base),
            Some(self.theirs),
            self.worktree.names(),
            &engine,
        )?;
        let mut state = State {
            merge: self,
            edits: BTreeMap::new(),
            contested: BTreeMap::new(),
            deleted: BTreeMap::new(),
            added: BTreeMap::new(),
            moved: BTreeMap::new(),
            collisions: Vec::new(),
            diverged: Vec::new(),
            conflicts: BTreeMap::new(),
            unclean: BTreeSet::new(),
            messages: BTreeMap::new(),
        };
        for change in changes.changes() {
            let path = changes.path(change);
            let ours = self.our_side(path);
            if ours == change.new {
                match (change.old, ours) {
                    (Some(old), None) => drop(state.deleted.insert(path.to_owned(), old)),
                    (None, Some(new)) => drop(state.added.insert(path.to_owned(), new)),
                    _ => {}
                }
                continue;
            }
            if ours == change.old {
                state.edits.insert(path.to_owned(), change.new);
            } else {
                let sides = [change.old, ours, change.new];
                state.contested.insert(path.to_owned(), sides);
            }
        }
        state.follow_renames(&changes)?;
        state.resolve(&self.attributes(&state)?)?;
        let State {
            edits,
            conflicts,
            messages,
            ..
        } = state;
        let rows = edited(self.ours, &edits);
        let tree = write_tree(repository, self.writer, rows.into_iter(), &engine)?;
        Ok(MergedTree {
            tree,
            edits,
            conflicts,
            messages: messages.into_values().flatten().collect(),
        })
    }

    pub(super) fn our_side(&self, path: &BStr) -> Option<Side> {
        let row = self.ours.find(path, Stage::Merged).ok()?;
        let entry = &self.ours.entries()[row];
        (!entry.flags.intent_to_add).then_some(Side {
            kind: super::kind(entry.mode),
            id: entry.id,
        })
    }

    /// The attributes of the contested paths.
    fn attributes(&self, state: &State<'_>) -> Result<Attributes> {
        let directories = state.contested.keys().chain(state.moved.keys());
        let directories = directories.chain(state.left_paths());
        let directories = directories_above(directories.map(|path| path.as_bstr()));
        let direction = Direction::CheckIn {
            listed: None,
            is_gone: &|_| false,
        };
        let read = Attributes::of_merge;
        let found = self
            .worktree
            .attributes(self.ours, &directories, &direction, read)?;
        Ok(found.0)
    }
}

/// The rows of our tree with some paths changed.
pub(crate) fn edited<'a>(
    ours: &'a Index,
    edits: &'a BTreeMap<BString, Option<Side>>,
) -> Vec<TreeRow<'a>> {
    let mut rows = Vec::with_capacity(ours.entries().len() + edits.len());
    let mut edits = edits.iter().peekable();
    let push = |rows: &mut Vec<TreeRow<'a>>, path: &'a BString, side: &Option<Side>| {
        rows.extend(side.map(|side| TreeRow {
            path: path.as_bstr(),
            mode: Mode::from(side.kind),
            id: side.id,
        }));
    };
    for (path, entry) in ours.iter().filter(|(_, entry)| !entry.flags.intent_to_add) {
        while let Some((edit, side)) = edits.next_if(|(edit, _)| edit.as_bstr() < path) {
            push(&mut rows, edit, side);
        }
        match edits.next_if(|(edit, _)| edit.as_bstr() == path) {
            Some((edit, side)) => push(&mut rows, edit, side),
            None => rows.push(TreeRow {
                path,
                mode: entry.mode,
                id: entry.id,
            }),
        }
    }
    edits.for_each(|(edit, side)| push(&mut rows, edit, side));
    rows
}

/// A merge on its way.
pub(super) struct State<'a> {
    pub(super) merge: &'a TreeMerge<'a>,
    pub(super) edits: BTreeMap<BString, Option<Side>>,
    /// Paths that both sides changed, differently.
    pub(super) contested: BTreeMap<BString, Sides>,
    /// Paths that both sides deleted, with what the base has there.
    pub(super) deleted: BTreeMap<BString, Side>,
    /// Paths that both sides added alike.
    pub(super) added: BTreeMap<BString, Side>,
    /// Renamed files that the other side changed, by their new paths.
    pub(super) moved: BTreeMap<BString, Moved>,
    /// Renamed files whose new paths, given with them, the other side has taken for something else.
    pub(super) collisions: Vec<(BString, Moved)>,
    pub(super) diverged: Vec<Diverged>,
    pub(super) conflicts: BTreeMap<BString, Sides>,
    /// Paths that are in conflict whatever comes of their contents.
    pub(super) unclean: BTreeSet<BString>,
    pub(super) messages: BTreeMap<BString, Vec<BString>>,
}

impl State<'_> {
    fn resolve(&mut self, attributes: &Attributes) -> Result<()> {
        let repository = self.merge.worktree.repository;
        self.refuse_renormalizing()?;
        let merger = EntryMerger {
            repository,
            writer: self.merge.writer,
            attributes,
            labels: &self.merge.labels,
            style: self.merge.style,
            algorithm: Algorithm::default(),
            runs_programs: self.merge.runs_programs,
            marker_growth: 0,
        };
        self.merge_renamed(&merger)?;
        let contested = std::mem::take(&mut self.contested);
        let mut of_one_side = Vec::new();
        for (path, sides) in contested {
            match sides {
                [_, Some(ours), Some(theirs)] if class(&ours) != class(&theirs) => {
                    self.keep_both(path, &sides, (ours, theirs));
                }
                [_, Some(_), Some(_)] => self.merge_at(&merger, &path, &sides)?,
                // Whether a directory is in the way is known when all others are done.
                _ => {
                    let side = sides[1].or(sides[2]);
                    self.edits.insert(path.clone(), side);
                    of_one_side.push((path, sides));
                }
            }
        }
        let mut sides_by_path: BTreeMap<BString, Sides> = of_one_side.into_iter().collect();
        for (path, is_ours) in self.files_at_directories() {
            let file = self.result(path.as_bstr());
            let mut sides = sides_by_path.remove(&path).unwrap_or_default();
            sides[if is_ours { 1 } else { 2 }] = file;
            self.move_away(&merger, path, sides, is_ours)?;
        }
        for (path, sides) in sides_by_path {
            self.merge_at(&merger, &path, &sides)?;
        }
        // What is as in our tree is no edit.
        let merge = self.merge;
        self.edits
            .retain(|path, side| *side != merge.our_side(path.as_bstr()));
        Ok(())
    }

    fn refuse_renormalizing(&self) -> Result<()> {
        let repository = self.merge.worktree.repository;
        let wanted = repository.config().bool("merge.renormalize")? == Some(true);
        if wanted && !(self.contested.is_empty() && self.moved.is_empty()) {
            return Err(Error::NotBuilt {
                reason: "merging with merge.renormalize".into(),
            });
        }
        Ok(())
    }

    pub(super) fn merge_at(
        &mut self,
        merger: &EntryMerger<'_>,
        path: &BString,
        sides: &Sides,
    ) -> Result<()> {
        let merged = merger.merge(path.as_bstr(), sides)?;
        self.edits.insert(path.clone(), merged.result);
        if !merged.is_clean || self.unclean.contains(path) {
            self.conflicts.insert(path.clone(), *sides);
        }
        if !merged.messages.is_empty() {
            let said = self.messages.entry(path.clone()).or_default();
            said.extend(merged.messages);
        }
        Ok(())
    }

    /// What the merged tree has at `path`, as far as is known.
    fn result(&self, path: &BStr) -> Option<Side> {
        match self.edits.get(path) {
            Some(side) => *side,
            None => self.merge.our_side(path),
        }
    }

    /// Files where the merged tree needs a directory, deepest first, and whether they are ours.
    fn files_at_directories(&self) -> Vec<(BString, bool)> {
        let mut found = BTreeMap::new();
        for (path, side) in &self.edits {
            if side.is_none() {
                continue;
            }
            for at in path.find_iter(b"/") {
                let above = path[..at].as_bstr();
                if self.result(above).is_some() {
                    let is_ours = !self.edits.contains_key(above) || {
                        let side = self.edits.get(above).copied().flatten();
                        side == self.merge.our_side(above)
                    };
                    found.insert(above.to_owned(), is_ours);
                }
            }
            let below = self.merge.ours.range_under(path.as_bstr());
            let stays = |row: usize| {
                let entry = &self.merge.ours.entries()[row];
                let path = self.merge.ours.path(entry);
                self.result(path).is_some()
            };
            if below.into_iter().any(stays) {
                let is_ours = self.merge.our_side(path.as_bstr()) == *side;
                found.insert(path.clone(), is_ours);
            }
        }
        found.into_iter().rev().collect()
    }

    /// Moves a file to a name of its own, since a directory takes its place.
    fn move_away(
        &mut self,
        merger: &EntryMerger<'_>,
        path: BString,
        sides: Sides,
        is_ours: bool,
    ) -> Result<()> {
        let labels = &self.merge.labels;
        let label = if is_ours {
            &labels.ours
        } else {
            &labels.theirs
        };
        let place = self.unique(path.as_bstr(), label.as_bstr());
        let message = format!(
            "CONFLICT (file/directory): directory in the way of {path} from {label}; moving it to \
             {place} instead."
        );
        let message = exact(&message, path.as_bstr());
        let said = self.messages.entry(place.clone()).or_default();
        said.push(message);
        self.edits.insert(path, None);
        if sides[0].is_some() {
            self.merge_at(merger, &place, &sides)?;
        } else {
            self.edits.insert(place.clone(), sides[1].or(sides[2]));
        }
        self.conflicts.insert(place, sides);
        Ok(())
    }

    /// Keeps two things of different types under two names.
    fn keep_both(&mut self, path: BString, sides: &Sides, (ours, theirs): (Side, Side)) {
        let labels = self.merge.labels.clone();
        let is_file = |side: &Side| class(side) == super::entries::Class::File;
        let (moves_ours, moves_theirs) = match (is_file(&ours), is_file(&theirs)) {
            (true, _) => (true, false),
            (false, true) => (false, true),
            (false, false) => (true, true),
        };
        let our_place = if moves_ours {
            self.unique(path.as_bstr(), labels.ours.as_bstr())
        } else {
            path.clone()
        };
        let their_place = if moves_theirs {
            self.unique(path.as_bstr(), labels.theirs.as_bstr())
        } else {
            path.clone()
        };
        let count = if moves_ours && moves_theirs {
            "both"
        } else {
            "one"
        };
        let message = format!(
            "CONFLICT (distinct types): {path} had different types on each side; renamed {count} \
             of them so each can be recorded somewhere."
        );
        let message = exact(&message, path.as_bstr());
        self.messages.entry(path.clone()).or_default().push(message);
        let base_like = |side: &Side| sides[0].filter(|base| class(base) == class(side));
        self.edits.insert(path, None);
        let of_ours = [base_like(&ours), Some(ours), None];
        let of_theirs = [base_like(&theirs), None, Some(theirs)];
        self.edits.insert(our_place.clone(), Some(ours));
        self.edits.insert(their_place.clone(), Some(theirs));
        self.conflicts.insert(our_place, of_ours);
        self.conflicts.insert(their_place, of_theirs);
    }

    /// A name that nothing has: the path and the name of a side.
    fn unique(&self, path: &BStr, label: &BStr) -> BString {
        let label = label.replace("/", "_");
        let start = BString::from([path.as_bytes(), b"~", &label].concat());
        let mut name = start.clone();
        let mut number = 0;
        let is_taken = |name: &BString| {
            let path = name.as_bstr();
            self.edits.contains_key(name)
                || self.merge.our_side(path).is_some()
                || !self.merge.ours.range_under(path).is_empty()
        };
        while is_taken(&name) {
            name = start.clone();
            name.extend_from_slice(format!("_{number}").as_bytes());
            number += 1;
        }
        name
    }
}
