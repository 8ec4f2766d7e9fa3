//! Making the conflicts of unmerged paths again, from the sides in the index: git-checkout(1) and
//! git-restore(1) under `--merge`.

use super::outcome::Done;
use super::session::Session;
use super::transition::{kind, Transition};
use crate::index::{EntryStat, Index, Mode, Stage};
use crate::merge::{Algorithm, ConflictStyle, EntryMerger, Labels, Sides};
use crate::objects::ObjectWriter;
use crate::tree::Side;
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::{Error, Result};
use bstr::BStr;
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// The paths among `paths` that do not have both sides. Where one deleted the file, there is nothing
/// to merge.
pub(super) fn without_both_sides<'p>(
    index: &Index,
    paths: impl Iterator<Item = &'p BStr>,
) -> Vec<&'p BStr> {
    let has = |path: &BStr, stage| index.find(path, stage).is_ok();
    let lacks = |path: &&BStr| !(has(path, Stage::Ours) && has(path, Stage::Theirs));
    paths.filter(lacks).collect()
}

/// Entries that stand for merged content while files are written.
pub(super) struct Recreated {
    /// The row of our side, and what belongs there.
    rows: Vec<(u32, ObjectId, EntryStat)>,
}

impl Recreated {
    /// Merges the sides of all paths whose our side is to be written, and lets the entries of `next`
    /// stand for the results. Nothing but objects is written.
    pub(super) fn stand_in(
        session: &Session<'_>,
        next: &mut Transition,
        style: Option<ConflictStyle>,
        done: &mut Done,
    ) -> Result<Self> {
        let repository = session.repository;
        let rows = next.writes.iter().map(|write| write.row);
        let is_ours = |row: &u32| next.index.entries()[*row as usize].flags.stage == Stage::Ours;
        let rows: Vec<u32> = rows.filter(is_ours).collect();
        if rows.is_empty() {
            return Ok(Recreated { rows: Vec::new() });
        }
        if repository.config().bool("merge.renormalize")? == Some(true) {
            return Err(Error::NotBuilt {
                reason: "merging with merge.renormalize".into(),
            });
        }
        let path = |row: &u32| next.index.path(&next.index.entries()[*row as usize]);
        let directories = directories_above(rows.iter().map(path));
        let direction = Direction::CheckIn {
            listed: None,
            is_gone: &|_| false,
        };
        let read = crate::convert::Attributes::of_merge;
        let (attributes, _) = session.attributes(&next.index, &directories, &direction, read)?;
        let labels = Labels {
            base: "base".into(),
            ours: "ours".into(),
            theirs: "theirs".into(),
        };
        let writer = ObjectWriter::new(repository)?;
        let merger = EntryMerger {
            repository,
            writer: &writer,
            attributes: &attributes,
            labels: &labels,
            style: crate::merge::style(repository, style)?,
            algorithm: Algorithm::Myers,
            runs_programs: true,
            marker_growth: 0,
        };
        let mut merged = Vec::with_capacity(rows.len());
        for row in rows {
            let path = path(&row);
            let file = merger.merge_files(path, sides(&next.index, path)?, &labels)?;
            let warning = file.warning.map(|warning| warning.to_string());
            let warning = warning.map(|text| text.trim_start_matches("warning: ").to_owned());
            done.warnings.extend(warning);
            merged.push((row, writer.write_one(ObjectKind::Blob, &file.content)?));
        }
        done.recreated = merged.len() as u64;
        let mut rows = Vec::with_capacity(merged.len());
        let entries = next.index.entries_mut();
        for (row, id) in merged {
            let entry = &mut entries[row as usize];
            rows.push((row, entry.id, entry.stat));
            entry.id = id;
        }
        Ok(Recreated { rows })
    }

    /// Puts back what belongs into the index.
    pub(super) fn step_aside(self, next: &mut Transition) {
        let entries = next.index.entries_mut();
        for (row, id, stat) in self.rows {
            let entry = &mut entries[row as usize];
            (entry.id, entry.stat) = (id, stat);
        }
    }
}

/// The sides of `path`.
///
/// # Errors
/// One is a submodule, which has no content.
fn sides(index: &Index, path: &BStr) -> Result<Sides> {
    let mut sides = Sides::default();
    for (side, stage) in sides.iter_mut().zip(crate::merge::STAGES) {
        let Ok(row) = index.find(path, stage) else {
            continue;
        };
        let entry = &index.entries()[row];
        if entry.mode == Mode::Gitlink {
            return Err(Error::Setup {
                reason: format!("unable to read blob object {}", entry.id),
            });
        }
        *side = Some(Side {
            kind: kind(entry.mode),
            id: entry.id,
        });
    }
    Ok(sides)
}
