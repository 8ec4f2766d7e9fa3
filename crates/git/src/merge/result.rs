//! The index after a merge.

use super::entries::Sides;
use crate::index::{Builder, EntryStat, Flags, Index, Mode, Stage};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;

/// The stages of the three sides.
pub(crate) const STAGES: [Stage; 3] = [Stage::Base, Stage::Ours, Stage::Theirs];

/// `index` with the sides of paths in conflict in place of their entries.
pub(crate) fn with_conflicts(index: &Index, conflicts: &BTreeMap<BString, Sides>) -> Result<Index> {
    let mut builder = Builder::replacing(index);
    let mut conflicts = conflicts.iter().peekable();
    let push = |builder: &mut Builder, path: &BStr, sides: &Sides| {
        for (side, stage) in sides.iter().zip(STAGES) {
            let Some(side) = side else { continue };
            let flags = Flags {
                stage,
                ..Flags::default()
            };
            let mode = Mode::from(side.kind);
            builder.push(path, side.id, mode, EntryStat::default(), flags)?;
        }
        Ok::<(), crate::Error>(())
    };
    for (path, entry) in index.iter() {
        while let Some((conflict, sides)) = conflicts.next_if(|(it, _)| it.as_bstr() < path) {
            push(&mut builder, conflict.as_bstr(), sides)?;
        }
        match conflicts.next_if(|(it, _)| it.as_bstr() == path) {
            Some((_, sides)) => push(&mut builder, path, sides)?,
            None => builder.push(path, entry.id, entry.mode, entry.stat, entry.flags)?,
        }
    }
    for (conflict, sides) in conflicts {
        push(&mut builder, conflict.as_bstr(), sides)?;
    }
    Ok(builder.finish_replacing(index))
}
