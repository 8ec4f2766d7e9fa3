//! Files that a side of a merge renamed, and what becomes of the other side's changes of them.

use super::directories::{self, Changes};
use super::entries::{class, exact, EntryMerger, Labels, MergedEntry, Sides};
use super::renames::{self, Renames};
use super::tree::State;
use crate::tree::{Difference, Side};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// A renamed file.
pub(super) struct Moved {
    old_path: BString,
    /// Which sides renamed it.
    by_us: bool,
    by_them: bool,
    /// What the base has at the old path, and each side at its path; a side that deleted the file has
    /// nothing.
    sides: Sides,
}

impl Moved {
    /// The names of the sides with the path that each has the file at; `path` is the new one.
    fn labels(&self, labels: &Labels, path: &BString) -> Labels {
        // Where both renamed it alike, the names of the sides are enough.
        if self.by_us && self.by_them {
            return labels.clone();
        }
        let own = |renamed: bool| if renamed { path } else { &self.old_path };
        labels.at([&self.old_path, own(self.by_us), own(self.by_them)])
    }
}

/// A file that both sides renamed, differently.
pub(super) struct Diverged {
    old_path: BString,
    /// Ours and theirs.
    new_paths: [BString; 2],
    sides: Sides,
}

impl State<'_> {
    /// Lets changes of files that the other side renamed follow them to their new paths.
    pub(super) fn follow_renames(&mut self, changes: &Difference) -> Result<()> {
        let lacks = |side: usize| {
            let mut contested = self.contested.values();
            contested.any(|sides| sides[0].is_some() && sides[side].is_none())
        };
        let both = !self.deleted.is_empty();
        let (by_us, by_them) = (lacks(1) || both, lacks(2) || both);
        let worktree = self.merge.worktree;
        let (repository, engine) = (worktree.repository, worktree.engine());
        let (base, ours) = (Some(self.merge.base), Some(self.merge.our_tree));
        let our_changes = Difference::between(repository, base, ours, worktree.names(), &engine)?;
        let sides = Changes {
            of_ours: &our_changes,
            of_theirs: changes,
            ours: self.merge.ours,
        };
        let find_all =
            |changes: &Difference| renames::find(repository, changes, &|_| true, &engine);
        directories::refuse_renamed(repository, &sides, &find_all)?;
        // Only what the other side changed can follow a rename.
        let find = |changes: &Difference, other: &Difference| {
            let rows = other.changes().iter();
            let changed: BTreeSet<&BStr> = rows.map(|change| other.path(change)).collect();
            renames::find(repository, changes, &|path| changed.contains(path), &engine)
        };
        let of_ours = if by_us {
            find(&our_changes, changes)?
        } else {
            Renames::new()
        };
        let of_theirs = if by_them {
            find(changes, &our_changes)?
        } else {
            Renames::new()
        };
        for (old_path, new_path) in &of_ours {
            let is_added =
                self.edits.contains_key(new_path) || self.contested.contains_key(new_path);
            let ours = self.merge.our_side(new_path.as_bstr());
            match of_theirs.get(old_path) {
                Some(theirs) if theirs == new_path => self.join_renames(old_path, new_path),
                Some(theirs) => self.diverge(old_path, [new_path, theirs]),
                None if is_added => self.collide(old_path, new_path, true),
                None => self.follow(old_path, new_path, ours, true),
            }
        }
        for (old_path, new_path) in &of_theirs {
            let theirs = self.edits.get(new_path).copied().flatten();
            let is_added = self.merge.our_side(new_path.as_bstr()).is_some();
            match (of_ours.contains_key(old_path), is_added) {
                (true, _) => {}
                (false, true) => self.collide(old_path, new_path, false),
                (false, false) => self.follow(old_path, new_path, theirs, false),
            }
        }
        Ok(())
    }

    /// Lets both sides of a path that was renamed by both come from what the base has at the old one.
    fn join_renames(&mut self, old_path: &BString, new_path: &BString) {
        let Some(base) = self.deleted.get(old_path).copied() else {
            return;
        };
        let Some([None, Some(ours), Some(theirs)]) = self.contested.get(new_path).copied() else {
            return;
        };
        if class(&ours) != class(&theirs) {
            return;
        }
        self.contested.remove(new_path);
        let moved = Moved {
            old_path: old_path.clone(),
            by_us: true,
            by_them: true,
            sides: [Some(base), Some(ours), Some(theirs)],
        };
        self.moved.insert(new_path.clone(), moved);
    }

    /// Lets the other side's change of a renamed file follow it.
    fn follow(&mut self, old_path: &BString, new_path: &BString, new: Option<Side>, by_us: bool) {
        if self.is_replaced(old_path, new_path, new, by_us) {
            return;
        }
        if let Some(moved) = self.taken_along(old_path, new, by_us) {
            self.moved.insert(new_path.clone(), moved);
        }
    }

    /// The same where the other side has something else at the new path.
    fn collide(&mut self, old_path: &BString, new_path: &BString, by_us: bool) {
        let Some([None, ours, theirs]) = self.contested.get(new_path).copied() else {
            return;
        };
        let new = if by_us { ours } else { theirs };
        if self.is_replaced(old_path, new_path, new, by_us) {
            return;
        }
        if let Some(moved) = self.taken_along(old_path, new, by_us) {
            self.collisions.push((new_path.clone(), moved));
        }
    }

    /// Whether the other side has something of another type at the old path. That stays there as a file of
    /// its own, and the renamed file is merged at the new path, where the base now has it, too.
    fn is_replaced(
        &mut self,
        old_path: &BString,
        new_path: &BString,
        new: Option<Side>,
        by_us: bool,
    ) -> bool {
        let Some([base, ours, theirs]) = self.contested.get(old_path).copied() else {
            return false;
        };
        let other = if by_us { theirs } else { ours };
        let (Some(new), Some(replacement)) = (new, other) else {
            return false;
        };
        if class(&replacement) == class(&new) {
            return false;
        }
        self.contested.remove(old_path);
        self.edits.insert(old_path.clone(), other);
        let sides = self.contested.entry(new_path.clone()).or_default();
        sides[0] = base;
        sides[if by_us { 1 } else { 2 }] = Some(new);
        true
    }

    /// The renamed file that is `new` at its new path, with the other side's change; nothing is left at
    /// the old one.
    fn taken_along(&mut self, old_path: &BString, new: Option<Side>, by_us: bool) -> Option<Moved> {
        let contested = self.contested.get(old_path).copied();
        let (base, other) = match (contested, self.deleted.get(old_path)) {
            (Some([base, ours, theirs]), _) => (base?, if by_us { theirs } else { ours }),
            (None, Some(base)) => (*base, None),
            (None, None) => return None,
        };
        let new = new?;
        let sides = if by_us {
            [Some(base), Some(new), other]
        } else {
            [Some(base), other, Some(new)]
        };
        self.contested.remove(old_path);
        self.deleted.remove(old_path);
        self.edits.insert(old_path.clone(), None);
        Some(Moved {
            old_path: old_path.clone(),
            by_us,
            by_them: !by_us,
            sides,
        })
    }

    /// Notes that both sides renamed a file, differently: `new_paths` are ours and theirs.
    fn diverge(&mut self, old_path: &BString, new_paths: [&BString; 2]) {
        let Some(base) = self.deleted.remove(old_path) else {
            return;
        };
        let [ours, theirs] = new_paths;
        let contested = self.contested.get(theirs).map(|sides| sides[2]);
        let of_theirs = contested.or_else(|| self.edits.get(theirs).copied());
        let of_theirs = of_theirs.unwrap_or_else(|| self.merge.our_side(theirs.as_bstr()));
        self.diverged.push(Diverged {
            old_path: old_path.clone(),
            new_paths: new_paths.map(BString::clone),
            sides: [Some(base), self.merge.our_side(ours.as_bstr()), of_theirs],
        });
    }

    /// The old paths of files that are merged under these.
    pub(super) fn left_paths(&self) -> impl Iterator<Item = &BString> {
        let collisions = self.collisions.iter().map(|(_, moved)| &moved.old_path);
        collisions.chain(self.diverged.iter().map(|diverged| &diverged.old_path))
    }

    /// Merges what was renamed.
    pub(super) fn merge_renamed(&mut self, merger: &EntryMerger<'_>) -> Result<()> {
        for diverged in std::mem::take(&mut self.diverged) {
            self.merge_diverged(merger, diverged)?;
        }
        let mut collisions = std::mem::take(&mut self.collisions);
        // In the order in which git tells of them.
        collisions.sort_by(|(_, one), (_, other)| one.old_path.cmp(&other.old_path));
        for (path, moved) in collisions {
            self.merge_collision(merger, path, &moved)?;
        }
        for (path, moved) in std::mem::take(&mut self.moved) {
            self.merge_moved(merger, &path, &moved)?;
        }
        Ok(())
    }

    /// Merges a file that both sides renamed differently: both new paths get the result, and are in
    /// conflict.
    fn merge_diverged(&mut self, merger: &EntryMerger<'_>, diverged: Diverged) -> Result<()> {
        let Diverged {
            old_path,
            new_paths: [ours, theirs],
            sides,
        } = diverged;
        let names = self.merge.labels.at([&old_path, &ours, &theirs]);
        let merged = self.merge_alone(merger, &old_path, &sides, &names)?;
        let labels = &self.merge.labels;
        let message = format!(
            "CONFLICT (rename/rename): {old_path} renamed to {ours} in {} and to {theirs} in {}.",
            labels.ours, labels.theirs
        );
        let said = self.messages.entry(old_path.clone()).or_default();
        said.push(exact(&message, old_path.as_bstr()));
        // What cannot be merged stays what it is on each side.
        let is_unmerged = !merged.is_clean && merged.result == sides[1];
        let at_theirs = if is_unmerged { sides[2] } else { merged.result };
        for (path, side, result) in [(ours, 1, merged.result), (theirs, 2, at_theirs)] {
            self.unclean.insert(path.clone());
            let added = self.added.get(&path).copied();
            let contested = self.contested.entry(path).or_insert([None, added, added]);
            contested[side] = result;
        }
        self.edits.insert(old_path.clone(), None);
        self.conflicts.insert(old_path, [sides[0], None, None]);
        Ok(())
    }

    /// Merges a file whose result may still come to lie within conflicts of another merge.
    fn merge_alone(
        &mut self,
        merger: &EntryMerger<'_>,
        path: &BString,
        sides: &Sides,
        labels: &Labels,
    ) -> Result<MergedEntry> {
        let merger = EntryMerger {
            marker_growth: 1,
            ..*merger
        };
        let mut merged = merger.merge_named(path.as_bstr(), sides, labels)?;
        let said = std::mem::take(&mut merged.messages).into_iter();
        let said = said.filter(|line| !line.starts_with(b"CONFLICT "));
        let known = self.messages.entry(path.clone()).or_default();
        known.extend(said);
        Ok(merged)
    }

    /// Merges a renamed file by itself. What comes of it is then an addition that meets the other
    /// side's at the new path.
    fn merge_collision(
        &mut self,
        merger: &EntryMerger<'_>,
        path: BString,
        moved: &Moved,
    ) -> Result<()> {
        if moved.sides.iter().any(Option::is_none) {
            self.tell_of_deletion(&path, moved);
            self.unclean.insert(path);
            return Ok(());
        }
        let old_path = &moved.old_path;
        let labels = moved.labels(&self.merge.labels, &path);
        let merged = self.merge_alone(merger, old_path, &moved.sides, &labels)?;
        if !merged.is_clean {
            let message = format!(
                "CONFLICT (rename involved in collision): rename of {old_path} -> {path} has content \
                 conflicts AND collides with another path; this may result in nested conflict markers."
            );
            let said = self.messages.entry(path.clone()).or_default();
            said.push(exact(&message, path.as_bstr()));
        }
        if let Some(sides) = self.contested.get_mut(&path) {
            sides[if moved.by_us { 1 } else { 2 }] = merged.result;
        }
        Ok(())
    }

    fn merge_moved(
        &mut self,
        merger: &EntryMerger<'_>,
        path: &BString,
        moved: &Moved,
    ) -> Result<()> {
        let [_, ours, theirs] = moved.sides;
        if ours.is_some() && theirs.is_some() {
            let labels = moved.labels(&self.merge.labels, path);
            let merged = merger.merge_named(path.as_bstr(), &moved.sides, &labels)?;
            self.edits.insert(path.clone(), merged.result);
            if !merged.is_clean {
                self.conflicts.insert(path.clone(), moved.sides);
            }
            if !merged.messages.is_empty() {
                self.messages.insert(path.clone(), merged.messages);
            }
            return Ok(());
        }
        self.tell_of_deletion(path, moved);
        let id = |side: Option<Side>| side.map(|side| side.id);
        if id(moved.sides[0]) == id(ours.or(theirs)) {
            self.edits.insert(path.clone(), ours.or(theirs));
            self.conflicts.insert(path.clone(), moved.sides);
            return Ok(());
        }
        self.merge_at(merger, path, &moved.sides)
    }

    /// Says that one side renamed a file to `path` that the other deleted.
    fn tell_of_deletion(&mut self, path: &BString, moved: &Moved) {
        let labels = &self.merge.labels;
        let (renamed, deleted) = if moved.by_us {
            (&labels.ours, &labels.theirs)
        } else {
            (&labels.theirs, &labels.ours)
        };
        let message = format!(
            "CONFLICT (rename/delete): {} renamed to {path} in {renamed}, but deleted in {deleted}.",
            moved.old_path
        );
        let said = self.messages.entry(path.clone()).or_default();
        said.push(exact(&message, path.as_bstr()));
    }
}
